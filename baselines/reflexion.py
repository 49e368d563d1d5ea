"""Reflexion (Shinn et al.): ReAct that looks back on a failed trial before the next one.

The reflections belong to one task instance and are kept from trial to trial of it (protocol
``trials``). They are the policy's, whatever the memory; the memory ``reflexion`` gives the same
to any other policy.
"""

from __future__ import annotations

from typing import Any, ClassVar

from gym_memory.baselines.react import React
from gym_memory.checks import check_int
from gym_memory.llm import ChatModel
from gym_memory.memory.roles.text import numbered, prose, score_in_words, trace_text
from gym_memory.types import Observation, Outcome, Step, Transition

__all__ = ["Reflexion"]

_TRACE_TOKENS = 4000


class Reflexion(React):
    """Thinks, acts, and reflects after a trial that did not win.

    Args:
        llm: As of :class:`gym_memory.baselines.language.LanguagePolicy`, like the rest.
        model: Likewise.
        base_url: Likewise.
        keep: Reflections to keep, >= 1; the paper keeps at most 3.
        history: Past observations to show; all that fit by default.
        history_tokens: Tokens that they may take.
        temperature: Sampling temperature.
    """

    name: ClassVar[str] = "reflexion"
    prompt: ClassVar[str] = "reflexion"

    def __init__(
        self,
        llm: str | ChatModel = "openai",
        model: str = "",
        base_url: str = "",
        *,
        keep: int = 3,
        history: int | None = None,
        history_tokens: int = 8000,
        temperature: float = 0.2,
    ):
        check_int("keep", keep, 1)
        self.keep = keep
        self._task_id = ""
        self._reflections: list[str] = []
        self._trace: list[Step] = []
        super().__init__(
            llm,
            model,
            base_url,
            history=history,
            history_tokens=history_tokens,
            temperature=temperature,
        )

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
            told = self.attempt(lambda: self._reflect(obs["task"], info), "")
            if told:
                self._reflections = [*self._reflections, told][-self.keep :]

    def _reflect(self, task: str, info: dict[str, Any]) -> str:
        answer = self.ask(
            "reflect",
            task=task,
            previous=numbered(self._reflections),
            trace=trace_text(self._trace, _TRACE_TOKENS),
            evaluation=score_in_words(Outcome.from_info(info)),
        )
        return prose(answer.text)[:4000]
