"""The graph through time and space: snapshots, forks, files and other processes."""

from __future__ import annotations

import copy
import json
import pickle
import random
import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.core.errors import InvalidArgumentError, StoreError
from gym_memory.core.records import Triple
from gym_memory.graph import GraphSnapshot, TemporalGraph

APPLE_FRIDGE = Triple("apple", "is in", "fridge")
APPLE_TABLE = Triple("apple", "is on", "table")
CLOSED = Triple("fridge", "is", "closed")
OPEN = Triple("fridge", "is", "open")
FEW = (APPLE_FRIDGE, APPLE_TABLE, Triple("apple", "is", "edible"), OPEN, CLOSED)


def a_script(seed: int, length: int = 80) -> Iterator[tuple]:
    """Draw random work on versions by `random`, whose draws are spread more evenly."""
    chance = random.Random(seed)
    for _ in range(length):
        kind = chance.choices(
            ("add", "retire", "snapshot", "restore", "switch", "fork", "alias"),
            (30, 12, 10, 10, 5, 2, 0.3),
        )[0]
        yield kind, chance.choice(FEW), chance.randrange(60)


@pytest.mark.slow
@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_versions_are_independent(seed):
    """Snapshots of any branch can be restored in any fork; nothing leaks between graphs."""
    graphs = [TemporalGraph()]
    looks = [look(graphs[0])]  # what each graph must look like
    taken: list[tuple[GraphSnapshot, list]] = []
    current = 0
    for kind, triple, number in a_script(seed):
        graph = graphs[current]
        if kind == "snapshot":
            taken.append((graph.snapshot(), look(graph)))
        elif kind == "fork" and len(graphs) < 4:
            graphs.append(graph.fork())
            looks.append(looks[current])
        elif kind == "restore" and taken:
            snapshot, looks[current] = taken[number % len(taken)]
            graph.restore(snapshot)
        elif kind == "switch":
            current = number % len(graphs)
        elif kind in ("add", "retire", "alias"):
            if kind == "alias":
                graph.alias("table", triple.object)
            elif kind == "add":
                graph.add(triple, graph.now + number % 2, episode=number % 3 - 1)
            else:
                graph.retire(triple, graph.now + number % 2)
            looks[current] = look(graph)
            fresh = TemporalGraph()
            fresh.load_state(json.loads(json.dumps(graph.state())))
            assert look(fresh) == looks[current]
        assert [look(each) for each in graphs] == looks


def look(graph: TemporalGraph) -> list:
    """Return everything visible of a graph."""
    now = graph.now
    return [
        json.dumps(graph.state()),
        list(graph.live()),
        [graph.as_of(t) for t in range(max(now - 3, 0), now + 1)],
        [(graph.outgoing(name), graph.incoming(name)) for name in ("apple", "fridge", "table")],
        [graph.value(*slot) for slot in (("apple", "location"), ("fridge", "openness"))],
        [(f.triple, *f.intervals, *f.sources, f.retired_by) for f in graph.facts()],
        [(graph.fact(f), f in graph) == (None, False) for f in FEW],
        graph.mentions(),
    ]


@pytest.fixture
def house() -> TemporalGraph:
    graph = TemporalGraph()
    graph.add(Triple("hall", "is east of", "kitchen"), 0, episode=0)
    graph.add(Triple("worm", "is in", "apple"), 1, episode=1, start=4, end=20)
    return graph


def test_state_goes_through_json_and_pickle(house):
    house.add(APPLE_TABLE, 3, episode=3, start=0, end=5)
    house.alias("worm", "maggot")
    text = json.dumps(house.state())
    twin = TemporalGraph()
    twin.load_state(json.loads(text))
    for other in (twin, pickle.loads(pickle.dumps(house)), copy.deepcopy(house)):
        assert json.dumps(other.state()) == text
        assert list(other.live()) == list(house.live())
        other.add(OPEN, 9)
        assert OPEN not in house


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"now": 0, "facts": [["a", "b"]], "events": [], "mentions": [], "aliases": []},
        {"now": 0, "facts": [["a", "b", 3]], "events": [[0, 0, ""]], "mentions": [],
         "aliases": []},
        {"now": 0, "facts": [], "events": [[0, 7, ""]], "mentions": [], "aliases": []},
        {"now": 1, "facts": [["a", "b", "c"]], "events": [[3, 0, ""], [2, 0, "x"]],
         "mentions": [], "aliases": []},
        {"now": 0, "facts": [], "events": [], "mentions": [], "aliases": [["a"]]},
        {"now": 0, "facts": [], "events": [], "mentions": [[0, 1, 2, 3]], "aliases": []},
        {"now": "x", "facts": [], "events": [], "mentions": [], "aliases": []},
    ],
)  # fmt: skip
def test_a_broken_state_is_refused_and_changes_nothing(broken):
    graph = TemporalGraph()
    graph.add(OPEN, 2)
    with pytest.raises(StoreError, match="temporal graph"):
        graph.load_state(broken)
    assert list(graph.live()) == [OPEN]
    assert graph.now == 2


@pytest.mark.slow
def test_a_long_chain_of_snapshots_is_walked_and_freed():
    graph = TemporalGraph()
    first = graph.snapshot()
    for t in range(20_000):
        graph.add(OPEN if t % 2 else CLOSED, t)
        last = graph.snapshot()
    graph.restore(first)
    assert (len(graph), graph.now, list(graph.facts())) == (0, 0, [])
    graph.restore(copy.deepcopy(last))
    assert (list(graph.live()), graph.now) == ([OPEN], 19_999)
    del graph, first, last


def test_a_strange_snapshot_is_refused(house):
    before = house.state()
    strange = TemporalGraph()
    strange.add(OPEN, 0)
    with pytest.raises(InvalidArgumentError, match="another graph"):
        house.restore(strange.snapshot())
    assert house.state() == before


_SCRIPT = """
import json
from gym_memory.graph import TemporalGraph
from gym_memory.core.records import Triple
graph = TemporalGraph()
for t in range(60):
    graph.add(Triple(f"thing {t % 7}", "is in", f"room {t * 5 % 11}"), t, episode=t)
base = graph.snapshot()
graph.retire_matching(relation="is in", t=70)
graph.restore(base)
graph.retire_matching("thing 3", t=61)
print(json.dumps([graph.state(), list(graph.live()), list(graph.entities()),
                  graph.k_hop(["room 5"], 3), graph.diff(10, 50)]))
"""


@pytest.mark.slow
def test_equal_histories_are_byte_identical_in_any_process():
    printed = {
        subprocess.run(
            [sys.executable, "-c", _SCRIPT],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(printed) == 1
