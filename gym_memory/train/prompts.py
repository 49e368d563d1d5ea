"""Prompts for training, and the policy that plays with them."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, ClassVar

from gym_memory.baselines.llm.language import LanguagePolicy, LanguageSettings
from gym_memory.baselines.registry import POLICIES
from gym_memory.core.records import Observation
from gym_memory.core.settings import Help, check_int
from gym_memory.llm import Message
from gym_memory.wrappers.prompt import INSTRUCTIONS, render_prompt

__all__ = ["MAX_ACTIONS", "Prompted", "PromptedSettings", "opening", "state_prompt", "turn_text"]

MAX_ACTIONS = 30
"""Valid actions that a prompt lists, at most."""


def state_prompt(obs: Observation, max_actions: int | None = MAX_ACTIONS) -> list[Message]:
    """Return the whole state as one prompt: task, memory, inventory, text, valid actions."""
    return [
        {"role": "system", "content": INSTRUCTIONS},
        {"role": "user", "content": opening(obs, max_actions)},
    ]


def opening(obs: Observation, max_actions: int | None = MAX_ACTIONS) -> str:
    """Return the first turn of a conversation that grows: the whole state."""
    return render_prompt(obs, instructions="", max_actions=max_actions)


def turn_text(obs: Observation, max_actions: int | None = MAX_ACTIONS) -> str:
    """Return a later turn of it: what is new, without task and memory."""
    shown: Observation = {**obs, "task": "", "memory": ""}
    return render_prompt(shown, instructions="", max_actions=max_actions)


@dataclasses.dataclass(frozen=True, kw_only=True)
class PromptedSettings(LanguageSettings):
    """Settings without a transcript."""

    history: int | None = dataclasses.field(default=0, init=False)
    history_tokens: int = dataclasses.field(default=0, init=False)
    max_actions: Annotated[
        int, Help("Valid actions that the prompt lists, at most; 0 for none.", low=0)
    ] = MAX_ACTIONS

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
        """Return the model's action."""
        messages = state_prompt(obs, self.settings.max_actions)
        answer = self.attempt(lambda: self._complete("act", messages, None).text, "")
        return self.act_on(answer, obs)
