"""Places, ways, attributes and links in a list of facts, without building a graph."""

from __future__ import annotations

from collections.abc import Iterable

from gym_memory.core.records import Triple
from gym_memory.graph.schema import (
    INVENTORY,
    LOCATIONS,
    OPPOSITE,
    PLAYER,
    UNEXPLORED,
    VERBATIM,
    direction_of,
)

__all__ = ["ATTRIBUTES", "RecalledFacts"]

ATTRIBUTES = frozenset({"is", "needs to be", "used for"})
"""Relations whose object is a value out of a closed list, the same in every game."""
_EXITS = frozenset({UNEXPLORED, "has exit"})
_MOST_HOLDERS = 8
"""Most holders that are followed, since facts may form a circle."""


class RecalledFacts:
    """An index of recalled facts; if facts exclude each other, the last one counts.

    Attributes:
        here: The agent's place, empty if unknown.
        holders: Holder of each thing: the place or thing that it is in, on or at.
        links: Facts that are neither place, way, exit nor attribute, in their order.
    """

    def __init__(self, triples: Iterable[Triple]):
        self.here = ""
        self.links: list[Triple] = []
        self.holders: dict[str, str] = {}
        self._values: dict[str, dict[str, dict[str, None]]] = {}
        self._ways: dict[str, dict[str, str]] = {}
        self._exits: dict[str, dict[str, None]] = {}
        for triple in triples:
            self._add(*triple)

    def _add(self, subject: str, relation: str, obj: str) -> None:
        direction = direction_of(relation)
        if direction is not None:
            # A recall gives one of the two directions of a way and leaves out the other.
            self._ways.setdefault(obj, {})[direction] = subject
            self._ways.setdefault(subject, {}).setdefault(OPPOSITE[direction], obj)
        elif relation in _EXITS:
            self._exits.setdefault(subject, {})[obj] = None
        elif relation in LOCATIONS:
            if subject == PLAYER:
                self.here = obj
            else:
                self.holders[subject] = obj
        elif relation in ATTRIBUTES:
            self._values.setdefault(subject, {}).setdefault(obj, {})[relation] = None
        elif relation not in VERBATIM:
            self.links.append(Triple(subject, relation, obj))

    @property
    def held(self) -> list[str]:
        """Return the things that the agent carries."""
        return [name for name, holder in self.holders.items() if holder == INVENTORY]

    def room_of(self, name: str) -> str:
        """Return the place that holds an entity, directly or not; empty if unknown."""
        for _ in range(_MOST_HOLDERS):
            if name in self._ways or name in self._exits or name == self.here:
                return name
            if name == INVENTORY:
                return INVENTORY
            if name not in self.holders:
                return ""
            name = self.holders[name]
        return ""

    def values(self, name: str) -> list[tuple[str, str]]:
        """Return the attributes of an entity, each ``(relations, value)``."""
        return [
            ("+".join(sorted(relations)), value)
            for value, relations in self._values.get(name, {}).items()
        ]

    def ways(self, place: str) -> dict[str, str]:
        """Return the known ways out of a place: direction to the next place."""
        return self._ways.get(place, {})

    def unexplored(self, place: str) -> list[str]:
        """Return the exits of a place that no known way takes."""
        return [exit_ for exit_ in self._exits.get(place, ()) if exit_ not in self.ways(place)]
