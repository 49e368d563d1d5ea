"""ReAct (Yao et al.), Reflexion (Shinn et al.) and a plain prompt for comparison.

All three see the whole trajectory.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, ClassVar

from gym_memory.baselines.llm.answers import NO_DECISION
from gym_memory.baselines.llm.knowledge import examples_of
from gym_memory.baselines.llm.language import LanguagePolicy, LanguageSettings
from gym_memory.core.records import Observation, Outcome, PlanState, Step, Transition
from gym_memory.core.settings import Help
from gym_memory.memory.roles.text import numbered, prose, score_in_words, trace_text

__all__ = ["Plain", "PlainSettings", "React", "ReactSettings", "Reflexion", "ReflexionSettings"]

_TRACE_TOKENS = 4000
"""Token limit of a trial in a reflection."""
_EXAMPLES = (
    "Played examples before the game: ``alfworld`` (``alfworld-1`` to ``alfworld-6``), "
    "``scienceworld`` or ``webshop``."
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class PlainSettings(LanguageSettings):
    """Settings of `plain`: the whole history, which has 14,000 tokens at step 150 in AriGraph."""

    history: int | None = None
    history_tokens: int | None = 16_000
    examples: Annotated[str, Help(_EXAMPLES)] = ""


class Plain(LanguagePolicy):
    """A model that acts on the full history."""

    settings_class = PlainSettings
    settings: PlainSettings
    answer_tokens: int = 512

    def set_up(self) -> None:
        """Load the examples of the settings."""
        examples_of(self.settings.examples, "")  # reports a wrong name early
        self.examples = self.settings.examples

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the model's action."""
        slots = self.situation(obs)
        form = self.form("{action}", obs)
        action, _ = self.attempt(lambda: self.decide("plain", obs, form, **slots), NO_DECISION)
        return self.act_on(action, obs)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReactSettings(LanguageSettings):
    """Settings of ReAct: the whole trajectory within 8,000 tokens."""

    history: int | None = None
    history_tokens: int | None = 8000
    examples: Annotated[str, Help(_EXAMPLES)] = ""


class React(LanguagePolicy):
    """ReAct: a model that thinks, then acts."""

    settings_class = ReactSettings
    settings: ReactSettings
    prompt: ClassVar[str] = "react"
    thinks = True

    def set_up(self) -> None:
        """Load the examples of the settings."""
        examples_of(self.settings.examples, "")
        self.examples = self.settings.examples

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return an action, after publishing the thought behind it."""
        slots = self.situation(obs)
        form = self.form("Thought: {thought}\nAction: {action}", obs)
        action, thought = self.attempt(
            lambda: self.decide(self.prompt, obs, form, **slots), NO_DECISION
        )
        if thought:
            self.think(thought)
            self.focus = PlanState(thought)
        return self.act_on(action, obs)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReflexionSettings(ReactSettings):
    """Settings of Reflexion: ReAct's and the number of reflections."""

    keep: Annotated[int, Help("Reflections to keep; the paper keeps at most 3.", low=1)] = 3


class Reflexion(React):
    """Reflexion: a ReAct agent that reflects after each trial without a win."""

    settings_class = ReflexionSettings
    settings: ReflexionSettings
    prompt: ClassVar[str] = "reflexion"

    def set_up(self) -> None:
        """Start without a task and without reflections."""
        super().set_up()
        self._task_id = ""
        self._reflections: list[str] = []
        self._trace: list[Step] = []

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start a trial; with another task instance, drop the reflections."""
        super().reset(info, seed)
        if info.get("task_id", "") != self._task_id:
            self._reflections = []
        self._task_id = info.get("task_id", "")
        self._trace = []

    def situation(self, obs: Observation) -> dict[str, str]:
        """Return the slots, with the reflections, oldest first."""
        return {**super().situation(obs), "lessons": numbered(self._reflections)}

    def update(self, transition: Transition) -> None:
        """Record the step; reflect after a trial without a win."""
        super().update(transition)
        obs, action, _, after, terminated, truncated, info = transition
        if not self._trace:
            self._trace.append(Step(0, obs["text"]))
        self._trace.append(
            Step(len(self._trace), after["text"], action, self.reward_of(transition))
        )
        if (terminated or truncated) and not info["success"]:
            reflection = self.attempt(lambda: self._reflect(obs["task"], info), "")
            if reflection:
                self._reflections = [*self._reflections, reflection][-self.settings.keep :]

    def _reflect(self, task: str, info: dict[str, Any]) -> str:
        answer = self.ask(
            "reflect",
            task=task,
            knowledge=self._primer["knowledge"],
            previous=numbered(self._reflections),
            trace=trace_text(self._trace, _TRACE_TOKENS),
            evaluation=score_in_words(Outcome.from_info(info)),
        )
        return prose(answer.text)[:4000]
