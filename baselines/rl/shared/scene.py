"""A scene: what the recalled facts say about entities, with their names taken out.

Names do not carry over from one game to the next, relations do. So an entity is described by its
*atoms*: the relations it takes part in, where it is as seen from the agent, and the values of its
attributes; never by what it is called. ``carrot`` of a recipe that asks for a diced one, lying on
a counter of this room, is ``{<requires, needs to be:diced, @here}``, and so is every other food
in its place.

Attributes of one thing that have the same value are one atom: a potato that *needs to be* roasted
and *is* roasted has ``is+needs to be:roasted``, one that is still raw has ``needs to be:roasted``.

A scene is built from the facts in the observation (``obs["triples"]``) and from nothing else; it
knows the shared vocabulary of :mod:`gym_memory.graph.schema` and no particular game.
"""

from __future__ import annotations

from collections.abc import Iterable

from gym_memory.core.records import Triple
from gym_memory.graph.schema import (
    DIRECTIONS,
    INVENTORY,
    LOCATIONS,
    OPPOSITE,
    PLAYER,
    UNEXPLORED,
    VERBATIM,
    direction_of,
    door_relation,
)

__all__ = ["ATTRIBUTES", "HAND", "Scene"]

ATTRIBUTES = frozenset({"is", "needs to be", "used for"})
"""Relations whose object is a value out of a closed list, the same in every game."""
HAND = "@hand"
_EXITS = frozenset({UNEXPLORED, "has exit"})
_DOORS = {door_relation(direction): direction for direction in DIRECTIONS}
_MAX_DEPTH = 8
"""Things in things that are followed to a room; a guard against facts that go in a circle."""


class Scene:
    """Entities, places and ways of one observation.

    Args:
        triples: The recalled facts.

    Attributes:
        here: The agent's place, empty when unknown.
        links: Facts that are neither place, way, exit nor attribute, in their order.
    """

    def __init__(self, triples: Iterable[Triple]):
        self.here = ""
        self.links: list[Triple] = []
        self._holder: dict[str, str] = {}
        self._values: dict[str, dict[str, list[str]]] = {}
        self._linked: dict[str, list[tuple[str, str]]] = {}
        self._ways: dict[str, dict[str, str]] = {}
        self._exits: dict[str, dict[str, None]] = {}
        self._bare: dict[str, tuple[str, ...]] = {}
        for triple in triples:
            self._take(*triple)
        self._steps = self._first_steps()

    def _take(self, subject: str, relation: str, obj: str) -> None:
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
                self._holder[subject] = obj
        elif relation in ATTRIBUTES:
            values = self._values.setdefault(subject, {})
            relations = values.setdefault(obj, [])
            if relation not in relations:
                relations.append(relation)
        elif relation not in VERBATIM:
            name = "has door" if relation in _DOORS else relation
            self._linked.setdefault(subject, []).append((f"{name}>", obj))
            self._linked.setdefault(obj, []).append((f"<{name}", subject))
            if relation not in _DOORS:
                self.links.append(Triple(subject, relation, obj))

    # ------------------------------------------------------------ entities

    @property
    def held(self) -> list[str]:
        """What the agent carries."""
        return [name for name, holder in self._holder.items() if holder == INVENTORY]

    def room_of(self, name: str) -> str:
        """The place that holds an entity, through whatever it is in or on; empty if unknown."""
        for _ in range(_MAX_DEPTH):
            if name in self._ways or name in self._exits or name == self.here:
                return name
            if name == INVENTORY:
                return INVENTORY
            if name not in self._holder:
                return ""
            name = self._holder[name]
        return ""

    def whereabouts(self, name: str) -> str:
        """``@hand``, ``@here``, ``@away`` or ``@unknown``."""
        room = self.room_of(name)
        if room == INVENTORY:
            return HAND
        if not room:
            return "@unknown"
        return "@here" if room == self.here else "@away"

    def values(self, name: str) -> list[tuple[str, str]]:
        """The attributes of an entity, each ``(relations, value)``."""
        return [
            ("+".join(sorted(relations)), value)
            for value, relations in self._values.get(name, {}).items()
        ]

    def bare_atoms(self, name: str) -> tuple[str, ...]:
        """Atoms of an entity without its attributes, each once, where it is as the last."""
        found = self._bare.get(name)
        if found is None:
            parts = []
            for relation, other in self._linked.get(name, ()):
                parts.append(relation)
                if relation.endswith(">"):
                    parts.append(f"{relation}{self.whereabouts(other)}")
            parts.append(self.whereabouts(name))
            found = self._bare[name] = tuple(dict.fromkeys(parts))
        return found

    def atoms(self, name: str) -> tuple[str, ...]:
        """All atoms of an entity; of one that nobody mentioned only ``@unknown``."""
        own = [f"{relations}:{value}" for relations, value in self.values(name)]
        return (*own, *self.bare_atoms(name))

    # ------------------------------------------------------------ places

    def way(self, direction: str) -> str:
        """Where a direction leads from here; empty if unknown."""
        return self._ways.get(self.here, {}).get(direction, "")

    def unexplored(self, place: str) -> list[str]:
        """Exits of a place that lead nobody knows where."""
        ways = self._ways.get(place, {})
        return [exit_ for exit_ in self._exits.get(place, ()) if exit_ not in ways]

    def _first_steps(self) -> dict[str, tuple[int, tuple[str, ...]]]:
        """Distance of every place that can be reached, and all first steps of shortest ways."""
        found: dict[str, tuple[int, tuple[str, ...]]] = {self.here: (0, ())}
        queue = [self.here]
        for place in queue:  # grows while it is read: breadth first
            distance, steps = found[place]
            for direction, other in self._ways.get(place, {}).items():
                first = steps if distance else (direction,)
                if other not in found:
                    found[other] = (distance + 1, first)
                    queue.append(other)
                elif found[other][0] == distance + 1:
                    merged = dict.fromkeys((*found[other][1], *first))
                    found[other] = (distance + 1, tuple(merged))
        return found

    def signposts(self) -> dict[str, dict[str, None]]:
        """For each direction, all that lies nearest that way.

        For every atom (and name) that something in another place has, the directions that begin
        a shortest way to the nearest such place get it. ``unexplored`` stands for an exit that
        nobody took.

        Returns:
            Direction to atoms, in a fixed order; names are given as ``name:knife``.
        """
        offers: dict[str, list[str]] = {}
        for place in self._steps:
            if place == self.here:
                continue
            offered = [atom for atom in self.atoms(place) if not atom.startswith("@")]
            if self.unexplored(place):
                offered.append("unexplored")
            offers[place] = offered
        for name in self._holder:
            room = self.room_of(name)
            if room in offers:
                offers[room] += [a for a in self.atoms(name) if not a.startswith("@")]
                offers[room].append(f"name:{name}")
        nearest: dict[str, int] = {}
        for place, offered in offers.items():
            distance = self._steps[place][0]
            for atom in offered:
                nearest[atom] = min(distance, nearest.get(atom, distance))
        signs: dict[str, dict[str, None]] = {}
        for place, offered in offers.items():
            distance, steps = self._steps[place]
            for atom in offered:
                if nearest[atom] == distance:
                    for step in steps:
                        signs.setdefault(step, {})[atom] = None
        return signs
