"""Rank facts for a recall without an encoder: :data:`SITUATION`, then :data:`REST`.

What is in view or held comes late, because the policy sees most of it anyway. Shares keep a
talkative world from displacing the map, and a large map from displacing the things.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import NamedTuple

from gym_memory.core.records import Cue, Triple
from gym_memory.graph.map import current_place, route
from gym_memory.graph.schema import INVENTORY, OPPOSITE, PLAYER, direction_of, way_relation
from gym_memory.memory.recall.render import NOTHING, Block, Page, fact_block
from gym_memory.memory.recall.structural import StructuralIndex

__all__ = ["REST", "SITUATION", "Part", "Ranked", "put_unexplored", "rank"]


_MOST_ACTIONS = 10_000
"""Valid actions that are searched for names: some environments list a million."""


class Part(NamedTuple):
    """A part of the ranking: its reason, method, and share of the characters left on the page."""

    name: str
    source: Callable[[_Ranking], None]
    share: Fraction = Fraction(1)

    def leaves(self, characters: int) -> int:
        """Return the characters that later parts have for sure."""
        whole = self.share.denominator  # in integers: a Fraction costs microseconds
        return characters * (whole - self.share.numerator) // whole


class Ranked(NamedTuple):
    """Hold the facts on a page, and the reason for each of them."""

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
) -> Ranked:
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

    def fill(self) -> Ranked:
        page, reasons = self.page, list[str]()
        seeds: list[int] = []
        for part in (*SITUATION, *REST):
            before = len(page.triples)
            self.keep = part.leaves(page.left)
            part.source(self)
            reasons += [part.name] * (len(page.triples) - before)
            if (part is PLAN and len(page.triples) > before) or part is SITUATION[-1]:
                seeds.append(len(page.triples))
        return Ranked(tuple(page.triples), tuple(reasons), tuple(seeds))

    # ------------------------------------------------------------ sources of the parts

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
        for fact in reversed(self.index.knowledge):
            if self.is_spent():
                return
            if not self.index.is_quoted(fact):
                self.show_where(fact.subject)
                self.show_where(fact.object)

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
        index, page = self.index, self.page
        if page.full:
            return
        for subject in reversed(index.subjects):
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

    # ------------------------------------------------------------ what a part puts

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
        """Put what is in or on an entity, and so on inwards."""
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
        """Put an entity and what it is in or on, and so on outwards."""
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
        fresh: dict[Triple, None] = {}
        for subject, relation, obj in block.triples:
            back = way_relation(OPPOSITE[direction_of(relation) or ""])
            known = (Triple(subject, relation, obj), Triple(obj, back, subject))
            if not any(way in self.shown_ways or way in fresh for way in known):
                fresh[known[0]] = None
        self.shown_ways.update(fresh)
        self.page.put(block if len(fresh) == len(block.triples) else fact_block(fresh))


PLAN = Part("named by the plan", _Ranking.put_plan)
SITUATION = (
    Part("here", _Ranking.put_here),
    Part("on the way to the plan", _Ranking.put_ways_to_plan),
    PLAN,
    Part("was read", _Ranking.put_knowledge, Fraction(1, 2)),
    Part("unexplored exit", _Ranking.put_first_unexplored, Fraction(1, 4)),
    Part("in view or held", _Ranking.put_present),
    Part("tried here", _Ranking.put_tried),
    Part("named by task or actions", _Ranking.put_named),
    Part("was read", _Ranking.put_knowledge, Fraction(2, 3)),
    Part("was read", _Ranking.put_quoted, Fraction(2, 3)),
)
"""What is about the situation: an episodic search starts from these facts."""
REST = (
    Part("map, nearest first", _Ranking.put_map, Fraction(1, 2)),
    Part("in other places, nearest first", _Ranking.put_places),
    Part("everything else, latest first", _Ranking.put_others),
    Part("everything else, latest first", _Ranking.put_quoted),
    Part("unexplored exit", _Ranking.put_unexplored),
    Part("map, nearest first", _Ranking.put_map),
    Part("exit", _Ranking.put_exits),
)
