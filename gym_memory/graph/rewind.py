"""What a graph that outlives its episode knows of the same world when it starts over."""

from __future__ import annotations

from gym_memory.core.records import Triple
from gym_memory.graph.schema import LOCATIONS, PLAYER, Slot, slot_of
from gym_memory.graph.temporal import TemporalGraph

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
    began: dict[Triple, int] = {}
    sight: dict[str, int] = {}
    for step, triple, _, *_ in graph.events:
        began.setdefault(triple, step)
        sight.setdefault(triple.subject, step)
    initial: dict[Slot, Triple] = {}
    changed: list[Triple] = []
    for triple, step in began.items():
        slot = slot_of(triple)
        if triple.subject == PLAYER:
            changed.append(triple)
        elif triple.relation == "is" or triple.relation in LOCATIONS:
            first_seen = step == sight[triple.subject]
            if not (first_seen if slot is None else initial.setdefault(slot, triple) == triple):
                changed.append(triple)
    for triple in changed:
        graph.retire(triple, t, by=REWIND)
    for triple in initial.values():
        graph.add(triple, t)
