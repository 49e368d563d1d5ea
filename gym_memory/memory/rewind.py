"""What a graph that outlives its episode knows of the same world when it starts over."""

from __future__ import annotations

from gym_memory.memory.graph import TemporalGraph
from gym_memory.memory.schema import LOCATIONS, PLAYER, Slot, slot_of
from gym_memory.types import Triple

__all__ = ["REWIND", "rewind"]

REWIND = "rewind"
"""Who retires facts of an episode that is over."""


def rewind(graph: TemporalGraph, t: int) -> None:
    """Put things back to where and how they were first seen.

    A new trial of one task instance begins in the same world, so the value that a slot was
    first seen with is the one that it has again. States without a slot (``is empty``, ``is
    consumed``) stay only where they were part of the first sight of the thing. Where the agent
    is will be seen. Everything else (the map, what was read) stays. O(changes ever).

    Args:
        graph: The graph.
        t: First step of the new trial, later than all of the graph's.
    """
    sight: dict[str, int] = {}
    initial: dict[Slot, Triple] = {}
    changed: list[Triple] = []
    for began, triple, by, *_ in graph.events:
        first = sight.setdefault(triple.subject, began)
        if by or not (triple.relation == "is" or triple.relation in LOCATIONS):
            continue
        slot = slot_of(triple)
        kept = began == first if slot is None else initial.setdefault(slot, triple) == triple
        if not kept or triple.subject == PLAYER:
            changed.append(triple)
    for triple in changed:
        graph.retire(triple, t, by=REWIND)
    for triple in initial.values():
        if triple.subject != PLAYER:
            graph.add(triple, t)
