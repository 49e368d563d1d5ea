"""A step visits as many facts in a graph of 100,000 facts as in one of 1,000."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gym_memory.core.records import Cue, Triple
from gym_memory.graph import TemporalGraph
from gym_memory.memory.reading import Page
from gym_memory.memory.recall.structural import StructuralIndex, rank


class Visits:
    """Number of facts and names that were read."""

    count = 0


class CountedGraph(TemporalGraph):
    """Counts the facts that it returns."""

    def outgoing(self, entity: str) -> tuple[Triple, ...]:
        found = super().outgoing(entity)
        Visits.count += len(found)
        return found

    def incoming(self, entity: str) -> tuple[Triple, ...]:
        found = super().incoming(entity)
        Visits.count += len(found)
        return found

    def live(self) -> Iterator[Triple]:
        Visits.count += len(self)
        return super().live()


class CountedNames(dict[str, None]):
    """Counts the names that a loop or a set operation reads."""

    def keys(self):
        Visits.count += len(self)
        return super().keys()

    def __iter__(self) -> Iterator[str]:
        for name in super().__iter__():
            Visits.count += 1
            yield name

    def __reversed__(self) -> Iterator[str]:
        for name in super().__reversed__():
            Visits.count += 1
            yield name


def visits_of_a_step(facts: int, here: str) -> int:
    """Count what one step reads: a move, facts of a relation that end, and a recall."""
    graph = CountedGraph()
    rooms = facts // 20
    for room in range(rooms):
        graph.add(Triple(f"room {room}", "has exit", "east"), 0)
        graph.add(Triple(f"room {room + 1}", "is east of", f"room {room}"), 0)
        graph.add(Triple(f"room {room}", "is west of", f"room {room + 1}"), 0)
    for thing in range((facts - 3 * rooms) // 2):
        graph.add(Triple(f"thing {thing}", "is in", f"room {thing % rooms}"), 0)
        graph.add(Triple(f"thing {thing}", "is", "closed"), 0)
    graph.add(Triple("you", "is in", here), 0)
    graph.add(Triple("room 1", "is seen east of", "room 0"), 0)
    index = StructuralIndex(graph)
    rank(index, Cue(""), Page(4000))
    index.subjects = CountedNames(index.subjects)
    index.mapped = CountedNames(index.mapped)
    Visits.count = 0
    graph.add(Triple("thing 0", "is", "open"), 1)
    assert len(graph.retire_matching(relation="is seen east of", t=1)) == 1
    page = Page(4000)
    rank(index, Cue("", focus="open thing 0"), page)
    assert len(page.triples) > 50
    return Visits.count


@pytest.mark.slow
@pytest.mark.parametrize("here", ["room 0", "closet"], ids=["on the map", "off the map"])
def test_step_visits_as_many_facts_in_a_large_graph(here: str) -> None:
    small, large = (visits_of_a_step(facts, here) for facts in (1_000, 100_000))
    assert large <= 1.1 * small
