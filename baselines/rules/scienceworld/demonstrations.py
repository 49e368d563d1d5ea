"""Read demonstrations: relevant steps, the map of the house, and focused objects."""

from __future__ import annotations

import dataclasses
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.baselines.rules.plan import RulePlan, track_novelty
from gym_memory.baselines.rules.scienceworld.phrases import (
    Act,
    fit,
    masked,
    parse,
    recipe_in,
    shows_trait,
    things_in,
    words,
)
from gym_memory.baselines.rules.scienceworld.scene import (
    is_move,
    is_refused,
    is_view,
    measured,
    room_of,
)
from gym_memory.core.text import compounds
from gym_memory.core.trajectory import Trajectory, read_trajectory
from gym_memory.graph.map import shortest_path

__all__ = ["Demonstration", "HouseMap", "ShownKnowledge", "ShownMove", "is_demonstrated", "learn"]
__all__ += ["nearest", "usual_pause"]

_EXIT = re.compile(r"A door to the ([\w ]+?) \(")
_BOX = re.compile(r"\w+ box\b")
"""A box with a colour, which differs between goals."""
_MAX_ROUND_STEPS = 25


class ShownMove(NamedTuple):
    """A relevant step of a demonstration.

    Numbers in ``answer`` are masked; ``looks`` has, for each object, its line in the last view.
    """

    act: Act
    room: str
    answer: str
    carried: frozenset[str]
    looks: tuple[str, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Demonstration:
    """A demonstrated task: its goal and its moves, without moves between rooms.

    ``measured`` has the stopwatch time of each object, ``pause`` the largest number of consecutive
    steps without anything new, and ``shown`` is True if the goal's trait was in view at the end.
    ``rounds`` has sequences of moves that are repeated before a focus or until the end, each as the
    start and stop of its last repetition.
    """

    task: str
    goal: str
    moves: tuple[ShownMove, ...]
    recipe: tuple[str, ...] = ()
    measured: dict[str, int] = dataclasses.field(default_factory=dict)
    shown: bool | None = None
    pause: int = 0
    rounds: tuple[tuple[int, int], ...] = dataclasses.field(init=False)
    focuses: NDArray[np.bool_] = dataclasses.field(init=False)
    repeats: NDArray[np.bool_] = dataclasses.field(init=False)
    repeated: NDArray[np.bool_] = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        acts = [move.act for move in self.moves]
        same = np.array([False, *(one == other for one, other in pairwise(acts)), False])
        focuses = np.array([act.verb == "focus on" for act in acts])
        object.__setattr__(self, "focuses", focuses)
        object.__setattr__(self, "repeats", same[:-1])
        object.__setattr__(self, "repeated", same[:-1] | same[1:])
        object.__setattr__(self, "rounds", tuple(_rounds(acts)))


def _rounds(acts: Sequence[Act]) -> Iterator[tuple[int, int]]:
    for end in range(2, len(acts) + 1):
        if end == len(acts) or acts[end].verb == "focus on":
            for size in range(1, min(_MAX_ROUND_STEPS, end // 2) + 1):
                last, before = acts[end - size : end], acts[end - 2 * size : end - size]
                if all(fit(one, other) > 0.6 for one, other in zip(last, before, strict=True)):
                    yield end - size, end
                    break


class HouseMap:
    """A map of the rooms, with counts of the objects seen in each."""

    def __init__(self) -> None:
        self.exits: dict[str, set[str]] = {}
        self.seen: dict[str, Counter[str]] = {}

    def look(self, room: str, view: str) -> None:
        """Add the exits and objects in the view of a room."""
        for beyond in _EXIT.findall(view):
            self.exits.setdefault(room, set()).add(beyond)
            self.exits.setdefault(beyond, set()).add(room)
        for thing in things_in(view):
            self.seen.setdefault(thing.name, Counter())[room] += 1

    def way(self, here: str, there: str) -> list[str]:
        """Return the rooms on the shortest way, without the first; empty if there is no way."""

        def ways(room: str) -> dict[str, str]:
            return {beyond: beyond for beyond in sorted(self.exits.get(room, ()))}

        return [move.place for move in shortest_path(here, there, ways) or ()]

    def likely(self, phrase: str) -> Counter[str]:
        """Count, by room, the sightings of objects whose names have all words of a phrase."""
        total: Counter[str] = Counter()
        for name, rooms in self.seen.items():
            if words(phrase) <= words(name):
                total.update(rooms)
        return total


class ShownKnowledge(NamedTuple):
    """A collection of demonstrations with statistics.

    ``chosen`` counts focused objects by task and word of their name, ``passed`` the objects in view
    at the same time.
    """

    demonstrations: tuple[Demonstration, ...]
    house: HouseMap
    chosen: dict[str, Counter[str]]
    passed: dict[str, Counter[str]]

    def focus_chance(self, task: str, name: str) -> float:
        """Return the probability, in (0, 1], that the object to focus on has a name."""
        chosen, passed = self.chosen.get(task, Counter()), self.passed.get(task, Counter())
        shares = [(chosen[word] + 0.1) / (passed[word] + 0.5) for word in sorted(words(name))]
        return min(1.0, sum(shares) / len(shares)) if shares else 0.0


def learn(path: str | os.PathLike[str]) -> ShownKnowledge:
    """Learn from the won episodes of a recorded file."""
    played = [t for t in read_trajectory(path) if t.outcome.success]
    knowledge = ShownKnowledge((), HouseMap(), {}, {})
    found = tuple(_demonstration(trajectory, knowledge) for trajectory in played)
    return knowledge._replace(demonstrations=found)


def _demonstration(trajectory: Trajectory, knowledge: ShownKnowledge) -> Demonstration:
    task = trajectory.task.id.split("/")[-2]
    moves: list[ShownMove] = []
    room, view, focused = "", "", ""
    recipe: tuple[str, ...] = ()
    steps = [(parse(step.action), step.text) for step in trajectory.steps if step.action]
    plan, pause = RulePlan(), 0
    for step in trajectory.steps:
        idle, seen = track_novelty(plan, step.text, step.inventory)
        plan, pause = RulePlan(idle=idle, seen=seen), max(pause, idle)
        room = room_of(step.text) or room
        recipe = recipe or recipe_in(step.text)
        if is_view(step.text):
            view = step.text
            knowledge.house.look(room, view)
        if step.action.isdigit() and moves:  # the choice of an ambiguous action
            moves[-1] = moves[-1]._replace(answer=masked(step.text))
        if not step.action or is_refused(step.text) or step.action.isdigit():
            continue
        act = parse(step.action)
        if is_move(act) or (act.verb == "open" and "is already" in step.text):
            continue
        if act.verb == "focus on":
            focused = act.things[0]
            knowledge.chosen.setdefault(task, Counter()).update(words(focused))
            passed = knowledge.passed.setdefault(task, Counter())
            for thing in things_in(view):
                passed.update(words(thing.name))
        elif act.verb == "pick up" and focused:
            act = act._replace(things=(_with_content(act.things[0], focused, view),))
        carried = frozenset(thing.name for thing in things_in(step.inventory))
        looks = tuple(_look_of(phrase, view) for phrase in act.things)
        moves.append(ShownMove(act, room, masked(step.text), carried, looks))
    goal = trajectory.task.goal
    mark = shows_trait(goal, view)
    return Demonstration(task, goal, tuple(moves), recipe, measured(steps), mark, pause)


def _look_of(phrase: str, view: str) -> str:
    return next((t.line for t in things_in(view) if words(phrase) <= words(t.name)), "")


def _with_content(phrase: str, focused: str, view: str) -> str:
    for thing in things_in(view):
        if words(phrase) <= words(thing.name) and words(focused) <= words(thing.line):
            return phrase if words(phrase) & words(focused) else f"{phrase} containing {focused}"
    return phrase


@lru_cache(maxsize=1 << 8)
def is_demonstrated(goal: str, demonstrations: tuple[Demonstration, ...]) -> bool:
    """True if a goal belongs to a demonstrated task.

    Such a goal has all words that the task's goals share. It has at most two other words more than
    any of these goals, enough for another object, room or colour but not for another instruction.
    """
    goal_words = _tokens(goal)
    goals: dict[str, list[frozenset[str]]] = {}
    for one in demonstrations:
        goals.setdefault(one.task, []).append(_tokens(one.goal))
    for shown in goals.values():
        common = frozenset.intersection(*shown)
        own = max(len(words - common) for words in shown)
        unknown = "unknown" in goal_words and not any("unknown" in words for words in shown)
        if common <= goal_words and len(goal_words - common) <= own + 2 and not unknown:
            return True
    return False


def _tokens(goal: str) -> frozenset[str]:
    named = compounds(_BOX.sub("box", goal.lower()))
    return frozenset(word for word in named if not word[0].isdigit())


@lru_cache(maxsize=64)
def usual_pause(goal: str, demonstrations: tuple[Demonstration, ...]) -> int:
    """Return the longest pause, in steps, among demonstrations of the nearest task."""
    task = nearest(goal, demonstrations)[0][0].task
    return max(one.pause for one in demonstrations if one.task == task)


@lru_cache(maxsize=64)
def nearest(
    goal: str, demonstrations: tuple[Demonstration, ...]
) -> tuple[tuple[Demonstration, float], ...]:
    """Return demonstrations with the nearness of their goals, in [-0.3, 1], nearest first.

    Words that only the demonstrated goal has reduce its nearness, more so if no move names them: an
    action on a named object can be transferred to another object.
    """
    goal_words = words(goal)

    def near(one: Demonstration) -> float:
        alike = len(goal_words & words(one.goal)) / len(goal_words | words(one.goal))
        named = {word for move in one.moves for thing in move.act.things for word in words(thing)}
        other = words(one.goal) - goal_words
        return alike - 0.3 * len(other - named) / len(other or "-")

    found = [(one, near(one)) for one in demonstrations]
    return tuple(sorted(found, key=lambda pair: -pair[1]))
