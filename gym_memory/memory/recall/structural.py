"""The index behind structural recall: what is known of each entity and of each place."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterator
from itertools import count
from typing import Any, NamedTuple

from gym_memory.core.records import Cue, Triple
from gym_memory.graph import TemporalGraph
from gym_memory.graph.facts import Event
from gym_memory.graph.map import current_place, spread
from gym_memory.graph.schema import (
    DIRECTIONS,
    EXIT,
    INVENTORY,
    LOCATIONS,
    OPPOSITE,
    PLAYER,
    QUOTED,
    UNEXPLORED,
    VERBATIM,
    NameIndex,
    direction_of,
    door_relation,
    way_relation,
)
from gym_memory.memory.recall.render import Block, fact_block
from gym_memory.memory.stores.episodes import Follower

__all__ = ["NearbyPlaces", "StructuralIndex"]

_STATE, _LOCATION, _WAY, _EXIT, _DOOR, _KNOWLEDGE = range(6)
_KINDS = {
    "is": _STATE,
    EXIT: _EXIT,
    **dict.fromkeys(LOCATIONS, _LOCATION),
    **{way_relation(direction): _WAY for direction in DIRECTIONS},
    **{door_relation(direction): _DOOR for direction in DIRECTIONS},
}


def _kind_of(relation: str) -> int:
    kind = _KINDS.get(relation)
    if kind is None:
        kind = _KNOWLEDGE if direction_of(relation) is None else _WAY
    return kind


class _Card(NamedTuple):
    """An entity: its own facts (no ways, exits or doors), its text, what is in or on it."""

    own: Block
    quoted: Block
    held: tuple[str, ...]


class _Place(NamedTuple):
    ways: dict[str, Triple]
    unexplored: Block
    exits: Block
    doors: Block


class StructuralIndex:
    """Cards of entities and places, kept up with a graph, which may be restored, not replaced."""

    def __init__(self, graph: TemporalGraph):
        self.graph = graph
        self._follower: Follower[Event] = Follower()
        self._reset()

    def _reset(self) -> None:
        self.answers: dict[Hashable, Any] = {}  # cleared by every change
        self.cards: dict[str, _Card] = {}
        self._places: dict[str, _Place] = {}
        self._views: dict[str, NearbyPlaces] = {}
        self._frontier: set[str] = set()  # places with unexplored exits
        self._unsure: dict[str, None] = {}  # places to add to it, or to remove from it
        self.subjects: dict[str, None] = {}
        self.mapped: dict[str, None] = {}
        self.knowledge: dict[Triple, None] = {}
        self.quoted: dict[str, None] = {}  # things with a text, in the order of reading
        self._names = NameIndex(partial=True)

    def sync(self) -> None:
        """Take in the graph's changes since the last call; start again if it went back."""
        cut, events = self._follower.advance(self.graph.events)
        if cut:
            self._reset()
        for event in events:
            self._take(event[1], ended=bool(event[2]))
        if events:
            self.answers.clear()

    def _take(self, triple: Triple, *, ended: bool) -> None:
        subject, relation, obj = triple
        kind = _kind_of(relation)
        if kind in (_STATE, _LOCATION, _KNOWLEDGE):
            self.cards.pop(subject, None)
            self.subjects.pop(subject, None)
            if not ended or self.graph.outgoing(subject):
                self.subjects[subject] = None
            if kind == _LOCATION:
                self.cards.pop(obj, None)
            elif kind == _KNOWLEDGE:
                if relation in VERBATIM:
                    self.quoted.pop(subject, None)
                    self.quoted[subject] = None
                self.knowledge.pop(triple, None)
                if not ended:
                    self.knowledge[triple] = None
        else:
            place = obj if kind == _WAY else subject
            self._places.pop(place, None)
            self._unsure[place] = None
            self.mapped[place] = None
            self._views.clear()
        if not ended:
            self._names.learn(subject)
            if kind != _EXIT and relation not in VERBATIM:
                self._names.learn(obj)

    def is_quoted(self, fact: Triple) -> bool:
        """True if a fact is a text, or something that the subject's text mentions."""
        return fact[1] in QUOTED and fact[0] in self.quoted

    def card(self, entity: str) -> _Card:
        """Return what is known of an entity."""
        card = self.cards.get(entity)
        if card is None:
            own: list[Triple] = []
            quoted: list[Triple] = []
            held = []
            for fact in self.graph.outgoing(entity):
                if self.is_quoted(fact):
                    quoted.append(fact)
                elif _kind_of(fact[1]) in (_STATE, _LOCATION, _KNOWLEDGE):
                    own.append(fact)
            for fact in self.graph.incoming(entity):
                if fact[1] in LOCATIONS and fact[0] != PLAYER:
                    held.append(fact[0])
            card = self.cards[entity] = _Card(fact_block(own), fact_block(quoted), tuple(held))
        return card

    def place(self, name: str) -> _Place:
        """Return what is known of a place on the map."""
        place = self._places.get(name)
        if place is None:
            ways: dict[str, Triple] = {}
            for fact in self.graph.incoming(name):
                direction = direction_of(fact[1])
                if direction is not None:
                    ways[direction] = fact
            exits, doors = [], []
            for fact in self.graph.outgoing(name):
                kind = _KINDS.get(fact[1])
                if kind == _EXIT:
                    exits.append(fact)
                elif kind == _DOOR:
                    doors.append(fact)
            unexplored = [Triple(name, UNEXPLORED, e[2]) for e in exits if e[2] not in ways]
            place = self._places[name] = _Place(
                ways, fact_block(unexplored), fact_block(exits), fact_block(doors)
            )
        return place

    def view(self, start: str) -> NearbyPlaces:
        """Return the map as seen from a place."""
        view = self._views.get(start)
        if view is None:
            view = self._views[start] = NearbyPlaces(self, start)
        return view

    def unexplored(self, view: NearbyPlaces) -> Iterator[Block]:
        """Yield the unexplored exits of all known places, nearest first (Algorithm 3)."""
        for name in self._unsure:
            self._frontier.discard(name)
            if self.place(name).unexplored.triples:
                self._frontier.add(name)
        self._unsure.clear()
        left = len(self._frontier)
        for name in view:
            if not left:
                return
            if name in self._frontier:
                left -= 1
                yield self.place(name).unexplored

    def entities_in(self, text: str) -> tuple[str, ...]:
        """Return the known entities that ``text`` names; see :meth:`.NameIndex.find`."""
        return self._names.find(text)

    def queries(self, cue: Cue) -> list[str]:
        """Return the entities named by the focus, in view, held, or named by the task."""
        self.sync()
        here = current_place(self.graph)
        found = dict.fromkeys(self.entities_in(cue.focus))
        for holder in (here, INVENTORY):
            if holder is not None:
                inside = [holder]
                for name in inside:  # grows while it is read
                    inside += self.card(name).held
                found.update(dict.fromkeys(inside))
        found.pop(INVENTORY, None)
        found.update(dict.fromkeys(self.entities_in(cue.task)))
        return list(found)

    def known(self) -> Container[str]:
        """Return the names of all entities that any fact was about."""
        self.sync()
        return self._names.all


class NearbyPlaces:
    """Yield the known places around one, nearest first; look only as far as a caller reads."""

    __slots__ = ("_index", "_order", "_places", "_search", "_ways")

    def __init__(self, index: StructuralIndex, start: str):
        self._index = index
        self._places = [start]
        self._order = {start: 0}
        self._search = spread(start, self._leads)
        self._ways: list[Block] = []

    def _leads(self, name: str) -> dict[str, str]:
        return {way: fact.subject for way, fact in self._index.place(name).ways.items()}

    def __iter__(self) -> Iterator[str]:
        """Iterate breadth first over the known ways."""
        for position in count():
            if position == len(self._places):
                found = next(self._search, None)
                if found is None:
                    return
                self._order[found[1].place] = position
                self._places.append(found[1].place)
            yield self._places[position]

    def ways(self) -> Iterator[tuple[str, Block]]:
        """Yield each place with its ways, except those given before in the other direction."""
        for position, name in enumerate(self):
            if position == len(self._ways):
                self._ways.append(self._ways_from(position, name))
            yield name, self._ways[position]

    def _ways_from(self, position: int, name: str) -> Block:
        facts = []
        for direction, fact in self._index.place(name).ways.items():
            other = fact.subject
            if self._order.get(other, position) < position:
                back = self._index.place(other).ways.get(OPPOSITE[direction])
                if back is not None and back.subject == name:
                    continue
            facts.append(fact)
        return fact_block(facts)

    def reached(self, name: str) -> bool:
        """True if an iteration came to a place."""
        return name in self._order
