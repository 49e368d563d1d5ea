"""The extraction of one step in ScienceWorld while it grows; knows the graph before the step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from gym_memory.core.records import Triple
from gym_memory.extract.base import Extraction, Mention, Pattern
from gym_memory.games.scienceworld.rules_items import Item
from gym_memory.games.scienceworld.rules_names import (
    SIGHTED,
    STAGE,
    base_of,
    door_state,
    entity,
    exit_to,
    is_plant,
    roams,
)
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import INVENTORY, PLAYER, contains, is_contents, way_relation

__all__ = ["NOWHERE", "Draft", "Span"]

Span = tuple[int, int]
NOWHERE: Span = (-1, -1)
"""Evidence of a fact that no characters of the text state."""


class Draft:
    """Facts of a step.

    Args:
        graph: The graph before the step.
        carried: Names of what the inventory shown beside the text lists; None where it was not
            shown.

    Attributes:
        room: Where the agent is.
    """

    def __init__(self, graph: TemporalGraph, carried: frozenset[str] | None = None):
        self.graph = graph
        self._carried = carried and frozenset(entity(name, INVENTORY) for name in carried)
        here = graph.value(PLAYER, "location")
        self.room = here.object if here else ""
        self._mentions: dict[Triple, Mention] = {}
        self._outdated: dict[Pattern, None] = {}
        self._listed: dict[str, set[Triple]] = {}
        self._numbers: dict[tuple[str, str], int] = {}

    def extraction(self) -> Extraction:
        """All facts; what a listed holder no longer lists is retired."""
        for holder, listed in self._listed.items():
            for fact in self.contents(holder):
                if fact not in listed:
                    self.retire(fact)
        return Extraction(tuple(self._mentions.values()), tuple(self._outdated))

    def add(self, triple: Triple, span: Span = NOWHERE) -> None:
        """Add a fact with its evidence; none about a thing that is not known."""
        if not triple.subject or not triple.object:
            return
        self._mentions.setdefault(triple, Mention(triple, *span))
        self._outdated.pop(Pattern(*triple), None)

    def retire(self, triple: Triple) -> None:
        """End a fact that the graph holds, or that this step has stated so far."""
        self._mentions.pop(triple, None)
        if triple in self.graph:
            self._outdated[Pattern(*triple)] = None

    # ------------------------------------------------------------ rooms and doors

    def enter(self, room: str, span: Span) -> None:
        """The agent is in ``room``."""
        self.room = room
        self.add(Triple(PLAYER, "is in", room), span)

    def walk(self, room: str, span: Span) -> None:
        """The agent went to ``room``; a way leads there from where it was, and back."""
        left = self.room
        self.enter(room, span)
        if left and left != room:
            for here, there in ((left, room), (room, left)):
                self.add(Triple(there, way_relation(exit_to(there)), here), span)
                self.add(Triple(here, "has exit", exit_to(there)), span)
                self._door_state(here, there, opened=True, span=span)

    def door(self, room: str, to: str, *, opened: bool, span: Span) -> None:
        """A door of a room; the same door is seen from the other side. None of an unknown room."""
        if not room:
            return
        self.add(Triple(room, "has exit", exit_to(to)), span)
        self._door_state(room, to, opened=opened, span=span)
        if Triple(to, "has exit", exit_to(room)) in self.graph:
            self._door_state(to, room, opened=opened, span=span)

    def _door_state(self, room: str, to: str, *, opened: bool, span: Span) -> None:
        self.add(Triple(room, door_state(opened=opened), to), span)
        self.retire(Triple(room, door_state(opened=not opened), to))

    # ------------------------------------------------------------ things and what they hold

    def contents(self, holder: str) -> Iterator[Triple]:
        """What the graph has in or on a holder."""
        if holder == INVENTORY:
            for fact in self.graph.incoming(INVENTORY):
                if fact.relation == "is in":
                    yield fact
        else:
            for fact in self.graph.outgoing(holder):
                if is_contents(fact.relation):
                    yield fact

    def holds(self, holder: str, items: Iterable[Item]) -> None:
        """A list of all that is in or on a holder."""
        items = [item for item in items if item.name != "drain"]
        numbers = Counter(entity(item.name, holder) for item in items)
        listed = self._listed.setdefault(holder, set())
        for item in items:
            thing = entity(item.name, holder)
            fact = _held(holder, thing, numbers[thing])
            listed.add(fact)
            self.add(fact, (item.start, item.end))
            self.describe(thing, item)

    def describe(self, thing: str, item: Item) -> None:
        """The states of a thing, and what it holds."""
        span = (item.start, item.end)
        for state in (item.power, item.lid):
            if state:
                self.add(Triple(thing, "is", state), span)
        if item.stage:
            self.add(Triple(thing, STAGE, item.stage), span)
        if item.inside is not None:
            self.holds(thing, item.inside)
            self.set_empty(thing, empty=not item.inside, span=span)

    def set_empty(self, holder: str, *, empty: bool, span: Span = NOWHERE) -> None:
        """Whether a holder is empty."""
        fact = Triple(holder, "is", "empty")
        if not empty:
            self.retire(fact)
        elif not (is_plant(holder) or self.is_filling(holder)):
            self.add(fact, span)

    def is_filling(self, holder: str) -> bool:
        """Whether it stands under a tap that runs."""
        return any(
            is_contents(fact.relation) and Triple(fact.subject, "is", "on") in self.graph
            for fact in self.graph.incoming(holder)
            if fact.subject.startswith("sink in ")
        )

    def moved(self, name: str, holder: str, action: str, span: Span) -> None:
        """A thing that the answer calls ``name`` was moved to a holder.

        The answer may use another name than lists do (*common toad* of a frog egg): what the
        inventory lists anew, or no longer, is then what was moved.
        """
        thing = self.meant(name, action)
        goal = entity(base_of(thing), holder)
        before = {fact.subject for fact in self.contents(INVENTORY)}
        changed = before ^ self._carried if self._carried is not None else frozenset()
        if len(changed) == 1 and not changed & {thing, goal}:
            (thing,) = changed
            goal = entity(base_of(thing), holder)
        if not thing:  # of a drawer that no list told of
            return
        self.take(thing, action, span)
        if goal != thing:
            self._rename(thing, goal)
        if holder == INVENTORY:
            self.add(Triple(goal, "is in", INVENTORY), span)
        elif holder:
            self.put(goal, holder, span)
            if holder.startswith("sink in ") and Triple(holder, "is", "on") in self.graph:
                self.set_empty(goal, empty=False)

    def _rename(self, old: str, new: str) -> None:
        """Furniture is called by where it stands: what is known of it moves along."""
        for fact in self.graph.outgoing(old):
            if fact.relation == "is" or is_contents(fact.relation):
                self.retire(fact)
                self.add(fact._replace(subject=new))

    def put(self, thing: str, holder: str, span: Span, *, number: int = 1) -> None:
        """One more thing, or several, in a holder."""
        there = self._number(holder, thing)
        self._renumber(holder, thing, there, there + number, span)
        self.set_empty(holder, empty=False)

    def take(self, thing: str, action: str, span: Span = NOWHERE) -> str:
        """One thing fewer where it was; returns the holder, empty where that is not known."""
        holder = self.holder_of(thing, action)
        if holder:
            there = self._number(holder, thing)
            self._renumber(holder, thing, there, there - 1, span)
            if there == 1 and holder != self.room and len(list(self.contents(holder))) == 1:
                self.set_empty(holder, empty=holder != INVENTORY, span=span)
        return holder

    def holder_of(self, thing: str, action: str) -> str:
        """Where a thing at hand is; the command may say which of several is meant."""
        holders = [INVENTORY] if Triple(thing, "is in", INVENTORY) in self.graph else []
        holders += [
            fact.subject
            for fact in self.graph.incoming(thing)
            if is_contents(fact.relation) and self.is_at_hand(fact.subject)
        ]
        for holder in holders:
            if holder.split(" in ")[0] in action.replace(thing, "", 1):
                return holder
        return holders[0] if holders else ""

    def is_at_hand(self, holder: str) -> bool:
        """Whether a holder is the room, or in it, or carried."""
        seen = set()
        todo = [holder]
        while todo:
            place = todo.pop()
            if place in (self.room, INVENTORY):
                return True
            if place not in seen:
                seen.add(place)
                todo += [
                    f.object if f.relation == "is in" else f.subject
                    for f in (*self.graph.outgoing(place), *self.graph.incoming(place))
                    if (is_contents(f.relation) and f.object == place)
                    or (f.relation == "is in" and f.subject == place)
                ]
        return False

    def meant(self, name: str, action: str) -> str:
        """What facts call the thing at hand that the text calls ``name``.

        That may be longer: *table* is ``table in kitchen``, *inclined plane* one of two. The
        command may say which; else it is the first one known.
        """
        words = set(name.split())
        found = [
            thing
            for thing in self._places()[1:]
            if thing == name or (words <= set(thing.partition(" in ")[0].split()))
        ]
        exact = [thing for thing in found if thing.partition(" in ")[0] == name]
        rest = action.replace(name, "", 1)
        for thing in exact or found:
            short, _, holder = thing.partition(" in ")
            more = holder.split(" in ")[0] if short == name else short
            if more and more in (rest if short == name else action):
                return thing
        unknown = "" if name == "drawer" else entity(name, self.room)
        return (exact or found or [unknown])[0]

    def _places(self) -> list[str]:
        """The room, what is in it and what is carried, as far as the graph knows."""
        places = [self.room, *(fact.subject for fact in self.contents(INVENTORY))]
        for place in places:
            places += [f.object for f in self.contents(place) if f.object not in places]
        return places

    def _number(self, holder: str, thing: str) -> int:
        if (holder, thing) in self._numbers:
            return self._numbers[holder, thing]
        for fact in self.contents(holder):
            if thing in (fact.subject, fact.object):
                return int(fact.relation.rpartition(" ")[2]) if fact.relation[-1].isdigit() else 1
        return 0

    def _renumber(self, holder: str, thing: str, before: int, after: int, span: Span) -> None:
        self._numbers[holder, thing] = after
        if before:
            self.retire(_held(holder, thing, before))
        if after > 0:
            self.add(_held(holder, thing, after), span)


def _held(holder: str, thing: str, number: int) -> Triple:
    if holder == INVENTORY:
        return Triple(thing, "is in", INVENTORY)
    if is_plant(holder) or roams(thing):
        return Triple(thing, SIGHTED, holder)
    return Triple(holder, contains(number), thing)
