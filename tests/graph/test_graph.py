"""The temporal graph against a naive model that keeps a list of operations and replays it."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.core.errors import InvalidArgumentError, MissingDependencyError
from gym_memory.core.records import Triple
from gym_memory.extract import draft as extract
from gym_memory.graph import TemporalGraph
from gym_memory.graph.facts import Timeline
from gym_memory.graph.schema import slot_of

APPLE_FRIDGE = Triple("apple", "is in", "fridge")
APPLE_TABLE = Triple("apple", "is on", "table")
CLOSED = Triple("fridge", "is", "closed")
OPEN = Triple("fridge", "is", "open")

# -- the naive model ---------------------------------------------------------------------------

Op = tuple[int, str, Triple]


def replay(ops: list[Op], until: int | None = None) -> list[Triple]:
    """Return facts true after the operations up to and including step ``until``, oldest first."""
    live: list[Triple] = []
    for t, op, triple in ops:
        if until is not None and t > until:
            break
        if op == "add" and triple not in live:
            slot = slot_of(triple)
            live = [other for other in live if slot is None or slot_of(other) != slot]
            live.append(triple)
        elif op == "retire":
            live = [other for other in live if other != triple]
    return live


def steps_of(ops: list[Op], triple: Triple) -> list[int]:
    """Return the steps at whose end the fact was true, up to the last one learnt."""
    last = ops[-1][0] if ops else 0
    return [t for t in range(last + 1) if triple in replay(ops, t)]


def check(graph: TemporalGraph, ops: list[Op]) -> None:
    """Assert that the graph agrees with the model on present and past."""
    live = replay(ops)
    last = ops[-1][0] if ops else 0
    assert list(graph.live()) == live
    assert len(graph) == len(live)
    for t in range(-1, last + 2):
        assert graph.as_of(t) == replay(ops, t)
    entities = {name for triple in live for name in (triple.subject, triple.object)}
    assert set(graph.entities()) == entities
    for name in ENTITIES:
        assert list(graph.outgoing(name)) == [f for f in live if f.subject == name]
        assert list(graph.incoming(name)) == [f for f in live if f.object == name]
        words = name.split()
        named = {entity for entity in graph.entities() if set(words) <= set(entity.split())}
        assert set(graph.entities_with(words)) == named
    for relation in {triple.relation for triple in TRIPLES}:
        assert list(graph.related(relation)) == [f for f in live if f.relation == relation]
    filled = {slot_of(f): f for f in live if slot_of(f)}
    assert len(filled) == sum(slot_of(f) is not None for f in live)
    for triple in TRIPLES:
        assert (triple in graph) == (triple in live)
        slot = slot_of(triple)
        if slot is not None:
            assert graph.value(*slot) == filled.get(slot)
        fact = graph.fact(triple)
        added = any(op == "add" and other == triple for _, op, other in ops)
        assert (fact is not None) == added
        if fact is None:
            continue
        true = [
            t for since, to in fact.intervals for t in range(since, last + 1 if to is None else to)
        ]
        assert true == steps_of(ops, triple)
        ends = [end for interval in fact.intervals for end in interval if end is not None]
        assert ends == sorted(set(ends)), "intervals are empty, overlap or touch"
        assert all(to is not None for _, to in fact.intervals[:-1])
        assert bool(fact.retired_by) == (triple not in live)
    assert [fact.id for fact in graph.facts()] == list(range(len(list(graph.facts()))))


ENTITIES = ("apple", "fridge", "table", "kitchen", "hall", "red key")
TRIPLES = (
    APPLE_FRIDGE,
    APPLE_TABLE,
    Triple("apple", "is", "diced"),
    Triple("apple", "is", "edible"),
    OPEN,
    CLOSED,
    Triple("hall", "is east of", "kitchen"),
    Triple("fridge", "is east of", "kitchen"),
    Triple("kitchen", "has exit", "north"),
    Triple("red key", "opens", "red key"),
)
a_change = st.tuples(
    st.sampled_from(["add", "add", "retire"]),
    st.sampled_from(TRIPLES),
    st.integers(0, 2),  # steps since the last change
    st.integers(-1, 4),  # episode
)


def apply(graph: TemporalGraph, ops: list[Op], change: tuple[str, Triple, int, int]) -> None:
    op, triple, wait, episode = change
    t = graph.now + wait
    if op == "add":
        fact = graph.add(triple, t, episode=episode)
        assert fact.triple == triple
    else:
        assert graph.retire(triple, t) == (triple in replay(ops))
    ops.append((t, op, triple))


@pytest.mark.slow
@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.lists(a_change, max_size=30))
def test_agrees_with_the_model_at_every_step(changes):
    graph, ops = TemporalGraph(), []
    for change in changes:
        apply(graph, ops, change)
    check(graph, ops)
    last = ops[-1][0] if ops else 0
    for a in range(-1, last + 1, 3):
        for b in range(-1, last + 1, 2):
            added, removed = graph.diff(a, b)
            then, later = replay(ops, a), replay(ops, b)
            assert len(added) == len(set(added))
            assert set(added) == set(later) - set(then)
            assert set(removed) == set(then) - set(later)


# -- time --------------------------------------------------------------------------------------


def test_a_slot_is_superseded_alone():
    graph = TemporalGraph()
    graph.add(APPLE_FRIDGE, 0)
    graph.add(CLOSED, 0)
    graph.add(Triple("apple", "is", "diced"), 1)
    graph.add(APPLE_TABLE, 2)
    assert graph.fact(APPLE_FRIDGE).retired_by == "schema"
    assert graph.fact(APPLE_FRIDGE).intervals == [(0, 2)]
    assert list(graph.live()) == [CLOSED, Triple("apple", "is", "diced"), APPLE_TABLE]
    assert graph.value("the Apple", "location") == APPLE_TABLE
    assert graph.value("apple", "cut") == Triple("apple", "is", "diced")
    assert graph.value("apple", "heat") is None


def test_readding_opens_a_new_interval():
    graph = TemporalGraph()
    graph.add(OPEN, 0)
    graph.retire(OPEN, 3, by="llm")
    assert graph.fact(OPEN).retired_by == "llm"
    fact = graph.add(OPEN, 5)
    assert fact.intervals == [(0, 3), (5, None)]
    assert fact.retired_by == ""
    assert [t for t in range(8) if OPEN in graph.as_of(t)] == [0, 1, 2, 5, 6, 7]


def test_changes_within_one_step():
    graph = TemporalGraph()
    graph.add(OPEN, 2)
    graph.retire(OPEN, 2)
    assert graph.fact(OPEN).intervals == []
    assert graph.as_of(2) == []
    graph.add(OPEN, 4)
    graph.add(CLOSED, 6)
    graph.add(OPEN, 6)  # retired and stated again: its interval goes on
    assert graph.fact(OPEN).intervals == [(4, None)]
    assert graph.fact(CLOSED).intervals == []
    assert graph.fact(CLOSED).retired_by == "schema"
    assert graph.as_of(6) == [OPEN]


def test_the_clock_does_not_go_back():
    graph = TemporalGraph()
    graph.add(OPEN, 5)
    for change in (
        lambda: graph.add(CLOSED, 4),
        lambda: graph.retire(OPEN, 4),
        lambda: graph.retire_matching("fridge", t=4),
        lambda: TemporalGraph().add(OPEN, -1),
    ):
        with pytest.raises(InvalidArgumentError, match="clock"):
            change()
    assert list(graph.live()) == [OPEN]
    assert graph.now == 5


@pytest.mark.slow
def test_checkpoints_change_no_answer():
    """Play long enough for several checkpoints, and query in an order that spaces them unevenly."""

    def play(graph: TemporalGraph, steps: range, rooms: int) -> list[list[Triple]]:
        live = {triple.subject: triple for triple in graph.live()}
        played = []
        for t in steps:
            triple = Triple(f"thing {t * 7 % 400}", "is in", f"room {t * 13 % rooms}")
            if live.get(triple.subject) != triple:
                live.pop(triple.subject, None)
                live[triple.subject] = triple
            graph.add(triple, t)
            played.append(list(live.values()))
        return played

    graph = TemporalGraph()
    expected = play(graph, range(1000), 31)
    base = graph.snapshot()
    expected += play(graph, range(1000, 3000), 31)
    for t in (1500, 10, 2999, 0, 2000, 1499, 700, 2600):
        assert graph.as_of(t) == expected[t]
    timeline = Timeline()
    timeline.events.extend(graph.events)
    assert timeline.as_of(2999) == expected[2999]
    assert 5 < len(timeline.checkpoints) < 20
    assert sum(len(facts) for _, facts in timeline.checkpoints) <= len(graph.events)
    twin = graph.fork()
    graph.restore(base)
    other = expected[:1000] + play(graph, range(1000, 4000), 17)
    for t in (3500, 2999, 1, 1001, 1700, 513):
        assert graph.as_of(t) == other[t]
    for t in (2998, 1001, 1700, 513):
        assert twin.as_of(t) == expected[t]


def test_difference_is_listed_in_the_order_of_the_changes():
    graph = TemporalGraph()
    graph.add(OPEN, 0)
    graph.add(APPLE_FRIDGE, 0)
    for t, triple in enumerate((CLOSED, APPLE_TABLE, OPEN, CLOSED), start=1):
        graph.add(triple, t)
    assert graph.diff(0, 4) == ([APPLE_TABLE, CLOSED], [APPLE_FRIDGE, OPEN])
    assert graph.diff(4, 0) == ([APPLE_FRIDGE, OPEN], [APPLE_TABLE, CLOSED])
    assert graph.diff(2, 4) == ([], [])
    assert graph.diff(-5, 99) == ([APPLE_TABLE, CLOSED], [])


# -- names -------------------------------------------------------------------------------------


def test_names_are_normalised_and_never_guessed():
    graph = TemporalGraph()
    graph.add(Triple("The  Red\tKey", "Is  In", "a Box"), 0)
    graph.add(Triple("blue key", "is in", "box"), 0)
    assert list(graph.live()) == [
        Triple("red key", "is in", "box"),
        Triple("blue key", "is in", "box"),
    ]
    assert Triple("RED KEY", "is in", "the box") in graph
    assert ("red key", "is in", "box") in graph
    assert "red key" not in graph
    assert graph.normalize("the") == "the"
    assert graph.normalize("  Some  Milk ") == "milk"


@pytest.mark.parametrize("triple", [("", "is", "x"), ("x", " ", "y"), ("x", "is", "\t\n")])
def test_empty_parts_are_refused(triple):
    graph = TemporalGraph()
    with pytest.raises(InvalidArgumentError, match="non-empty"):
        graph.add(Triple(*triple), 0)
    assert len(graph) == 0


def test_text_keeps_its_case_and_is_not_an_entity():
    graph = TemporalGraph()
    note = Triple("note", "says", "The key is in Room B.")
    graph.add(note, 0)
    assert note in graph
    assert list(graph.entities()) == ["note"]
    assert graph.neighbours("note") == ()
    assert graph.outgoing("note") == (note,)


def test_alias_joins_facts_of_both_names():
    graph = TemporalGraph()
    graph.add(Triple("adam", "reads", "cookery book"), 0)
    graph.add(Triple("cookbook", "is on", "table"), 0, episode=0)
    graph.add(Triple("cookery book", "is", "closed"), 0)
    graph.add(Triple("cookbook", "is", "open"), 1)
    graph.add(Triple("cookery book", "is in", "kitchen"), 1, episode=1)
    graph.add(Triple("cookery book", "is", "heavy"), 1, episode=1, start=4, end=9)
    graph.alias("Cookery Book", "the cookbook")
    assert list(graph.live()) == [
        Triple("cookbook", "is", "open"),
        Triple("adam", "reads", "cookbook"),
        Triple("cookbook", "is in", "kitchen"),
        Triple("cookbook", "is", "heavy"),
    ]
    assert graph.fact(Triple("cookbook", "is", "heavy")).sources[0] == (1, 4, 9, "")
    assert graph.outgoing("cookery book") == graph.outgoing("cookbook")
    old = [fact for fact in graph.facts() if fact.triple.subject == "cookery book"]
    assert {fact.retired_by for fact in old} == {"alias"}
    graph.add(Triple("cookery book", "is", "closed"), 3)
    assert graph.value("cookbook", "openness") == Triple("cookbook", "is", "closed")
    graph.alias("cookbook", "recipes")  # aliases of an alias follow
    assert graph.normalize("cookery book") == "recipes"
    graph.alias("recipes", "cookery book")  # they are one already
    assert graph.normalize("cookbook") == "recipes"


# -- retirement by pattern -----------------------------------------------------------------------


def test_retire_matching():
    def graph() -> TemporalGraph:
        graph = TemporalGraph()
        for triple in TRIPLES:
            graph.add(triple, 0)
        return graph

    def gone(**pattern) -> list[Triple]:
        return [fact.triple for fact in graph().retire_matching(t=1, **pattern)]

    live = list(graph().live())
    assert gone(subject="The Apple") == [f for f in live if f.subject == "apple"]
    assert gone(object="kitchen") == [f for f in live if f.object == "kitchen"]
    assert gone(relation="is") == [f for f in live if f.relation == "is"]
    assert gone(subject="apple", relation="is", object="diced") == [Triple("apple", "is", "diced")]
    assert gone(subject="apple", object="hall") == []
    assert gone() == live
    one = graph()
    fact = one.retire_matching(relation="has exit", t=4, by="llm")[0]
    assert (fact.intervals, fact.retired_by) == ([(0, 4)], "llm")
    assert fact.triple not in one


def test_retiring_needs_a_reason():
    graph = TemporalGraph()
    graph.add(OPEN, 0)
    with pytest.raises(InvalidArgumentError, match="a reason to retire"):
        graph.retire(OPEN, 1, by="")


# -- provenance ----------------------------------------------------------------------------------


def test_fact_keeps_each_source_once():
    graph = TemporalGraph()
    graph.add(OPEN, 0, episode=0, start=2, end=6)
    graph.add(OPEN, 0, episode=0, start=2, end=6)  # the same evidence again
    graph.add(OPEN, 0, episode=0, start=9, end=12)
    graph.add(OPEN, 4, episode=4)
    graph.add(CLOSED, 5)
    assert graph.fact(OPEN).sources == [(0, 2, 6, ""), (0, 9, 12, ""), (4, -1, -1, "")]
    assert [source.episode for _, source in graph.mentions()] == [0, 0, 4]


# -- search --------------------------------------------------------------------------------------


@pytest.fixture
def house() -> TemporalGraph:
    """Return kitchen -east- hall -north- study, hall -east- yard -north- gate -west- study."""
    graph = TemporalGraph()
    for a, way, back, b in (
        ("kitchen", "east", "west", "hall"),
        ("hall", "east", "west", "yard"),
        ("yard", "north", "south", "gate"),
        ("gate", "west", "east", "study"),
        ("hall", "north", "south", "study"),
    ):
        graph.add(Triple(b, f"is {way} of", a), 0)
        graph.add(Triple(a, f"is {back} of", b), 0)
    graph.add(Triple("apple", "is in", "kitchen"), 0)
    graph.add(Triple("worm", "is in", "apple"), 0)
    graph.add(Triple("snake", "bites", "snake"), 0)
    return graph


def test_neighbours_and_hops(house):
    assert house.neighbours("apple") == ("kitchen", "worm")
    assert house.neighbours("apple", "out") == ("kitchen",)
    assert house.neighbours("apple", "in") == ("worm",)
    assert house.neighbours("snake") == ()
    assert house.incident("snake") == (Triple("snake", "bites", "snake"),)
    assert house.k_hop(["apple"], 0) == []
    first = [Triple("apple", "is in", "kitchen"), Triple("worm", "is in", "apple")]
    assert house.k_hop(["the apple"], 1) == first
    second = house.k_hop(["apple"], 2)
    assert second[:2] == first
    assert set(second[2:]) == set(house.incident("kitchen")) - set(first)
    assert house.k_hop(["worm"], 2, "out") == [first[1], first[0]]
    everything = house.k_hop(["worm", "snake"], 9)
    assert sorted(everything) == sorted(house.live())
    with pytest.raises(InvalidArgumentError, match="direction"):
        house.neighbours("apple", "up")


@settings(derandomize=True, max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=12),
    st.integers(0, 4),
)
def test_hops_match_networkx(pairs, k):
    networkx = pytest.importorskip("networkx")
    graph = TemporalGraph()
    for subject, obj in pairs:
        graph.add(Triple(f"n{subject}", "knows", f"n{obj}"), 0)
    graph.add(Triple("na", "knows", "nb"), 0)
    plain = graph.to_networkx().to_undirected()
    near = networkx.single_source_shortest_path_length(plain, "na", cutoff=k - 1) if k else {}
    expected = {f for f in graph.live() if f.subject in near or f.object in near}
    assert set(graph.k_hop(["na"], k)) == expected


# -- export --------------------------------------------------------------------------------------


def test_networkx_holds_the_live_facts(house):
    networkx = pytest.importorskip("networkx")
    house.add(APPLE_TABLE, 3)
    exported = house.to_networkx()
    assert isinstance(exported, networkx.MultiDiGraph)
    edges = [Triple(s, r, o) for s, o, r in exported.edges(keys=True)]
    assert sorted(edges) == sorted(house.live())
    assert exported.edges["apple", "table", "is on"]["since"] == 3


def test_networkx_is_optional(house, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingDependencyError, match="pip install"):
        house.to_networkx()


def test_growth_is_linear_in_the_changes():
    """A fact that comes and goes is one fact and leaves nothing behind."""
    graph = TemporalGraph()
    for t in range(10_000):
        graph.add(Triple("you", "is in", f"room {t % 40}"), t, episode=t, start=0, end=9)
    assert len(graph) == 1
    assert len(list(graph.facts())) == 40
    assert graph.outgoing("you") == (Triple("you", "is in", "room 39"),)
    assert len(graph.state()["events"]) == 2 * 10_000 - 1
    assert sum(len(fact.intervals) for fact in graph.facts()) == 10_000


@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("blank", ["", " ", "\t\n", "\u2003"])
def test_blank_name_gives_no_fact(part: int, blank: str) -> None:
    graph = TemporalGraph()
    parts = ["apple", "is in", "fridge"]
    parts[part] = blank
    triple = Triple(*parts)
    whole = Triple("key", "is in", "box")
    assert triple not in graph
    found = extract.Extraction((extract.Mention(triple), extract.Mention(whole)))
    assert extract.apply(found, graph, 0) == [whole]
    assert list(graph.live()) == [whole]
    with pytest.raises(InvalidArgumentError, match="non-empty"):
        graph.add(triple, 0)


@given(
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.sampled_from(("is in", "is", "likes"))), max_size=20
    )
)
@settings(max_examples=50, deadline=None)
def test_graph_of_many_facts_equals_facts_added_in_turn(parts):
    triples = [Triple(name, relation, f"box {n % 9}") for n, (name, relation) in enumerate(parts)]
    at_once, in_turn = TemporalGraph.of(triples), TemporalGraph()
    for triple in triples:
        in_turn.add(triple, 0)
    for graph in (at_once, in_turn):
        graph.retire_matching("a", t=1)
        graph.add(Triple("b", "is in", "box 0"), 2)
    assert list(at_once.live()) == list(in_turn.live())
    assert at_once.events == in_turn.events
    for name in ("a", "b", "c", "d", "box 0", "box 1"):
        assert at_once.incident(name) == in_turn.incident(name)
    assert [at_once.related(r) for r in ("is in", "likes")] == [
        in_turn.related(r) for r in ("is in", "likes")
    ]
