"""Extraction rules for ALFWorld: furniture in one room, with objects in or on it.

The agent is *at* a piece of furniture. The rules read both grammars, with *put* and with *move*.
Furniture becomes empty when its last object is taken. Objects are *in* furniture that opens and
*on* all other furniture. ``docs/alfworld.md`` lists the facts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import Extraction, Mention
from gym_memory.extract.draft import NOWHERE, Draft, attributed
from gym_memory.extract.notes.words import Phrase, split_things
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import INVENTORY, PLAYER

__all__ = ["ALFWorldRules", "HouseholdTask", "goal_in", "read_goal"]

_ROOM, _TASK = "room", "task"
_MAX_TEXT_CHARS = 20_000
_NAME = r"[a-z]+ \d+"
_SEEN = r"you see (?P<things>[^.]*)\."

_ROOM_SEEN = re.compile(rf"You are in the middle of a room\. Looking quickly around you, {_SEEN}")
_ARRIVED = re.compile(r"You arrive at (?P<place>[^.]+)\.")
_FACING = re.compile(rf"You are facing the (?P<place>{_NAME})\.")
_GOING = re.compile(rf"go to (?P<place>{_NAME})")
_CLOSED = re.compile(rf"(?:The (?P<found>{_NAME}) is closed|You close the (?P<shut>{_NAME}))\.")
_LISTED = re.compile(
    rf"(?:The (?P<opened>{_NAME}) is open\. In it|On the (?P<top>{_NAME})), {_SEEN}"
)
_CARRYING = re.compile(r"You are (?:carrying: (?P<things>[^.]*)|not carrying anything)\.")
_STATES = {"heat": "hot", "cold": "cool"}


class ALFWorldRules:
    r"""Extraction rules for one step.

    >>> step = Step(1, "You arrive at desk 1. On the desk 1, you see a cd 2, and a pen 1.")
    >>> for mention in ALFWorldRules().extract(step, TemporalGraph(), Task("t", "")).mentions:
    ...     print(mention.triple)
    you, is at, desk 1
    cd 2, is on, desk 1
    pen 1, is on, desk 1
    """

    @attributed
    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """See :class:`~gym_memory.extract.Extractor`."""
        draft = Draft(graph)
        whole = step.text[:_MAX_TEXT_CHARS]
        text = _whole_sentences(whole)
        _look_around(draft, text)
        _arrive(draft, text, " ".join(step.action.split()))
        for pattern, read in _SENTENCE_RULES:
            for found in pattern.finditer(text):
                read(draft, found)
        _carry(draft, text, evidence=True)
        _carry(draft, _whole_sentences(step.inventory[:_MAX_TEXT_CHARS]), evidence=False)
        for triple, start, end in read_goal(whole):
            draft.add(*triple, start, end)
        return draft.extraction()

    def subgoals(self, goal: str) -> tuple[str, ...]:
        """Return the steps of a task as words of commands; empty for other tasks.

        >>> ALFWorldRules().subgoals("put a hot apple in fridge")
        ('take apple', 'heat apple', 'move apple to fridge')
        """
        wanted = goal_in(goal)
        if wanted is None:
            return ()
        steps = [f"take {wanted.thing}"]
        if wanted.state:
            steps.append(f"{_VERB_OF_STATE[wanted.state]} {wanted.thing}")
        if wanted.place:
            steps.append(f"move {wanted.thing} to {wanted.place}")
        return (*steps, f"use {wanted.lamp}") if wanted.lamp else tuple(steps)


def _whole_sentences(text: str) -> str:
    """Return a text up to its last full stop, because all patterns end with one.

    Without this, each unfinished sentence would be searched to the end of the text.
    """
    return text[: text.rfind(".") + 1]


def _things(found: re.Match[str]) -> tuple[Phrase, ...]:
    return split_things(found["things"], found.start("things")) if found["things"] else ()


def _look_around(draft: Draft, text: str) -> None:
    found = _ROOM_SEEN.search(text)
    if found is not None:
        draft.enter(_ROOM, found.span())
        for thing in _things(found):
            draft.place(thing, "is in", _ROOM)


def _arrive(draft: Draft, text: str, action: str) -> None:
    """Record the agent's move to the furniture named in the text, the command or the view.

    The older grammar calls a place ``loc 12``.
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
        draft.add(PLAYER, "is at", place, *arrived.span())
    elif facing is not None and not draft.left:
        draft.add(PLAYER, "is at", facing["place"], *facing.span("place"))


def _carry(draft: Draft, text: str, *, evidence: bool) -> None:
    """Read an inventory; ``evidence`` is True if it is part of the step's text."""
    found = _CARRYING.search(text)
    if found is not None:
        things = _things(found)
        for thing in things:
            span = (thing.start, thing.end) if evidence else NOWHERE
            draft.add(thing.name, "is in", INVENTORY, *span)
        draft.keep_only(INVENTORY, {thing.name for thing in things})


def _closed(draft: Draft, found: re.Match[str]) -> None:
    draft.add(found["found"] or found["shut"], "is", "closed", *found.span())


def _listed(draft: Draft, found: re.Match[str]) -> None:
    holder, opened = found["opened"] or found["top"], found["opened"] is not None
    if opened:
        draft.add(holder, "is", "open", *found.span("opened"))
    things = _things(found)
    for thing in things:
        draft.place(thing, "is in" if opened else "is on", holder)
    draft.keep_only(holder, {thing.name for thing in things})
    if not things:
        draft.add(holder, "is", "empty", *found.span())


def _vessel(draft: Draft, found: re.Match[str]) -> None:
    for thing in _things(found):
        draft.add(found["holder"], "contains", thing.name, thing.start, thing.end)


def _taken(draft: Draft, found: re.Match[str]) -> None:
    draft.add(found["thing"], "is in", INVENTORY, *found.span())
    if [fact.subject for fact in draft.contents(found["holder"])] == [found["thing"]]:
        draft.add(found["holder"], "is", "empty", *found.span())


def _put(draft: Draft, found: re.Match[str]) -> None:
    opens = draft.graph.value(found["holder"], "openness") is not None
    draft.add(found["thing"], "is in" if opens else "is on", found["holder"], *found.span())
    draft.outdate(found["holder"], "is", "empty")


def _treated(draft: Draft, found: re.Match[str]) -> None:
    state = _STATES.get(found["verb"], found["verb"]) if found["verb"] else "sliced"
    draft.add(found["thing"] or found["sliced"], "is", state, *found.span())


def _switched(draft: Draft, found: re.Match[str]) -> None:
    lamp, state = found["thing"] or found["lamp"], found["turned"] or found["state"]
    draft.add(lamp, "is", state, *found.span())


def _examined(draft: Draft, found: re.Match[str]) -> None:
    for word in found["states"].split():
        if word != "and":
            draft.add(found["thing"], "is", _STATES.get(word, word), *found.span())


_Read = Callable[[Draft, "re.Match[str]"], None]
_SENTENCE_RULES: tuple[tuple[re.Pattern[str], _Read], ...] = tuple(
    (re.compile(pattern), read)
    for pattern, read in (
        (_CLOSED, _closed),
        (_LISTED, _listed),
        (rf"This is a normal (?P<holder>{_NAME})\. In it, {_SEEN}", _vessel),
        (rf"You pick up the (?P<thing>{_NAME}) from the (?P<holder>{_NAME})\.", _taken),
        (rf"You (?:move|put) the (?P<thing>{_NAME}) (?:to|in/on|in|on) the (?P<holder>{_NAME})\.",
         _put),
        (rf"You (?:(?P<verb>clean|heat|cool) the (?P<thing>{_NAME}) using"
         rf"|sliced? the (?P<sliced>{_NAME}) with) the {_NAME}\.", _treated),
        (rf"(?:You turn (?P<turned>on|off) the (?P<thing>{_NAME})"
         rf"|This (?P<lamp>{_NAME}) is (?P<state>on|off))\.", _switched),
        (rf"This is an? (?P<states>(?:(?:hot|cold|cool|clean|sliced|and) )+)(?P<thing>{_NAME})\.",
         _examined),
    )
)  # fmt: skip

_ARTICLE = r"(?:an?|some|the)"
_GOAL = re.compile(
    rf"(?:look at|examine)(?: {_ARTICLE})? (?P<seen>\w+) (?:under|with) the (?P<lamp>\w+)"
    rf"|(?P<verb>clean|heat|cool) {_ARTICLE} (?P<treated>\w+) and put it (?:in|on) (?P<there>\w+)"
    r"|(?:find|put) (?P<two>two) (?P<pair>\w+) (?:and put them )?(?:in|on) (?P<both>\w+)"
    rf"|put {_ARTICLE} (?:(?P<state>clean|hot|cool) )?(?P<thing>\w+) (?:in|on) (?P<place>\w+)",
    re.IGNORECASE,
)
_TASK_INTRODUCTION = re.compile(r"Your task is to:\s*")
_VERB_OF_STATE = {"clean": "clean", "hot": "heat", "cool": "cool"}
_STATE_AFTER = {"clean": "clean", "heat": "hot", "cool": "cool", "hot": "hot"}


class HouseholdTask(NamedTuple):
    """A task by the kinds of its objects; kinds that it does not name are empty."""

    thing: str
    number: int = 1
    state: str = ""
    place: str = ""
    lamp: str = ""


def goal_in(text: str, start: int = 0) -> HouseholdTask | None:
    """Return the task at ``start`` of a text; None if it is no ALFWorld task.

    >>> goal_in("put a hot apple in fridge")
    HouseholdTask(thing='apple', number=1, state='hot', place='fridge', lamp='')
    """
    found = _GOAL.match(text, start)
    if found is None:
        return None
    said = {name: word.lower() for name, word in found.groupdict().items() if word}
    return HouseholdTask(
        said.get("seen") or said.get("treated") or said.get("pair") or said["thing"],
        2 if "two" in said else 1,
        _STATE_AFTER.get(said.get("verb") or said.get("state", ""), ""),
        said.get("there") or said.get("both") or said.get("place", ""),
        said.get("lamp", ""),
    )


def read_goal(text: str) -> Iterator[Mention]:
    """Yield the facts of the task in a text."""
    stated = _TASK_INTRODUCTION.search(text)
    goal = goal_in(text, stated.end()) if stated else None
    if stated is None or goal is None:
        return
    span = stated.end(), len(text.rstrip())
    yield Mention(Triple(_TASK, "requires", goal.thing), *span)
    if goal.number > 1:
        yield Mention(Triple(_TASK, "requires number", "two"), *span)
    if goal.state:
        yield Mention(Triple(goal.thing, "needs to be", goal.state), *span)
    if goal.place:
        yield Mention(Triple(goal.thing, "belongs in", goal.place), *span)
    if goal.lamp:
        yield Mention(Triple(goal.thing, "is looked at under", goal.lamp), *span)
