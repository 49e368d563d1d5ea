"""What is known of a name that a text speaks of."""

from __future__ import annotations

from gym_memory.core.records import Triple
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import INVENTORY, PLAYER, direction_of

__all__ = ["is_door", "kind_in"]


def kind_in(graph: TemporalGraph, name: str, room: str) -> str | None:
    """The kind of a thing or place, to judge by the facts about it.

    Args:
        graph: The facts.
        name: The name.
        room: Where the agent is.

    Returns:
        ``room``, ``door``, ``container``, ``supporter``, ``thing`` for what seems to be one that
        can be carried, ``carried`` for what is in a hand, or on or in furniture, "" for a name that
        is known to be none of these, None for one of which nothing is known.
    """
    if name == room:
        return "room"
    if name == PLAYER:
        return None
    about = graph.outgoing(name)
    if any(f.relation == "has exit" or direction_of(f.relation) for f in about):
        return "room"
    if not about:
        held = graph.incoming(name)
        return "room" if any(direction_of(f.relation) for f in held) else None
    if is_door(graph, name):
        return "door"
    kind = _furniture(graph, name)
    place = graph.value(name, "location")
    if kind or place is None:
        return kind
    return "carried" if place.object == INVENTORY or _furniture(graph, place.object) else "thing"


def _furniture(graph: TemporalGraph, name: str) -> str:
    if graph.value(name, "openness") is not None:
        return "container"
    holds = [f.relation for f in graph.incoming(name)]
    return "supporter" if "is on" in holds or Triple(name, "is", "empty") in graph else ""


def is_door(graph: TemporalGraph, name: str) -> bool:
    """Whether it stands in an exit of a room."""
    return any(fact.relation.endswith(" door") for fact in graph.incoming(name))
