"""Places: where the agent is, ways out that nobody took, and ways between known places.

Pure functions over the graph. A *way* is a fact ``hall | is east of | kitchen``: going east from
the kitchen leads to the hall. An *exit* is a fact ``kitchen | has exit | east``.
"""

from __future__ import annotations

from gym_memory.core.records import Triple
from gym_memory.graph.schema import PLAYER, direction_of
from gym_memory.graph.temporal import TemporalGraph

__all__ = ["UNEXPLORED", "current_place", "nearest_places", "route", "unexplored_exits"]
__all__ += ["visited_places", "ways_out"]

UNEXPLORED = "has unexplored exit"
"""Relation under which a recall shows an exit that was seen and never taken."""

EXIT = "has exit"


def current_place(graph: TemporalGraph) -> str | None:
    """Where the agent is, None as long as nothing said so."""
    fact = graph.value(PLAYER, "location")
    return fact.object if fact else None


def ways_out(graph: TemporalGraph, place: str) -> dict[str, str]:
    """Known ways from ``place``: direction to the next place; O(facts around it)."""
    ways = {}
    for fact in graph.incoming(place):
        direction = direction_of(fact.relation)
        if direction is not None:
            ways[direction] = fact.subject
    return ways


def unexplored_exits(graph: TemporalGraph, place: str) -> tuple[Triple, ...]:
    """Exits of ``place`` that lead nobody knows where (Algorithm 3), in the order seen.

    The exits among the outgoing facts, without those for which an incoming fact says where they
    lead. They are given as ``place | has unexplored exit | direction``.
    """
    known = ways_out(graph, place)
    return tuple(
        Triple(fact.subject, UNEXPLORED, fact.object)
        for fact in graph.outgoing(place)
        if fact.relation == EXIT and fact.object not in known
    )


def nearest_places(graph: TemporalGraph, place: str) -> tuple[str, ...]:
    """``place`` and all places with a known way to them, nearest first; O(their facts)."""
    found = {place: None}
    queue = [place]
    for current in queue:  # grows while it is read: breadth first
        for step in ways_out(graph, current).values():
            if step not in found:
                found[step] = None
                queue.append(step)
    return tuple(queue)


def visited_places(graph: TemporalGraph) -> tuple[str, ...]:
    """Places that the agent was in and knows a way to, nearest first, its own excluded."""
    here = current_place(graph)
    if here is None:
        return ()
    return tuple(
        place
        for place in nearest_places(graph, here)
        if place != here and graph.fact(Triple(PLAYER, "is in", place)) is not None
    )


def route(graph: TemporalGraph, target: str) -> list[tuple[str, str]] | None:
    """The shortest known way from here: ``[(direction, next place), ...]``; None if none is."""
    here = current_place(graph)
    return None if here is None else graph.shortest_path(here, target)
