"""Structural recall: the facts that matter here and now, found without any encoder.

What is ranked, most useful first:

1. the agent's place and its exits;
2. the ways to and around the places that the policy's focus names, and what it names, with where
   that is;
3. what was read (recipes, notes, uses: every fact that is neither a place nor a state nor a way),
   latest first, with the things it is about, in half of what is left;
4. the nearest exits of other places that nobody took (Algorithm 3);
5. what is at hand: what is in the place, its doors, the inventory; what was tried there and could
   be tried again; what the task and the valid actions name; the rest of what was read, and texts
   word for word;
6. the map, nearest first: ways and doors. Of the two directions of a way only the one that
   leads away from the agent is given;
7. the contents of the other places, nearest first; then everything else, latest first;
8. exits that were taken, which the map implies.

What is at hand comes late, for most of it the policy sees: in the text, in the inventory or in
what it can do. A page of 100 tokens holds some 15 facts, which parts 1 to 4 fill; one of 1,000
about 150, so a game of 200 facts is still cut, and the order decides what a policy can know. Parts
3, 4 and 6 may take only a share of what is left when their turn comes, so that a talkative world
does not drown the map, nor a large map the things.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gym_memory.core.records import Cue, Triple
from gym_memory.graph.map import current_place, route
from gym_memory.graph.schema import (
    INVENTORY,
    OPPOSITE,
    PLAYER,
    direction_of,
    way_relation,
)
from gym_memory.memory.recall.render import NOTHING, Block, Page, fact_block
from gym_memory.memory.recall.structural import Answer, StructuralIndex, View

__all__ = ["part_of_each", "put_unexplored", "rank"]


def rank(
    index: StructuralIndex,
    cue: Cue,
    page: Page,
    *,
    exploration: bool = True,
    tried: Block = NOTHING,
) -> tuple[int, ...]:
    """Fill ``page`` with the live facts that matter for ``cue``, most useful first.

    Args:
        index: The index of the graph.
        cue: The situation.
        page: What to fill; what is on it already stays.
        exploration: Whether to point out exits that nobody took.
        tried: What was tried in the agent's place.

    Returns:
        How many of the facts on the page an episodic search starts from: first, where the plan
        names something, those about the place and that (parts 1 and 2 of the module's list), then
        all that are about the situation (1 to 5).
    """
    index.sync()
    question = (cue.focus, cue.task, cue.valid_actions, exploration, page.left, tried.triples)
    answer = index.answer
    if answer is not None and answer.question == question and not page.triples:
        page.become(answer.page)
        return answer.relevant
    empty = not page.triples
    ranking = _Ranking(index, page)
    relevant = ranking.fill(cue, exploration=exploration, tried=tried)
    if empty:
        index.answer = Answer(question, page.copy(), relevant, tuple(ranking.parts))
    return relevant


def part_of_each(answer: Answer) -> Iterator[str]:
    """Which part of a ranking brought each of its facts, in their order."""
    before = 0
    for name, count in answer.parts:
        for _ in range(before, count):
            yield name
        before = count


def put_unexplored(index: StructuralIndex, page: Page) -> None:
    """Add the exits of all known places that nobody took, nearest first (Algorithm 3)."""
    index.sync()
    here = current_place(index.graph)
    if here is not None:
        _Ranking(index, page).put(index.unexplored(index.view(here)))


class _Ranking:
    """One answer: fills a page."""

    __slots__ = ("cards", "entered", "index", "page", "parts", "shown", "told", "ways")

    def __init__(self, index: StructuralIndex, page: Page):
        self.index, self.page, self.cards = index, page, index.cards
        self.shown: set[str] = set()
        self.entered: set[str] = set()
        self.ways: dict[Triple, None] = {}  # those shown before the map's turn
        self.told: set[str] = set()  # whose text is shown
        self.parts: list[tuple[str, int]] = []

    def fill(self, cue: Cue, *, exploration: bool, tried: Block) -> tuple[int, ...]:
        """The parts in their order."""
        index, page = self.index, self.page
        here = current_place(index.graph)
        view = index.view(here if here is not None else "")
        ways = view.ways()
        self.show(PLAYER)
        if here is not None:
            self.show(here)
            place = index.place(here)
            self.put((place.unexplored if exploration else place.exits,))
            self.put_ways(next(ways)[1])
        self.mark("here")
        self.show_ways_to(cue.focus, here)
        self.mark("on the way to the plan")
        before = len(page.triples)
        self.show_named(cue.focus)
        named = len(page.triples)
        self.mark("named by the plan")
        self.show_knowledge(keep=page.left // 2)
        self.mark("was read")
        unexplored = index.unexplored(view) if exploration else iter(())
        if here is not None and exploration and index.place(here).unexplored.triples:
            next(unexplored)
        self.put(unexplored, keep=page.left * 3 // 4)
        self.mark("exit that nobody took")
        if here is not None:
            self.show_inside(here)
            self.show_doors(here)
        self.show_inside(INVENTORY)
        self.mark("at hand")
        page.put(tried)
        self.mark("tried")
        self.show_named(cue.task)
        self.show_usable(cue.valid_actions)
        self.mark("named by task or actions")
        self.show_knowledge(keep=page.left // 3)
        self.show_quoted(keep=page.left // 3)
        self.mark("was read")
        relevant = (*((named,) if named > before else ()), len(page.triples))
        self.show_map(ways, keep=page.left // 2)
        self.mark("map, nearest first")
        self.show_places(view)
        self.mark("in other places, nearest first")
        self.show_rest(view)
        self.show_quoted(0)
        self.mark("everything else, latest first")
        self.put(unexplored)
        self.mark("exit that nobody took")
        self.show_map(ways)
        self.mark("map, nearest first")
        self.put(index.place(name).exits for name in view if exploration or name != here)
        self.mark("exit that was taken")
        return relevant

    def mark(self, part: str) -> None:
        """Name the part of the ranking that ends here."""
        self.parts.append((part, len(self.page.triples)))

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
        """An entity and what it is in or on, and so on outwards."""
        while entity not in self.shown:
            self.show(entity)
            fact = self.index.graph.value(entity, "location")
            if fact is None:
                return
            entity = fact.object

    def show_named(self, text: str) -> None:
        """What a text names, with its contents."""
        for name in self.index.entities_in(text):
            self.show_where(name)
            self.show_inside(name)

    def show_usable(self, actions: Iterable[str]) -> None:
        """What can be acted on."""
        for action in actions:
            for name in self.index.entities_in(action):
                if name not in self.shown:
                    self.show_where(name)

    def show_quoted(self, keep: int) -> None:
        """Texts word for word, latest first."""
        for name in reversed(self.index.quoted):
            if self.page.left <= keep or self.page.full:
                return
            if name not in self.told:
                self.told.add(name)
                self.page.put(self.index.card(name).quoted)

    def show_ways_to(self, plan: str, here: str | None) -> None:
        """The way to every place that the plan names, and the ways around it."""
        index = self.index
        for name in index.entities_in(plan):
            if name not in index.mapped or name == here:
                continue
            facts, place = [], here
            for direction, following in route(index.graph, name) or ():
                facts.append(index.place(place or "").ways[direction])
                place = following
            facts += index.place(name).ways.values()
            self.put_ways(fact_block(facts))

    def put_ways(self, block: Block) -> None:
        """Ways that were not shown yet, in this or the other direction."""
        fresh: dict[Triple, None] = {}
        for subject, relation, obj in block.triples:
            back = way_relation(OPPOSITE[direction_of(relation) or ""])
            told = {Triple(subject, relation, obj), Triple(obj, back, subject)}
            if told.isdisjoint(self.ways) and told.isdisjoint(fresh):
                fresh[Triple(subject, relation, obj)] = None
        self.ways.update(fresh)
        self.page.put(block if len(fresh) == len(block.triples) else fact_block(fresh))

    def show_knowledge(self, keep: int) -> None:
        """What was read, latest first, and the things that it is about."""
        for fact in reversed(self.index.knowledge):
            if self.page.left <= keep or self.page.full:
                return
            if not self.index.is_quoted(fact):
                self.show_where(fact.subject)
                self.show_where(fact.object)

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
            self.put_ways(block)
            self.show_doors(place)
            if page.left <= keep or page.full:
                return

    def show_places(self, view: View) -> None:
        """The places with what is in them, nearest first."""
        for name in view:
            if self.page.full:
                return
            self.show(name)
            self.show_inside(name)

    def show_rest(self, view: View) -> None:
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
