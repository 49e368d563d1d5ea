"""Extraction rules for ALFWorld: the text of a step to facts.

The world is one room with furniture; the agent stands *at* a piece of furniture, things are in
or on it. Both grammars are read, the one that says *put* and the one that says *move*. Beyond
what a text says, these follow:

* complete listings: what furniture or the inventory no longer lists is no longer there;
* furniture whose last thing was taken is empty, and no longer so once something is put there;
* what is put into furniture that opens is in it, and on it otherwise.

What the facts look like is told in :mod:`gym_memory.games.alfworld.facts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract.base import Extraction, Mention, Pattern
from gym_memory.extract.notes.phrases import Phrase, split_things
from gym_memory.games.alfworld.rules_goal import read_goal, subgoals
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import INVENTORY, LOCATIONS, PLAYER

__all__ = ["ALFWorldRules"]

_ROOM_NAME = "room"
_MAX_TEXT_CHARS = 20_000
_NAME = r"[a-z]+ \d+"
_SEEN = r"you see (?P<things>[^.]*)\."

_ROOM = re.compile(rf"You are in the middle of a room\. Looking quickly around you, {_SEEN}")
_ARRIVED = re.compile(r"You arrive at (?P<place>[^.]+)\.")
_FACING = re.compile(rf"You are facing the (?P<place>{_NAME})\.")
_CLOSED = re.compile(rf"(?:The (?P<found>{_NAME}) is closed|You close the (?P<shut>{_NAME}))\.")
_LISTED = re.compile(
    rf"(?:The (?P<opened>{_NAME}) is open\. In it|On the (?P<top>{_NAME})), {_SEEN}"
)
_TAKEN = re.compile(rf"You pick up the (?P<thing>{_NAME}) from the (?P<holder>{_NAME})\.")
_PUT = re.compile(
    rf"You (?:move|put) the (?P<thing>{_NAME}) (?:to|in/on|in|on) the (?P<holder>{_NAME})\."
)
_TREATED = re.compile(
    rf"You (?:(?P<verb>clean|heat|cool) the (?P<thing>{_NAME}) using"
    rf"|sliced? the (?P<sliced>{_NAME}) with) the {_NAME}\."
)
_SWITCHED = re.compile(
    rf"(?:You turn (?P<turned>on|off) the (?P<thing>{_NAME})"
    rf"|This (?P<lamp>{_NAME}) is (?P<state>on|off))\."
)
_EXAMINED = re.compile(
    rf"This is an? (?P<states>(?:(?:hot|cold|cool|clean|sliced|and) )+)(?P<thing>{_NAME})\."
)
_VESSEL = re.compile(rf"This is a normal (?P<holder>{_NAME})\. In it, {_SEEN}")
_CARRYING = re.compile(r"You are (?:carrying: (?P<things>[^.]*)|not carrying anything)\.")
_GOING = re.compile(rf"go to (?P<place>{_NAME})")
_STATES = {"heat": "hot", "cold": "cool"}


class ALFWorldRules:
    r"""The extraction role for ALFWorld, by rules.

    >>> from gym_memory.graph import TemporalGraph
    >>> step = Step(1, "You arrive at desk 1. On the desk 1, you see a cd 2, and a pen 1.")
    >>> for mention in ALFWorldRules().extract(step, TemporalGraph(), Task("t", "")).mentions:
    ...     print(mention.triple)
    you, is at, desk 1
    cd 2, is on, desk 1
    pen 1, is on, desk 1
    """

    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """Facts of one step; see :class:`~gym_memory.extract.base.Extractor`."""
        draft = _Draft(graph)
        text = _sentences(step.text[:_MAX_TEXT_CHARS])
        draft.look_around(text)
        draft.arrive(text, " ".join(step.action.split()))
        draft.see(text)
        draft.handle(text)
        draft.carry(text, evidence=True)
        draft.carry(_sentences(step.inventory[:_MAX_TEXT_CHARS]), evidence=False)
        for mention in read_goal(step.text[:_MAX_TEXT_CHARS]):
            draft.add(*mention)
        return draft.extraction()

    def subgoals(self, goal: str) -> tuple[str, ...]:
        """The errands of a task; empty where it is none of ALFWorld's."""
        return subgoals(goal)


class _Draft:
    """The extraction of one step while it grows; knows the graph before the step."""

    def __init__(self, graph: TemporalGraph) -> None:
        self._graph = graph
        self._mentions: dict[Triple, Mention] = {}
        self._outdated: dict[Pattern, None] = {}

    def add(self, triple: Triple, start: int = -1, end: int = -1) -> None:
        """Add a fact with its evidence."""
        self._mentions.setdefault(triple, Mention(triple, start, end))

    def extraction(self) -> Extraction:
        """All facts."""
        return Extraction(tuple(self._mentions.values()), tuple(self._outdated))

    def look_around(self, text: str) -> None:
        """The room with its furniture."""
        found = _ROOM.search(text)
        if found is not None:
            self.add(Triple(PLAYER, "is in", _ROOM_NAME), *found.span())
            for thing in _things(found):
                self._place(thing, "is in", _ROOM_NAME)

    def arrive(self, text: str, action: str) -> None:
        """Where the agent stands now.

        The older grammar says ``loc 12`` for a place; then the command tells, or what is seen.
        """
        arrived, facing = _ARRIVED.search(text), _FACING.search(text)
        if arrived is not None:
            going = _GOING.fullmatch(action)
            seen = _LISTED.search(text) or _CLOSED.search(text)
            place = arrived["place"]
            if going is not None:
                place = going["place"]
            elif place.startswith("loc ") and seen is not None:
                place = next(name for name in seen.groups() if name)
            self.add(Triple(PLAYER, "is at", place), *arrived.span())
        elif facing is not None and self._graph.value(PLAYER, "location") is None:
            self.add(Triple(PLAYER, "is at", facing["place"]), *facing.span("place"))

    def see(self, text: str) -> None:
        """What is open or closed, and what is in or on it."""
        for found in _CLOSED.finditer(text):
            self.add(Triple(found["found"] or found["shut"], "is", "closed"), *found.span())
        for found in _LISTED.finditer(text):
            holder, opened = found["opened"] or found["top"], found["opened"] is not None
            if opened:
                self.add(Triple(holder, "is", "open"), *found.span("opened"))
            things = _things(found)
            for thing in things:
                self._place(thing, "is in" if opened else "is on", holder)
            self._only(holder, {thing.name for thing in things})
            if not things:
                self.add(Triple(holder, "is", "empty"), *found.span())
        for found in _VESSEL.finditer(text):
            for thing in _things(found):
                self.add(Triple(found["holder"], "contains", thing.name), thing.start, thing.end)

    def handle(self, text: str) -> None:
        """What was taken, put, treated, switched or examined."""
        for found in _TAKEN.finditer(text):
            self.add(Triple(found["thing"], "is in", INVENTORY), *found.span())
            if [fact.subject for fact in self._inside(found["holder"])] == [found["thing"]]:
                self.add(Triple(found["holder"], "is", "empty"), *found.span())
        for found in _PUT.finditer(text):
            thing, holder = found["thing"], found["holder"]
            opens = self._graph.value(holder, "openness") is not None
            self.add(Triple(thing, "is in" if opens else "is on", holder), *found.span())
            self._outdated[Pattern(holder, "is", "empty")] = None
        for found in _TREATED.finditer(text):
            state = _STATES.get(found["verb"], found["verb"]) if found["verb"] else "sliced"
            self.add(Triple(found["thing"] or found["sliced"], "is", state), *found.span())
        for found in _SWITCHED.finditer(text):
            lamp, state = found["thing"] or found["lamp"], found["turned"] or found["state"]
            self.add(Triple(lamp, "is", state), *found.span())
        for found in _EXAMINED.finditer(text):
            for word in found["states"].split():
                if word != "and":
                    self.add(Triple(found["thing"], "is", _STATES.get(word, word)), *found.span())

    def carry(self, text: str, *, evidence: bool) -> None:
        """What is held, as the inventory lists it.

        Args:
            text: The inventory, or a text that may hold it.
            evidence: Whether spans point into the step's text.
        """
        found = _CARRYING.search(text)
        if found is not None:
            things = _things(found)
            for thing in things:
                span = (thing.start, thing.end) if evidence else ()
                self.add(Triple(thing.name, "is in", INVENTORY), *span)
            self._only(INVENTORY, {thing.name for thing in things})

    def _place(self, thing: Phrase, relation: str, place: str) -> None:
        self.add(Triple(thing.name, relation, place), thing.start, thing.end)

    def _inside(self, holder: str) -> Iterator[Triple]:
        for fact in self._graph.incoming(holder):
            if fact.relation in LOCATIONS and fact.subject != PLAYER:
                yield fact

    def _only(self, holder: str, names: set[str]) -> None:
        """Retire what a complete listing leaves out."""
        for fact in self._inside(holder):
            if fact.subject not in names:
                self._outdated[Pattern(*fact)] = None


def _sentences(text: str) -> str:
    """A text up to its last full stop, at which every pattern ends.

    Else a sentence that is begun again and again and never ended is searched to the end of the
    text each time.
    """
    return text[: text.rfind(".") + 1]


def _things(found: re.Match[str]) -> tuple[Phrase, ...]:
    return split_things(found["things"], found.start("things")) if found["things"] else ()
