"""Reflexion (Shinn et al.): ReAct that reflects on a failed trial before the next one."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, ClassVar

from gym_memory.baselines.base import POLICIES
from gym_memory.baselines.llm.react import React, ReactSettings
from gym_memory.core.records import Observation, Outcome, Step, Transition
from gym_memory.core.settings import Help
from gym_memory.memory.roles.text import numbered, prose, score_in_words, trace_text

__all__ = ["Reflexion", "ReflexionSettings"]

_TRACE_TOKENS = 4000


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReflexionSettings(ReactSettings):
    """ReAct's, and the number of reflections."""

    keep: Annotated[int, Help("Reflections to keep; the paper keeps at most 3.", low=1)] = 3


@POLICIES.register("reflexion")
class Reflexion(React):
    """Thinks, acts, and reflects after a trial that did not win."""

    settings_class = ReflexionSettings
    settings: ReflexionSettings
    prompt: ClassVar[str] = "reflexion"

    def set_up(self) -> None:
        """Begin without a task and without reflections."""
        self._task_id = ""
        self._reflections: list[str] = []
        self._trace: list[Step] = []

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start a trial; another task instance starts without reflections."""
        super().reset(info, seed)
        if info.get("task_id", "") != self._task_id:
            self._reflections = []
        self._task_id = info.get("task_id", "")
        self._trace = []

    def situation(self, obs: Observation) -> dict[str, str]:
        """Also the reflections, oldest first."""
        return {**super().situation(obs), "lessons": numbered(self._reflections)}

    def update(self, transition: Transition) -> None:
        """Keep the step; reflect when the trial is over and not won."""
        super().update(transition)
        obs, action, reward, after, terminated, truncated, info = transition
        if not self._trace:
            self._trace.append(Step(0, obs["text"]))
        self._trace.append(Step(len(self._trace), after["text"], action, reward))
        if (terminated or truncated) and not info["success"]:
            reflection = self.attempt(lambda: self._reflect(obs["task"], info), "")
            if reflection:
                self._reflections = [*self._reflections, reflection][-self.settings.keep :]

    def _reflect(self, task: str, info: dict[str, Any]) -> str:
        answer = self.ask(
            "reflect",
            task=task,
            previous=numbered(self._reflections),
            trace=trace_text(self._trace, _TRACE_TOKENS),
            evaluation=score_in_words(Outcome.from_info(info)),
        )
        return prose(answer.text)[:4000]
