"""What was demonstrated: the steps that matter, the house, and what was chosen among what."""

from __future__ import annotations

import os
import re
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from gym_memory.baselines.imitating.phrases import Act, masked, parse, things_in, words
from gym_memory.baselines.imitating.scene import (
    is_move,
    is_refused,
    is_view,
    room_of,
)
from gym_memory.trajectory import Trajectory, read_trajectory

__all__ = [
    "Demonstration",
    "House",
    "Lore",
    "Move",
    "condition_of",
    "in_terms_of",
    "learn",
    "nearest",
]

_EXIT = re.compile(r"A door to the ([\w ]+?) \(")
_TOKEN = re.compile(r"[\w.-]+|[^\w\s]")
_CONDITION = re.compile(r"[Ii]f ([^,.]*(?:\d\.\d[^,.]*)?), ([^.]*)\.")


class Move(NamedTuple):
    """A step that matters.

    Attributes:
        act: What was done.
        room: Where.
        answer: What came of it, with every number alike.
        carried: What the agent carried afterwards.
    """

    act: Act
    room: str
    answer: str
    carried: frozenset[str]


class Demonstration(NamedTuple):
    """A played task: its goal and its moves, going about left out."""

    task: str
    goal: str
    moves: tuple[Move, ...]


class House:
    """The ways between the rooms, and how often a thing was seen in which."""

    def __init__(self) -> None:
        self.exits: dict[str, set[str]] = {}
        self.seen: dict[str, Counter[str]] = {}

    def look(self, room: str, view: str) -> None:
        """Learn from the view of a room."""
        for beyond in _EXIT.findall(view):
            self.exits.setdefault(room, set()).add(beyond)
            self.exits.setdefault(beyond, set()).add(room)
        for thing in things_in(view):
            self.seen.setdefault(thing.name, Counter())[room] += 1

    def way(self, here: str, there: str) -> list[str]:
        """The rooms on the shortest way, without the first; empty where there is none."""
        before: dict[str, str] = {here: ""}
        queue = deque([here])
        while queue and there not in before:
            room = queue.popleft()
            for beyond in sorted(self.exits.get(room, ())):
                if beyond not in before:
                    before[beyond] = room
                    queue.append(beyond)
        if there not in before:
            return []
        path = [there]
        while before[path[-1]]:
            path.append(before[path[-1]])
        return path[::-1][1:]

    def likely(self, phrase: str) -> Counter[str]:
        """How often things whose name holds all words of a phrase were seen in each room."""
        total: Counter[str] = Counter()
        for name, rooms in self.seen.items():
            if words(phrase) <= words(name):
                total.update(rooms)
        return total


class Lore(NamedTuple):
    """All that was learnt.

    Attributes:
        demonstrations: In the order of recording.
        house: The house.
        chosen: By task and word: how often a thing so called was the one to focus on.
        passed: Likewise, how often it was in sight then.
    """

    demonstrations: tuple[Demonstration, ...]
    house: House
    chosen: dict[str, Counter[str]]
    passed: dict[str, Counter[str]]

    def liking(self, task: str, name: str) -> float:
        """How likely a thing in sight is the one to focus on, by its words, in (0, 1]."""
        chosen, passed = self.chosen.get(task, Counter()), self.passed.get(task, Counter())
        told = [(chosen[word] + 0.1) / (passed[word] + 0.5) for word in sorted(words(name))]
        return min(1.0, sum(told) / len(told)) if told else 0.0


def learn(path: str | os.PathLike[str]) -> Lore:
    """Learn from a recorded file; episodes that were not won teach nothing.

    Raises:
        ResultsError: The file is not a recording.
    """
    played = [t for t in read_trajectory(path) if t.outcome.success]
    lore = Lore((), House(), {}, {})
    found = tuple(_demonstration(trajectory, lore) for trajectory in played)
    return lore._replace(demonstrations=found)


def _demonstration(trajectory: Trajectory, lore: Lore) -> Demonstration:
    task = trajectory.task.id.split("/")[-2]
    moves: list[Move] = []
    room, view, focused = "", "", ""
    for step in trajectory.steps:
        room = room_of(step.text) or room
        if is_view(step.text):
            view = step.text
            lore.house.look(room, view)
        if step.action.isdigit() and moves:  # which of several was meant
            moves[-1] = moves[-1]._replace(answer=masked(step.text))
        if not step.action or is_refused(step.text) or step.action.isdigit():
            continue
        act = parse(step.action)
        if is_move(act) or (act.verb == "open" and "is already" in step.text):
            continue
        if act.verb == "focus on":
            _choose(lore, task, act, view)
            focused = act.things[0]
        elif act.verb == "pick up" and focused:
            act = act._replace(things=(_with(act.things[0], focused, view),))
        carried = frozenset(thing.name for thing in things_in(step.inventory))
        moves.append(Move(act, room, masked(step.text), carried))
    return Demonstration(task, trajectory.task.goal, tuple(moves))


def _with(phrase: str, focused: str, view: str) -> str:
    """A thing that was picked up, with what was focused on where that is in it."""
    for thing in things_in(view):
        if words(phrase) <= words(thing.name) and words(focused) <= words(thing.line):
            return phrase if words(phrase) & words(focused) else f"{phrase} containing {focused}"
    return phrase


def _choose(lore: Lore, task: str, act: Act, view: str) -> None:
    lore.chosen.setdefault(task, Counter()).update(words(act.things[0]))
    passed = lore.passed.setdefault(task, Counter())
    for thing in things_in(view):
        passed.update(words(thing.name))


# ------------------------------------------------------------------- goals


@lru_cache(maxsize=256)
def _changes(there: str, here: str) -> tuple[tuple[str, str], ...]:
    """What one goal says in the place of what another says, longest first."""
    first, second = _TOKEN.findall(there.lower()), _TOKEN.findall(here.lower())
    found = []
    for kind, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if kind == "replace":
            found.append((" ".join(first[a:b]), " ".join(second[c:d])))
    return tuple(sorted(found, key=lambda pair: -len(pair[0])))


@lru_cache(maxsize=1 << 14)
def in_terms_of(act: Act, there: str, here: str) -> Act:
    """A demonstrated action with what this goal says in the place of what that one said."""
    return act._replace(things=tuple(_put(thing, _changes(there, here)) for thing in act.things))


def _put(phrase: str, changes: Sequence[tuple[str, str]]) -> str:
    marked = f" {phrase} "
    for number, (before, _) in enumerate(changes):
        marked = marked.replace(f" {before} ", f" <{number}> ")
    for number, (_, after) in enumerate(changes):
        marked = marked.replace(f"<{number}>", after)
    return marked.strip()


def condition_of(goal: str, phrase: str) -> tuple[str, str]:
    """The condition on which a goal asks for a thing, and what it asks for otherwise.

    >>> condition_of("If it is hot, use the red box. If it is cold, use the blue box.", "red box")
    ('it is hot', 'use the blue box')
    """
    clauses = _CONDITION.findall(goal)
    for number, (condition, asked) in enumerate(clauses):
        if len(clauses) == 2 and words(phrase) <= words(asked):
            return condition, clauses[1 - number][1]
    return "", ""


def nearest(goal: str, demonstrations: Iterable[Demonstration]) -> list[Demonstration]:
    """Demonstrations by how near their goals are, the best first.

    Words of a demonstration's goal that the present one does not have count against it, most where
    its moves do not name them: what was done there to a named thing can be done here to another.
    """
    asked = words(goal)

    def unlike(one: Demonstration) -> float:
        alike = len(asked & words(one.goal)) / len(asked | words(one.goal))
        named = {word for move in one.moves for thing in move.act.things for word in words(thing)}
        other = words(one.goal) - asked
        return 0.3 * len(other - named) / len(other or "-") - alike

    return sorted(demonstrations, key=unlike)
