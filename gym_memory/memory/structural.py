"""Structural recall: the facts that matter here and now, found without any encoder.

What is ranked, most useful first:

1. the agent's place: what is in it, its ways, doors and exits; the inventory;
2. the ways to and around the places that the policy's focus names; what the focus, the task and
   the valid actions name, with where that is; what was read (recipes, notes, uses: every fact
   that is neither a place nor a state nor a way), latest first, with the things it is about;
3. exits of all known places that nobody took (Algorithm 3), nearest first;
4. the map, nearest first: ways and doors. Of the two directions of a way only the one that
   leads away from the agent is given;
5. the contents of the other places, nearest first; then everything else, latest first;
6. exits that were taken, which the map implies.

A page of 1,000 tokens holds about 150 facts, so a game of 200 facts is already cut, and the
order decides what a policy can know. Parts 2 to 4 may take only a share of what is left when
their turn comes, so that a talkative world does not drown the map, nor a large map the things.

The index follows the graph's events. What was rendered for an entity is kept until a fact about
it changes, and the order of places around one until the map changes, so a step pays for what it
changed and for copying the answer.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from gym_memory.memory.graph import TemporalGraph
from gym_memory.memory.places import EXIT, UNEXPLORED, current_place
from gym_memory.memory.render import Block, Page, fact_block
from gym_memory.memory.schema import (
    DIRECTIONS,
    INVENTORY,
    LOCATIONS,
    OPPOSITE,
    PLAYER,
    VERBATIM,
    direction_of,
    door_relation,
    way_relation,
)
from gym_memory.memory.timeline import Event
from gym_memory.types import Cue, Triple

__all__ = ["StructuralIndex"]

_STATE, _LOCATION, _WAY, _EXIT, _DOOR, _KNOWLEDGE = range(6)
_KINDS = {
    "is": _STATE,
    EXIT: _EXIT,
    **dict.fromkeys(LOCATIONS, _LOCATION),
    **{way_relation(direction): _WAY for direction in DIRECTIONS},
    **{door_relation(direction): _DOOR for direction in DIRECTIONS},
}
_WORD = re.compile(r"[^\s.,;:!?\"()]+")
_MOST_TEXTS = 4096
"""Texts whose names are kept; one is the task, the others are actions."""


@lru_cache(maxsize=_MOST_TEXTS)
def _words(text: str) -> list[str]:
    """Words in lower case without punctuation; not to be changed."""
    return _WORD.findall(text.lower())


class _Card(NamedTuple):
    """One entity: its own facts (no ways, exits or doors), and what is in or on it."""

    own: Block
    held: tuple[str, ...]


class _Place(NamedTuple):
    """One place on the map; ``ways`` goes from a direction to the fact that says where to."""

    ways: dict[str, Triple]
    unexplored: Block
    exits: Block
    doors: Block


class StructuralIndex:
    """Ranks the live facts of a graph for a cue.

    Args:
        graph: The graph to follow; may be restored, not replaced.
    """

    def __init__(self, graph: TemporalGraph):
        self.graph = graph
        self._reset()

    def _reset(self) -> None:
        self._taken = 0
        self._last: Event | None = None
        self.cards: dict[str, _Card] = {}
        self._places: dict[str, _Place] = {}
        self._views: dict[str, _View] = {}
        self._frontier: set[str] = set()  # places with exits that nobody took
        self._unsure: dict[str, None] = {}  # places to be sorted into it, or out of it
        self.subjects: dict[str, None] = {}
        self.mapped: dict[str, None] = {}
        self.knowledge: dict[Triple, None] = {}
        self._names: set[str] = set()
        self._by_words: dict[str, str] = {}
        self._longest: dict[str, int] = {}  # first word to the most words of a name
        self._named: dict[str, tuple[str, ...]] = {}

    # ------------------------------------------------------------ following the graph

    def _sync(self) -> None:
        """Take in what the graph changed since the last call; start over if it went back."""
        events = self.graph.events
        if self._taken and (len(events) < self._taken or events[self._taken - 1] is not self._last):
            self._reset()
        if len(events) == self._taken:
            return
        for event in events[self._taken :]:
            self._take(event[1], ended=bool(event[2]))
        self._taken, self._last = len(events), events[-1]

    def _take(self, triple: Triple, *, ended: bool) -> None:
        subject, relation, obj = triple
        kind = _KINDS.get(relation, _KNOWLEDGE)
        if kind in (_STATE, _LOCATION, _KNOWLEDGE):
            self.cards.pop(subject, None)
            self.subjects.pop(subject, None)
            self.subjects[subject] = None
            if kind == _LOCATION:
                self.cards.pop(obj, None)
            elif kind == _KNOWLEDGE:
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
            self._learn_name(subject)
            if kind != _EXIT and relation not in VERBATIM:
                self._learn_name(obj)

    def _learn_name(self, name: str) -> None:
        if name not in self._names:
            self._names.add(name)
            self._named.clear()
            words = _words(name)
            if words:
                self._by_words[" ".join(words)] = name
                self._longest[words[0]] = max(self._longest.get(words[0], 0), len(words))

    def card(self, entity: str) -> _Card:
        """What is known of an entity."""
        card = self.cards.get(entity)
        if card is None:
            own, held = [], []
            for fact in self.graph.outgoing(entity):
                if _KINDS.get(fact[1], _KNOWLEDGE) in (_STATE, _LOCATION, _KNOWLEDGE):
                    own.append(fact)
            for fact in self.graph.incoming(entity):
                if fact[1] in LOCATIONS and fact[0] != PLAYER:
                    held.append(fact[0])
            card = self.cards[entity] = _Card(fact_block(own), tuple(held))
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

    def view(self, start: str) -> _View:
        """The map as seen from a place."""
        view = self._views.get(start)
        if view is None:
            view = self._views[start] = _View(self, start)
        return view

    def unexplored(self, view: _View) -> Iterator[Block]:
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
        self._sync()
        return self.entities_in(text)

    def entities_in(self, text: str) -> tuple[str, ...]:
        """Known entities that ``text`` names, in its order; of nested names the longest."""
        found = self._named.get(text)
        if found is None:
            if len(self._named) >= _MOST_TEXTS:
                self._named.clear()
            found = self._named[text] = tuple(dict.fromkeys(self._find_names(text)))
        return found

    def _find_names(self, text: str) -> Iterator[str]:
        words = _words(text)
        position = 0
        while position < len(words):
            longest = self._longest.get(words[position], 0)
            position += 1
            for end in range(position + longest - 1, position - 1, -1):
                name = self._by_words.get(" ".join(words[position - 1 : end]))
                if name is not None:
                    yield name
                    position = end
                    break

    def queries(self, cue: Cue) -> list[str]:
        """Entities named by the focus, in view, held, or named by the task; each once."""
        self._sync()
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

    def put_unexplored(self, page: Page) -> None:
        """Add the exits of all known places that nobody took, nearest first."""
        self._sync()
        here = current_place(self.graph)
        if here is not None:
            _Ranking(self, page).put(self.unexplored(self.view(here)))

    def known(self) -> Container[str]:
        """Names of all entities that any fact was about."""
        self._sync()
        return self._names

    def rank(self, cue: Cue, page: Page, *, exploration: bool = True) -> int:
        """Fill ``page`` with the live facts that matter for ``cue``, most useful first.

        Args:
            cue: The situation.
            page: What to fill; what is on it already stays.
            exploration: Whether to point out exits that nobody took.

        Returns:
            How many of the facts on the page are about the situation and the plan (parts 1 and
            2 of the module's list), which is what an episodic search starts from.
        """
        self._sync()
        return _Ranking(self, page).fill(cue, exploration=exploration)


class _View:
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


class _Ranking:
    """One answer of the index."""

    __slots__ = ("cards", "index", "page", "shown", "ways")

    def __init__(self, index: StructuralIndex, page: Page):
        self.index, self.page, self.cards = index, page, index.cards
        self.shown: set[str] = set()
        self.ways: dict[Triple, None] = {}  # those shown before the map's turn

    def fill(self, cue: Cue, *, exploration: bool) -> int:
        """The parts in their order."""
        index, page = self.index, self.page
        here = current_place(index.graph)
        view = index.view(here if here is not None else "")
        ways = view.ways()
        self.show(PLAYER)
        if here is not None:
            self.show(here)
            self.show_inside(here)
            place = index.place(here)
            self.put((place.unexplored if exploration else place.exits,))
            self.put((next(ways)[1],))
            self.show_doors(here)
        self.show_inside(INVENTORY)
        self.show_ways_to(cue.focus, here)
        self.show_named(cue)
        self.show_knowledge(keep=page.left // 3)
        relevant = len(page.triples)
        unexplored = index.unexplored(view) if exploration else iter(())
        if here is not None and exploration and index.place(here).unexplored.triples:
            next(unexplored)
        self.put(unexplored, keep=page.left * 3 // 4)
        self.show_map(ways, keep=page.left // 2)
        self.show_contents(view)
        self.show_rest(view)
        self.put(unexplored)
        self.show_map(ways)
        self.put(index.place(name).exits for name in view if exploration or name != here)
        return relevant

    def put(self, blocks: Iterable[Block], keep: int = 0) -> None:
        """Blocks that belong to no card, as long as more than ``keep`` characters are left."""
        page = self.page
        for block in blocks:
            page.put(block)
            if page.left <= keep or page.full:
                return

    def show(self, entity: str) -> None:
        """What is known of an entity itself, once."""
        if entity not in self.shown:
            self.shown.add(entity)
            self.page.put((self.cards.get(entity) or self.index.card(entity)).own)

    def show_inside(self, entity: str) -> None:
        """What is in or on an entity, and so on inwards."""
        for name in (self.cards.get(entity) or self.index.card(entity)).held:
            if name not in self.shown:
                self.shown.add(name)
                card = self.cards.get(name) or self.index.card(name)
                self.page.put(card.own)
                if card.held:
                    self.show_inside(name)

    def show_where(self, entity: str) -> None:
        """An entity and what it is in or on, and so on outwards."""
        while entity not in self.shown:
            self.show(entity)
            fact = self.index.graph.value(entity, "location")
            if fact is None:
                return
            entity = fact.object

    def show_named(self, cue: Cue) -> None:
        """What the plan and the task name, with its contents, then what can be acted on."""
        names = self.index.entities_in
        for text in (cue.focus, cue.task):
            for name in names(text):
                self.show_where(name)
                self.show_inside(name)
        for action in cue.valid_actions:
            for name in names(action):
                if name not in self.shown:
                    self.show_where(name)

    def show_ways_to(self, plan: str, here: str | None) -> None:
        """The way to every place that the plan names, and the ways around it."""
        index = self.index
        for name in index.entities_in(plan):
            if name not in index.mapped or name == here:
                continue
            facts, place = [], here
            for direction, following in (here and index.graph.shortest_path(here, name)) or ():
                facts.append(index.place(place or "").ways[direction])
                place = following
            facts += index.place(name).ways.values()
            self.put_ways(facts)

    def put_ways(self, facts: Iterable[Triple]) -> None:
        """Ways that were not shown yet, in this or the other direction."""
        fresh: dict[Triple, None] = {}
        for subject, relation, obj in facts:
            back = way_relation(OPPOSITE[direction_of(relation) or ""])
            told = {Triple(subject, relation, obj), Triple(obj, back, subject)}
            if told.isdisjoint(self.ways) and told.isdisjoint(fresh):
                fresh[Triple(subject, relation, obj)] = None
        self.ways.update(fresh)
        self.page.put(fact_block(fresh))

    def show_knowledge(self, keep: int) -> None:
        """What was read, latest first, and the things that it is about."""
        for subject, relation, obj in reversed(self.index.knowledge):
            if self.page.left <= keep or self.page.full:
                return
            self.show_where(subject)
            if relation not in VERBATIM:
                self.show_where(obj)

    def show_doors(self, place: str) -> None:
        """Doors of a place and their states."""
        doors = self.index.place(place).doors
        if doors.triples:
            self.page.put(doors)
            for _, _, door in doors.triples:
                self.show(door)

    def show_map(self, ways: Iterator[tuple[str, Block]], keep: int = 0) -> None:
        """Ways and doors, place by place."""
        page = self.page
        for place, block in ways:
            if self.ways:
                self.put_ways(block.triples)
            else:
                page.put(block)
            self.show_doors(place)
            if page.left <= keep or page.full:
                return

    def show_contents(self, view: _View) -> None:
        """What is in the places, nearest first."""
        for name in view:
            if self.page.full:
                return
            self.show(name)
            self.show_inside(name)

    def show_rest(self, view: _View) -> None:
        """Everything else, latest first: things without a place, places without a way to them."""
        index, page = self.index, self.page
        if page.full:
            return
        if index.subjects.keys() - self.shown:
            for subject in reversed(index.subjects):
                self.show(subject)
                if page.full:
                    return
        for name in [name for name in index.mapped if not view.reached(name)]:
            if page.full:
                return
            place = index.place(name)
            self.put((fact_block(place.ways.values()), place.doors, place.exits))
