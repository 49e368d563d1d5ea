"""Recall without an encoder: an index of entities and places, and a ranking of facts over it."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Iterator
from functools import lru_cache
from itertools import count
from typing import Any, NamedTuple

from gym_memory.core.records import Cue, Triple
from gym_memory.graph import TemporalGraph
from gym_memory.graph.facts import Event
from gym_memory.graph.map import current_place, route, spread
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
from gym_memory.memory.reading import NOTHING, Block, Page, fact_block
from gym_memory.memory.stores.episodes import Follower

__all__ = ["REST", "SITUATION", "NearbyPlaces", "Part", "RankedFacts", "StructuralIndex"]
__all__ += ["put_unexplored", "rank"]

_STATE, _LOCATION, _WAY, _EXIT, _DOOR, _KNOWLEDGE = range(6)
_KINDS = {
    "is": _STATE,
    EXIT: _EXIT,
    **dict.fromkeys(LOCATIONS, _LOCATION),
    **{way_relation(direction): _WAY for direction in DIRECTIONS},
    **{door_relation(direction): _DOOR for direction in DIRECTIONS},
}


@lru_cache(maxsize=1 << 12)
def _both_ways(fact: Triple) -> Triple:
    """Return one fact for a way and the way back."""
    subject, relation, obj = fact
    back = way_relation(OPPOSITE[direction_of(relation) or ""])
    return min(fact, Triple(obj, back, subject))


def _kind_of(relation: str) -> int:
    kind = _KINDS.get(relation)
    if kind is None:
        kind = _KNOWLEDGE if direction_of(relation) is None else _WAY
    return kind


class _EntityCard(NamedTuple):
    """An entity: its own facts (no ways, exits or doors), its text, what is in or on it."""

    own: Block
    quoted: Block
    held: tuple[str, ...]


class _Place(NamedTuple):
    ways: dict[str, Triple]
    unexplored: Block
    exits: Block
    doors: Block


class StructuralIndex(Follower[Event]):
    """Cards of entities and places that follow a graph, which may be restored, not replaced."""

    def __init__(self, graph: TemporalGraph):
        self.graph = graph
        self._reset()

    def _reset(self) -> None:
        self.answers: dict[Hashable, Any] = {}  # cleared by every change
        self.cards: dict[str, _EntityCard] = {}
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
        events = self._advance(self.graph.events)
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
        """True if a fact is a text, or is about something that the subject's text mentions."""
        return fact[1] in QUOTED and fact[0] in self.quoted

    def card(self, entity: str) -> _EntityCard:
        """Return the card of an entity."""
        card = self.cards.get(entity)
        if card is None:
            own: list[Triple] = []
            quoted: list[Triple] = []
            for fact in self.graph.outgoing(entity):
                if self.is_quoted(fact):
                    quoted.append(fact)
                elif _kind_of(fact[1]) in (_STATE, _LOCATION, _KNOWLEDGE):
                    own.append(fact)
            into = self.graph.incoming(entity)
            held = tuple([fact[0] for fact in into if fact[1] in LOCATIONS and fact[0] != PLAYER])
            card = self.cards[entity] = _EntityCard(fact_block(own), fact_block(quoted), held)
        return card

    def place(self, name: str) -> _Place:
        """Return the card of a place on the map."""
        place = self._places.get(name)
        if place is None:
            ways = {
                direction: fact
                for fact in self.graph.incoming(name)
                if (direction := direction_of(fact[1])) is not None
            }
            out = self.graph.outgoing(name)
            exits, doors = (
                [fact for fact in out if _KINDS.get(fact[1]) == kind] for kind in (_EXIT, _DOOR)
            )
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
        """Return the names of all entities of any fact."""
        self.sync()
        return self._names.all


class NearbyPlaces:
    """Known places around one, nearest first, searched lazily."""

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
        """True if an iteration reached a place."""
        return name in self._order


# The ranking is SITUATION, then REST. Things in view or held come late, because the policy sees
# most of them anyway. Shares keep a talkative world from displacing the map, and a large map from
# displacing the things.

_MOST_ACTIONS = 10_000
"""Valid actions that are searched for names: some environments list a million."""


class Part(NamedTuple):
    """A part of the ranking: its reason, method, and share of the characters left on the page."""

    name: str
    source: Callable[[_Ranking], None]
    share: tuple[int, int] = (1, 1)
    """A fraction as two integers, which take no time to multiply with."""

    def leaves(self, characters: int) -> int:
        """Return the characters that are reserved for later parts."""
        taken, whole = self.share
        return characters * (whole - taken) // whole


class RankedFacts(NamedTuple):
    """Facts on a page, and the reason for each of them."""

    triples: tuple[Triple, ...]
    reasons: tuple[str, ...]
    seeds: tuple[int, ...]
    """Numbers of facts that an episodic search starts from: those on the plan, if there are any,
    then those on the situation."""


def rank(
    index: StructuralIndex,
    cue: Cue,
    page: Page,
    *,
    exploration: bool = True,
    tried: Block = NOTHING,
) -> RankedFacts:
    """Fill an empty page with the live facts that matter for ``cue``, most useful first.

    ``exploration`` points out unexplored exits; ``tried`` has actions of the agent's place.
    """
    index.sync()
    question = (cue.focus, cue.task, cue.valid_actions, exploration, page.left, tried.triples)
    if question not in index.answers:
        ranked = _Ranking(index, page, cue, exploration, tried).fill()
        index.answers = {question: (page.copy(), ranked)}
        return ranked
    full, ranked = index.answers[question]
    page.become(full)
    return ranked


def put_unexplored(index: StructuralIndex, page: Page) -> None:
    """Add the unexplored exits of all known places, nearest first (AriGraph, Algorithm 3)."""
    index.sync()
    here = current_place(index.graph)
    if here is not None:
        for block in index.unexplored(index.view(here)):
            page.put(block)
            if page.left <= 0 or page.full:
                return


class _Ranking:
    def __init__(
        self, index: StructuralIndex, page: Page, cue: Cue, exploration: bool, tried: Block
    ):
        self.index, self.page, self.cue, self.cards = index, page, cue, index.cards
        self.exploration, self.tried = exploration, tried
        self.here = current_place(index.graph)
        self.view = index.view(self.here if self.here is not None else "")
        self.ways = self.view.ways()
        self.unexplored = index.unexplored(self.view) if exploration else iter(())
        self.keep = 0  # characters that the present part leaves free
        self.shown: set[str] = set()
        self.entered: set[str] = set()
        self.shown_ways: set[Triple] = set()
        self.quoted: set[str] = set()

    def fill(self) -> RankedFacts:
        page, reasons = self.page, list[str]()
        seeds: list[int] = []
        for part in (*SITUATION, *REST):
            before = len(page.triples)
            self.keep = part.leaves(page.left)
            part.source(self)
            reasons += [part.name] * (len(page.triples) - before)
            if (part is PLAN and len(page.triples) > before) or part is SITUATION[-1]:
                seeds.append(len(page.triples))
        return RankedFacts(tuple(page.triples), tuple(reasons), tuple(seeds))

    def put_here(self) -> None:
        self.show(PLAYER)
        if self.here is not None:
            self.show(self.here)
            place = self.index.place(self.here)
            self.put((place.unexplored if self.exploration else place.exits,))
            self.put_ways(next(self.ways)[1])

    def put_ways_to_plan(self) -> None:
        index, here = self.index, self.here
        for name in index.entities_in(self.cue.focus):
            if name not in index.mapped or name == here:
                continue
            facts, place = [], here
            for direction, following in route(index.graph, name) or ():
                facts.append(index.place(place or "").ways[direction])
                place = following
            facts += index.place(name).ways.values()
            self.put_ways(fact_block(facts))

    def put_plan(self) -> None:
        self.show_named(self.cue.focus)

    def put_knowledge(self) -> None:
        shown = self.shown
        for fact in reversed(self.index.knowledge):
            subject, _, obj = fact
            if subject in shown and obj in shown:
                continue
            if self.is_spent():
                return
            if not self.index.is_quoted(fact):
                self.show_where(subject)
                self.show_where(obj)

    def put_first_unexplored(self) -> None:
        here = self.here
        if here is not None and self.exploration and self.index.place(here).unexplored.triples:
            next(self.unexplored)  # on the page already
        self.put(self.unexplored)

    def put_unexplored(self) -> None:
        self.put(self.unexplored)

    def put_present(self) -> None:
        if self.here is not None:
            self.show_inside(self.here)
            self.show_doors(self.here)
        self.show_inside(INVENTORY)

    def put_tried(self) -> None:
        self.page.put(self.tried)

    def put_named(self) -> None:
        self.show_named(self.cue.task)
        for action in self.cue.valid_actions[:_MOST_ACTIONS]:
            for name in self.index.entities_in(action):
                if name not in self.shown:
                    self.show_where(name)

    def put_quoted(self) -> None:
        for name in reversed(self.index.quoted):
            if self.is_spent():
                return
            if name not in self.quoted:
                self.quoted.add(name)
                self.page.put(self.index.card(name).quoted)

    def put_map(self) -> None:
        for place, block in self.ways:
            self.put_ways(block)
            self.show_doors(place)
            if self.is_spent():
                return

    def put_places(self) -> None:
        for name in self.view:
            if self.page.full:
                return
            self.show(name)
            self.show_inside(name)

    def put_others(self) -> None:
        """Put things without a place and places without a way to them, latest first."""
        index, page, shown = self.index, self.page, self.shown
        if page.full:
            return
        for subject in reversed(index.subjects):
            if subject not in shown:
                self.show(subject)
                if page.full:
                    return
        for name in index.mapped:
            if not self.view.reached(name):
                if page.full:
                    return
                place = index.place(name)
                self.put((fact_block(place.ways.values()), place.doors, place.exits))

    def put_exits(self) -> None:
        place = self.index.place
        self.put(place(name).exits for name in self.view if self.exploration or name != self.here)

    def is_spent(self) -> bool:
        return self.page.left <= self.keep or self.page.full

    def put(self, blocks: Iterable[Block]) -> None:
        for block in blocks:
            self.page.put(block)
            if self.is_spent():
                return

    def show(self, entity: str) -> None:
        if entity not in self.shown:
            self.shown.add(entity)
            self.page.put((self.cards.get(entity) or self.index.card(entity)).own)

    def show_inside(self, entity: str) -> None:
        """Put the contents of an entity, and so on inwards."""
        if entity in self.entered:
            return
        self.entered.add(entity)
        for name in (self.cards.get(entity) or self.index.card(entity)).held:
            card = self.cards.get(name) or self.index.card(name)
            if name not in self.shown:
                self.shown.add(name)
                self.page.put(card.own)
            if card.held:
                self.show_inside(name)

    def show_where(self, entity: str) -> None:
        """Put an entity and its holder, and so on outwards."""
        while entity not in self.shown:
            self.show(entity)
            fact = self.index.graph.value(entity, "location")
            if fact is None:
                return
            entity = fact.object

    def show_named(self, text: str) -> None:
        for name in self.index.entities_in(text):
            self.show_where(name)
            self.show_inside(name)

    def show_doors(self, place: str) -> None:
        doors = self.index.place(place).doors
        if doors.triples:
            self.page.put(doors)
            for _, _, door in doors.triples:
                self.show(door)

    def put_ways(self, block: Block) -> None:
        """Put ways that were not shown yet, in this or the other direction."""
        fresh = []
        for fact in block.triples:
            way = _both_ways(fact)
            if way not in self.shown_ways:
                self.shown_ways.add(way)
                fresh.append(fact)
        self.page.put(block if len(fresh) == len(block.triples) else fact_block(fresh))


PLAN = Part("named by the plan", _Ranking.put_plan)
SITUATION = (
    Part("here", _Ranking.put_here),
    Part("on the way to the plan", _Ranking.put_ways_to_plan),
    PLAN,
    Part("was read", _Ranking.put_knowledge, (1, 2)),
    Part("unexplored exit", _Ranking.put_first_unexplored, (1, 4)),
    Part("in view or held", _Ranking.put_present),
    Part("tried here", _Ranking.put_tried),
    Part("named by task or actions", _Ranking.put_named),
    Part("was read", _Ranking.put_knowledge, (2, 3)),
    Part("was read", _Ranking.put_quoted, (2, 3)),
)
"""Parts about the situation: an episodic search starts from their facts."""
REST = (
    Part("map, nearest first", _Ranking.put_map, (1, 2)),
    Part("in other places, nearest first", _Ranking.put_places),
    Part("everything else, latest first", _Ranking.put_others),
    Part("everything else, latest first", _Ranking.put_quoted),
    Part("unexplored exit", _Ranking.put_unexplored),
    Part("map, nearest first", _Ranking.put_map),
    Part("exit", _Ranking.put_exits),
)
