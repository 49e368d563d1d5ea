"""The base of players that follow rules: an episode's own chance, and text read by extraction."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gym_memory.baselines.base import Policy
from gym_memory.baselines.rules.beliefs import Transcript
from gym_memory.core.records import Observation, PlanState, Step, Task
from gym_memory.extract import get_extractor
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import PLAYER

__all__ = ["RulePolicy"]


class RulePolicy(Policy):
    """Read the observation by the extraction rules of its dialect.

    From step to step such a policy keeps the plan that it publishes as ``focus``, and what it has
    read already of a transcript that goes on.
    """

    start: ClassVar[PlanState] = PlanState()
    """The plan before the first step."""
    dialect: ClassVar[str] = "textworld"
    """Whose rules it reads by where the info of the reset names no dialect."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(0)
        self._task_id, self._dialect = "", self.dialect
        self._transcript = Transcript()
        self.focus = self.start

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start an episode without a plan."""
        self._rng = np.random.default_rng(seed)
        self._task_id = info.get("task_id", "")
        self._dialect = info.get("dialect", self._dialect)
        self._transcript = Transcript()
        self.focus = self.start

    def _task(self, obs: Observation) -> Task:
        return Task(self._task_id, obs["task"], self._dialect)

    def _place(self, obs: Observation) -> str:
        """Return the place that the observation names; empty without one."""
        rules = get_extractor(self._dialect)
        found = rules.extract(Step(0, obs["text"]), TemporalGraph(), self._task(obs))
        places = [m.triple.object for m in found.mentions if m.triple[:2] == (PLAYER, "is in")]
        return places[-1] if places else ""
