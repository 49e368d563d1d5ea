"""Teachers: what a better player would do, in any state or in those of its own course."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import NamedTuple, Protocol

from gym_memory.baselines.registry import make_policy
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Observation
from gym_memory.core.trajectory import read_trajectory

__all__ = ["Advice", "PlannerTeacher", "Recorded", "Teacher"]


class Advice(NamedTuple):
    """What the teacher says; ``action`` is empty where it does not know, ``plan`` is its own."""

    action: str
    plan: str


class Teacher(Protocol):
    """Names an action in a state; keeps nothing of the episode but what the advice holds."""

    def advise(self, obs: Observation, task_id: str, before: Advice | None, action: str) -> Advice:
        """Its action here, by its advice of a step ago and what was done then."""
        ...


class PlannerTeacher:
    """The planner by rules, which goes by the observation alone, wherever the learner went.

    Args:
        dialect: Dialect of the texts.
    """

    def __init__(self, dialect: str):
        self._planner, self._dialect = make_policy("planner"), dialect

    def advise(self, obs: Observation, task_id: str, before: Advice | None, action: str) -> Advice:
        """The planner's action, by its plan of a step ago and what was really done then."""
        # Its chance is that of the state, so that the same state has the same label.
        chance = zlib.crc32(f"{task_id}\n{obs['text']}\n{obs['inventory']}".encode())
        self._planner.reset({"task_id": task_id, "dialect": self._dialect}, chance)
        if before is not None:
            # A published plan ends with the action advised.
            self._planner.focus = before.plan.removesuffix(before.action) + action
        advised = self._planner.act(obs, {})
        return Advice(advised, self._planner.focus)


class Recorded:
    """Recorded episodes, the best one of each game; knows the states of its own course only.

    Args:
        path: A trajectory file, or a folder with such files below it.

    Raises:
        InvalidArgumentError: There is none.
        ResultsError: A file is no trajectory.
    """

    def __init__(self, path: Path):
        files = [path] if path.is_file() else sorted(path.rglob("*.jsonl.gz"))
        best: dict[str, tuple[float, int, tuple[str, ...]]] = {}
        for file in files:
            for episode in read_trajectory(file):
                actions = tuple(step.action for step in episode.steps[1:])
                found = (episode.outcome.normalized_score, -len(actions), actions)
                best[episode.task.id] = max(best.get(episode.task.id, found), found)
        if not best:
            raise InvalidArgumentError(
                f"expected teacher as 'planner' or a recorded trajectory, got {str(path)!r}, "
                "where there is none"
            )
        self._actions = {task_id: actions for task_id, (_, _, actions) in best.items()}

    def advise(self, obs: Observation, task_id: str, before: Advice | None, action: str) -> Advice:
        """The recorded action as long as the learner did what was recorded; else nothing."""
        if before is not None and (not before.action or before.action != action):
            return Advice("", "")
        done = int(before.plan) if before is not None else 0
        actions = self._actions.get(task_id, ())
        return Advice(actions[done] if done < len(actions) else "", str(done + 1))
