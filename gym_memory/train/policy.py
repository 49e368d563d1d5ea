"""Prompted: plays with the very prompt that training shows, of constant size.

The memory stands in it instead of the transcript, so a step late in an episode costs what an
early one does. It is how a model trained on such prompts is evaluated.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from gym_memory.baselines.llm.language import LanguagePolicy, LanguageSettings
from gym_memory.baselines.registry import POLICIES
from gym_memory.core.records import Observation
from gym_memory.core.settings import check_int
from gym_memory.train.prompts import MAX_ACTIONS, state_prompt

__all__ = ["Prompted", "PromptedSettings"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PromptedSettings(LanguageSettings):
    """No transcript.

    Attributes:
        max_actions: Valid actions that the prompt lists, at most; 0 for none.
    """

    history: int | None = dataclasses.field(default=0, init=False)
    history_tokens: int = dataclasses.field(default=0, init=False)
    max_actions: int = MAX_ACTIONS

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("max_actions", self.max_actions, 0)


@POLICIES.register("prompted")
class Prompted(LanguagePolicy):
    """Acts on the present state and the memory alone."""

    name: ClassVar[str] = "prompted"
    settings_class = PromptedSettings
    settings: PromptedSettings
    max_tokens: int = 32

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Ask for the next action."""
        messages = state_prompt(obs, self.settings.max_actions)
        answer = self.attempt(lambda: self._complete("act", messages, None).text, "")
        return self.act_on(answer, obs)
