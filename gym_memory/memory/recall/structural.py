"""The index behind structural recall: what is known of each entity and of each place.

It follows the graph's events. What was rendered for an entity is kept until a fact about it
changes, and the order of places around one until the map changes, so a step pays for what it
changed. How the facts are ranked is in :mod:`gym_memory.memory.recall.ranking`.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import NamedTuple

from gym_memory.core.records import Cue, Triple
from gym_memory.graph import TemporalGraph
from gym_memory.graph.facts import Event
from gym_memory.graph.map import current_place
from gym_memory.graph.names import NameIndex
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
    direction_of,
    door_relation,
    way_relation,
)
from gym_memory.memory.recall.following import Follower
from gym_memory.memory.recall.render import Block, Page, fact_block

__all__ = ["Answer", "StructuralIndex", "View"]

_STATE, _LOCATION, _WAY, _EXIT, _DOOR, _KNOWLEDGE = range(6)
_KINDS = {
    "is": _STATE,
    EXIT: _EXIT,
    **dict.fromkeys(LOCATIONS, _LOCATION),
    **{way_relation(direction): _WAY for direction in DIRECTIONS},
    **{door_relation(direction): _DOOR for direction in DIRECTIONS},
}


def _kind_of(relation: str) -> int:
    """What a fact of a relation tells of its subject."""
    kind = _KINDS.get(relation)
    if kind is None:
        kind = _KNOWLEDGE if direction_of(relation) is None else _WAY
    return kind


class Answer(NamedTuple):
    """The last ranking, good as long as nothing changes and the same is asked."""

    question: tuple[object, ...]
    page: Page
    relevant: tuple[int, ...]
    parts: tuple[tuple[str, int], ...]
    """Each part of the ranking with the number of facts on the page after it."""


class _Card(NamedTuple):
    """One entity: its own facts (no ways, exits or doors), its text, what is in or on it."""

    own: Block
    quoted: Block
    held: tuple[str, ...]


class _Place(NamedTuple):
    """One place on the map; ``ways`` goes from a direction to the fact that says where to."""

    ways: dict[str, Triple]
    unexplored: Block
    exits: Block
    doors: Block


class StructuralIndex:
    """Cards of entities and places, kept up with a graph.

    Args:
        graph: The graph to follow; may be restored, not replaced.
    """

    def __init__(self, graph: TemporalGraph):
        self.graph = graph
        self._follower: Follower[Event] = Follower()
        self._reset()

    def _reset(self) -> None:
        self.answer: Answer | None = None
        self.cards: dict[str, _Card] = {}
        self._places: dict[str, _Place] = {}
        self._views: dict[str, View] = {}
        self._frontier: set[str] = set()  # places with exits that nobody took
        self._unsure: dict[str, None] = {}  # places to be sorted into it, or out of it
        self.subjects: dict[str, None] = {}
        self.mapped: dict[str, None] = {}
        self.knowledge: dict[Triple, None] = {}
        self.quoted: dict[str, None] = {}  # what has a text, in the order of reading
        self._names = NameIndex()

    # ------------------------------------------------------------ following the graph

    def sync(self) -> None:
        """Take in what the graph changed since the last call; start over if it went back."""
        cut, events = self._follower.advance(self.graph.events)
        if cut:
            self._reset()
        for event in events:
            self._take(event[1], ended=bool(event[2]))
        if events:
            self.answer = None

    def _take(self, triple: Triple, *, ended: bool) -> None:
        subject, relation, obj = triple
        kind = _kind_of(relation)
        if kind in (_STATE, _LOCATION, _KNOWLEDGE):
            self.cards.pop(subject, None)
            self.subjects.pop(subject, None)
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
        """Whether a fact is a text, or something that the subject's text speaks of."""
        return fact[1] in QUOTED and fact[0] in self.quoted

    def card(self, entity: str) -> _Card:
        """What is known of an entity."""
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
        """What is known of a place on the map."""
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

    def view(self, start: str) -> View:
        """The map as seen from a place."""
        view = self._views.get(start)
        if view is None:
            view = self._views[start] = View(self, start)
        return view

    def unexplored(self, view: View) -> Iterator[Block]:
        """Exits that nobody took, of all known places, nearest first (Algorithm 3)."""
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

    # ------------------------------------------------------------ questions

    def named(self, text: str) -> tuple[str, ...]:
        """As :meth:`entities_in`, with what the graph learnt since the last call."""
        self.sync()
        return self.entities_in(text)

    def entities_in(self, text: str) -> tuple[str, ...]:
        """Known entities that ``text`` names, in its order; of nested names the longest."""
        return self._names.find(text)

    def queries(self, cue: Cue) -> list[str]:
        """Entities named by the focus, in view, held, or named by the task; each once."""
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
        """Names of all entities that any fact was about."""
        self.sync()
        return self._names.all


class View:
    """The known places around one, nearest first; looks only as far as it is asked."""

    __slots__ = ("_index", "_looked", "_order", "_places", "_ways")

    def __init__(self, index: StructuralIndex, start: str):
        self._index = index
        self._places = [start]
        self._order = {start: 0}
        self._looked = 0  # places whose neighbours are in the order
        self._ways: list[Block] = []

    def __iter__(self) -> Iterator[str]:
        """Breadth first over the known ways."""
        position = 0
        while position < len(self._places):
            yield self._places[position]
            if position == self._looked:
                self._look_from(position)
            position += 1

    def ways(self) -> Iterator[tuple[str, Block]]:
        """Each place with its ways, those left out that were given the other way round."""
        for position, name in enumerate(self):
            if position == len(self._ways):
                self._ways.append(self._ways_from(position, name))
            yield name, self._ways[position]

    def _ways_from(self, position: int, name: str) -> Block:
        if position == self._looked:
            self._look_from(position)
        facts = []
        for direction, fact in self._index.place(name).ways.items():
            other = fact.subject
            if self._order[other] < position:
                back = self._index.place(other).ways.get(OPPOSITE[direction])
                if back is not None and back.subject == name:
                    continue
            facts.append(fact)
        return fact_block(facts)

    def reached(self, name: str) -> bool:
        """Whether a place was looked at so far."""
        return name in self._order

    def _look_from(self, position: int) -> None:
        self._looked += 1
        for fact in self._index.place(self._places[position]).ways.values():
            if fact.subject not in self._order:
                self._order[fact.subject] = len(self._places)
                self._places.append(fact.subject)
