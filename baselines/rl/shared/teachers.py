"""Teachers, which label the states that a learner visits."""

from __future__ import annotations

import dataclasses
import zlib
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.baselines.base import make_policy
from gym_memory.baselines.rules.plan import Plan
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Observation
from gym_memory.core.trajectory import read_trajectory

__all__ = ["PlannerTeacher", "RecordedTeacher", "TeacherAdvice"]


class TeacherAdvice(NamedTuple):
    """An action and the plan of a teacher; ``action`` is empty if it knows none."""

    action: str
    plan: Plan = Plan()


class PlannerTeacher:
    """A rule-based planner, which labels any state from the observation alone."""

    def __init__(self, dialect: str):
        self._planner: Any = make_policy("planner")
        self._dialect = dialect

    def advise(
        self, obs: Observation, task_id: str, before: TeacherAdvice | None, action: str
    ) -> TeacherAdvice:
        """Return the planner's action, given its last advice and the action then taken."""
        # Its seed is a hash of the state, so that the same state has the same label.
        chance = zlib.crc32(f"{task_id}\n{obs['text']}\n{obs['inventory']}".encode())
        self._planner.reset({"task_id": task_id, "dialect": self._dialect}, chance)
        if before is not None:
            # The published numbers come from a teacher that does not recognize its last action and
            # counts no idle steps.
            last = f"{before.action} | {action}"
            self._planner.focus = dataclasses.replace(before.plan, action=last, idle=0, seen=())
        advised = self._planner.act(obs, {})
        return TeacherAdvice(advised, self._planner.focus)


class RecordedTeacher:
    """Recorded episodes, the best of each game; labels only the states that they visit."""

    def __init__(self, path: Path):
        files = [path] if path.is_file() else sorted(path.rglob("*.jsonl.gz"))
        best: dict[str, tuple[float, int, tuple[str, ...]]] = {}
        for file in files:
            for episode in read_trajectory(file):
                actions = tuple(step.action for step in episode.steps[1:])
                found = (episode.outcome.value, -len(actions), actions)
                best[episode.task.id] = max(best.get(episode.task.id, found), found)
        if not best:
            raise InvalidArgumentError(
                f"expected teacher as 'planner' or a recorded trajectory, got {str(path)!r}, "
                "which holds none"
            )
        self._actions = {task_id: actions for task_id, (_, _, actions) in best.items()}

    def advise(
        self, obs: Observation, task_id: str, before: TeacherAdvice | None, action: str
    ) -> TeacherAdvice:
        """Return the recorded action while the learner follows the recording, else none."""
        if before is not None and (not before.action or before.action != action):
            return TeacherAdvice("")
        done = before.plan.done if before is not None else 0
        actions = self._actions.get(task_id, ())
        return TeacherAdvice(actions[done] if done < len(actions) else "", Plan(done=done + 1))
