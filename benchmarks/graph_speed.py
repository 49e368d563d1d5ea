"""Measure the temporal graph against networkx, both in one run.

    OMP_NUM_THREADS=1 python benchmarks/graph_speed.py --out benchmarks/measured.json

CPU time in microseconds per operation (minimum of several rounds), at several numbers of live
facts. A *step* has the operations of one environment step: ten facts stated (six known, two that
move a thing, two new), two facts retired, twelve slots read, the facts around four entities listed.
networkx does the same step on a ``MultiDiGraph`` whose edges carry the relation as key and the
intervals as data; a slot is looked up, as it must be there, among the edges of its entity.
"""

from __future__ import annotations

import argparse
import functools
import gc
import itertools
import platform
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import networkx
from keep import write_measured

from gym_memory.core.records import Triple
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import ordered_ways, shortest_path
from gym_memory.graph.schema import slot_of

SIZES = (200, 1_000, 5_000, 100_000)


def world(facts: int) -> list[Triple]:
    """Return that many consistent facts: things with a place and a state, rooms with exits."""
    chance = random.Random(facts)
    rooms = max(facts // 20, 4)
    triples: list[Triple] = []
    for room in range(rooms):
        triples.append(Triple(f"room {(room + 1) % rooms}", "is east of", f"room {room}"))
        triples.append(Triple(f"room {room}", "is west of", f"room {(room + 1) % rooms}"))
    for thing in itertools.count():
        if len(triples) >= facts:
            return triples[:facts]
        triples.append(Triple(f"thing {thing}", "is in", f"room {chance.randrange(rooms)}"))
        triples.append(Triple(f"thing {thing}", "is", chance.choice(("open", "closed"))))
        triples.append(Triple(f"thing {thing}", "is", f"kind {thing % 50}"))
    raise AssertionError


class Plan:
    """Operations of each step, the same for both libraries."""

    def __init__(self, triples: list[Triple], seed: int = 0):
        chance = random.Random(seed)
        self.rooms = sorted({f.object for f in triples if f.relation == "is in"})
        self.things = sorted({f.subject for f in triples if f.relation == "is in"})
        self.known = [f for f in triples if slot_of(f) is None or f.relation.endswith("of")]
        self.chance = chance
        self.fresh = itertools.count()

    def steps(
        self,
    ) -> Iterator[tuple[list[Triple], list[Triple], list[tuple[str, str]], list[str]]]:
        chance = self.chance
        while True:
            known = [chance.choice(self.known) for _ in range(6)]
            moved = [
                Triple(chance.choice(self.things), "is in", chance.choice(self.rooms))
                for _ in range(2)
            ]
            fresh = [
                Triple(f"note {next(self.fresh)}", "mentions", chance.choice(self.things))
                for _ in range(2)
            ]
            slots = [(chance.choice(self.things), "location") for _ in range(12)]
            around = [*(f.subject for f in moved), chance.choice(self.rooms), fresh[0].subject]
            yield known + moved + fresh, fresh, slots, around


class Ours:
    """The step on a TemporalGraph."""

    def __init__(self, triples: list[Triple]):
        self.graph = TemporalGraph()
        for triple in triples:
            self.graph.add(triple, 0, episode=0, start=0, end=9)

    def step(self, t: int, added, retired, slots, around) -> None:
        graph = self.graph
        for triple in added:
            graph.add(triple, t, episode=t, start=0, end=9)
        for entity, slot in slots:
            graph.value(entity, slot)
        for entity in around:
            graph.incident(entity)
        for triple in retired:
            graph.retire(triple, t)


class Networkx:
    """The step on a MultiDiGraph of networkx: live edges, the retired ones in a list."""

    def __init__(self, triples: list[Triple]):
        self.graph = networkx.MultiDiGraph()
        self.retired: list[tuple[Triple, dict]] = []
        for triple in triples:
            self.add(triple, 0)

    def add(self, triple: Triple, t: int) -> None:
        subject, relation, obj = triple
        graph = self.graph
        if not graph.has_edge(subject, obj, relation):
            slot = slot_of(triple)
            if slot is not None:
                old = self.value(*slot)
                if old is not None:
                    self.retire(old, t)
            graph.add_edge(subject, obj, relation, since=t, sources=[])
        graph.edges[subject, obj, relation]["sources"].append((t, 0, 9))

    def retire(self, triple: Triple, t: int) -> None:
        subject, relation, obj = triple
        if self.graph.has_edge(subject, obj, relation):
            data = self.graph.edges[subject, obj, relation]
            self.retired.append((triple, {**data, "to": t}))
            self.graph.remove_edge(subject, obj, relation)

    def value(self, entity: str, slot: str) -> Triple | None:
        for triple in self.incident(entity):
            if slot_of(triple) == (entity, slot):
                return triple
        return None

    def incident(self, entity: str) -> list[Triple]:
        if entity not in self.graph:
            return []
        out = [Triple(s, r, o) for s, o, r in self.graph.out_edges(entity, keys=True)]
        into = [Triple(s, r, o) for s, o, r in self.graph.in_edges(entity, keys=True)]
        return out + into

    def step(self, t: int, added, retired, slots, around) -> None:
        for triple in added:
            self.add(triple, t)
        for entity, slot in slots:
            self.value(entity, slot)
        for entity in around:
            self.incident(entity)
        for triple in retired:
            self.retire(triple, t)

    def k_hop(self, seed: str, k: int) -> list[Triple]:
        frontier, seen, found = [seed], {seed}, dict.fromkeys(())
        for _ in range(k):
            found.update(dict.fromkeys(f for entity in frontier for f in self.incident(entity)))
            reached = dict.fromkeys(
                other for entity in frontier for other in networkx.all_neighbors(self.graph, entity)
            )
            frontier = [entity for entity in reached if entity not in seen]
            seen.update(frontier)
        return list(found)


def cost(call: Callable[[], object], number: int, rounds: int = 5) -> float:
    """Return the least CPU microseconds of a call over several rounds."""
    gc.collect()
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time_ns()
        for _ in range(number):
            call()
        best = min(best, (time.process_time_ns() - started) / number / 1000)
    return best


def stepping(player: Ours | Networkx, triples: list[Triple], steps: int = 300) -> float:
    """Return the CPU microseconds of a step, without those of planning it."""
    plan = list(itertools.islice(Plan(triples).steps(), steps * 4))
    best, t = float("inf"), 0
    gc.collect()
    for round_ in range(4):
        started = time.process_time_ns()
        for work in plan[round_ * steps : (round_ + 1) * steps]:
            t += 1
            player.step(t, *work)
        best = min(best, (time.process_time_ns() - started) / steps / 1000)
    return best


def growth(triples: list[Triple], steps: int = 1000) -> float:
    """Return the bytes that a graph grows by per step, with its whole history."""
    ours = Ours(triples)
    plan = list(itertools.islice(Plan(triples, seed=3).steps(), steps))
    gc.collect()
    tracemalloc.start()
    for t, work in enumerate(plan, start=1):
        ours.step(t, *work)
    gc.collect()
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return grown / steps


def single(triples: list[Triple], steps: int) -> dict[str, float]:
    """Return the microseconds of single operations on a graph with a history of ``steps`` steps."""
    ours = Ours(triples)
    t = 0
    for work in itertools.islice(Plan(triples, seed=1).steps(), steps):
        t += 1
        ours.step(t, *work)
    graph = ours.graph
    plan = Plan(triples, seed=2)
    things = itertools.cycle(plan.things)
    rooms = itertools.cycle(plan.rooms)
    tick = itertools.count(t + 1)
    new = itertools.count()
    live = list(graph.live())
    again = itertools.cycle(live[:: max(len(live) // 997, 1)])
    row: dict[str, float] = {}

    def add(triple: Triple) -> None:
        now = next(tick)
        graph.add(triple, now, episode=now // 10)

    def add_and_retire() -> None:
        triple = Triple(f"new {next(new)}", "is near", next(rooms))
        add(triple)
        graph.retire(triple, next(tick))

    def restore_ten() -> None:
        base = graph.snapshot()
        for _ in range(5):
            graph.add(Triple(next(things), "is in", next(rooms)), next(tick))
        graph.restore(base)

    past = itertools.cycle([t * part // 7 for part in range(1, 7)])
    row["value"] = cost(lambda: graph.value(next(things), "location"), 2000)
    row["incident"] = cost(lambda: graph.incident(next(things)), 2000)
    row["k_hop_2"] = cost(lambda: graph.k_hop([next(things)], 2), 300)
    ways = functools.partial(ordered_ways, graph)
    row["shortest_path_10"] = cost(lambda: shortest_path("room 0", "room 10", ways), 100)
    row["live"] = cost(lambda: list(graph.live()), 20)
    graph.as_of(t - 1)
    row["as_of"] = cost(lambda: graph.as_of(next(past)), 20)
    row["diff_100_steps"] = cost(lambda: graph.diff(t // 2, t // 2 + 100), 50)
    row["snapshot"] = cost(graph.snapshot, 500)
    row["fork"] = cost(graph.fork, 5)
    row["to_state"] = cost(graph.state, 1, rounds=2)
    graph = graph.fork()
    row["restate"] = cost(lambda: add(next(again)), 2000)
    moves = [
        Triple(plan.chance.choice(plan.things), "is in", plan.chance.choice(plan.rooms))
        for _ in range(10_000)
    ]
    moved = iter(moves)
    row["supersede"] = cost(lambda: add(next(moved)), 2000)
    row["add_new_and_retire"] = cost(add_and_retire, 1000)
    row["change_5_and_restore"] = cost(restore_ten, 200)
    return row


def measure(facts: int) -> dict[str, object]:
    triples = world(facts)
    row: dict[str, object] = {"facts": facts}
    ours, theirs = stepping(Ours(triples), triples), stepping(Networkx(triples), triples)
    row["step"] = ours
    row["networkx_step"] = theirs
    row["step_ratio"] = theirs / ours
    plain = Networkx(triples)
    things = itertools.cycle(Plan(triples).things)
    row["networkx_value"] = cost(lambda: plain.value(next(things), "location"), 500)
    row["networkx_incident"] = cost(lambda: plain.incident(next(things)), 500)
    row["networkx_k_hop_2"] = cost(lambda: plain.k_hop(next(things), 2), 50)
    row["networkx_copy"] = cost(plain.graph.copy, 1, rounds=2)
    row.update(single(triples, steps=2000))
    row["bytes_a_step"] = growth(triples)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="write the result as JSON")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="live facts")
    arguments = parser.parse_args()
    rows = [measure(size) for size in arguments.sizes]
    names = [name for name in rows[0] if name != "facts"]
    print(f"{'CPU us at live facts:':24}" + "".join(f"{row['facts']:>12,}" for row in rows))
    for name in names:
        print(f"{name:24}" + "".join(f"{row[name]:12,.2f}" for row in rows))
    if arguments.out:
        record = {
            "command": f"python benchmarks/graph_speed.py --out {arguments.out}",
            "unit": "CPU microseconds, least of several rounds; step_ratio: networkx / ours; "
            "as_of, diff, fork and to_state on a history of 2,000 steps",
            "python": platform.python_version(),
            "networkx": networkx.__version__,
            "rows": [
                {k: v if isinstance(v, int) else round(v, 3) for k, v in row.items()}
                for row in rows
            ],
        }
        write_measured("graph_speed", record, arguments.out)


if __name__ == "__main__":
    main()
