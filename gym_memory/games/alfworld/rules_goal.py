"""The tasks of ALFWorld in words: what is wanted, made how, and where."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gym_memory.core.records import Triple
from gym_memory.extract.base import Mention

__all__ = ["Goal", "goal_in", "read_goal", "subgoals"]

_TASK = "task"
_SOME = r"(?:an?|some|the)"
_GOAL = re.compile(
    rf"(?:look at|examine)(?: {_SOME})? (?P<seen>\w+) (?:under|with) the (?P<lamp>\w+)"
    rf"|(?P<verb>clean|heat|cool) {_SOME} (?P<treated>\w+) and put it (?:in|on) (?P<there>\w+)"
    r"|(?:find|put) (?P<two>two) (?P<pair>\w+) (?:and put them )?(?:in|on) (?P<both>\w+)"
    rf"|put {_SOME} (?:(?P<state>clean|hot|cool) )?(?P<thing>\w+) (?:in|on) (?P<place>\w+)",
    re.IGNORECASE,
)
_STATED = re.compile(r"Your task is to:\s*")
_HOW = {"clean": "clean", "hot": "heat", "cool": "cool"}
_DONE = {"clean": "clean", "heat": "hot", "cool": "cool", "hot": "hot"}


class Goal(NamedTuple):
    """A task.

    Attributes:
        thing: Kind of thing, ``mug``.
        number: How many, 1 or 2.
        state: ``clean``, ``hot``, ``cool``, or empty where it is to stay as it is.
        place: Kind of furniture where it is to go; empty for looking at it.
        lamp: Kind of lamp to look at it under; empty otherwise.
    """

    thing: str
    number: int = 1
    state: str = ""
    place: str = ""
    lamp: str = ""


def goal_in(text: str, start: int = 0) -> Goal | None:
    """The task that a text states from ``start`` on; None if it is none of these.

    >>> goal_in("put a hot apple in fridge")
    Goal(thing='apple', number=1, state='hot', place='fridge', lamp='')
    """
    found = _GOAL.match(text, start)
    if found is None:
        return None
    said = {name: word.lower() for name, word in found.groupdict().items() if word}
    return Goal(
        said.get("seen") or said.get("treated") or said.get("pair") or said["thing"],
        2 if "two" in said else 1,
        _DONE.get(said.get("verb") or said.get("state", ""), ""),
        said.get("there") or said.get("both") or said.get("place", ""),
        said.get("lamp", ""),
    )


def read_goal(text: str) -> Iterator[Mention]:
    """The facts of a task that a text states."""
    stated = _STATED.search(text)
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


def subgoals(text: str) -> tuple[str, ...]:
    """The errands of a task, in the words of the commands that do them; empty for other tasks.

    >>> subgoals("put a hot apple in fridge")
    ('take apple', 'heat apple', 'move apple to fridge')
    """
    goal = goal_in(text)
    if goal is None:
        return ()
    errands = [f"take {goal.thing}"]
    if goal.state:
        errands.append(f"{_HOW[goal.state]} {goal.thing}")
    if goal.place:
        errands.append(f"move {goal.thing} to {goal.place}")
    return (*errands, f"use {goal.lamp}") if goal.lamp else tuple(errands)
