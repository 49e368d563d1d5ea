"""Plain: the whole history in the prompt, and nothing but the next action asked for.

The strong and dear baseline of every memory: what it shows grows with every step, at the end
only, so that a server's prefix cache can keep the beginning (with memory ``none``; a recall
stands between history and observation).
"""

from __future__ import annotations

from typing import Any, ClassVar

from gym_memory.baselines.language import LanguagePolicy
from gym_memory.llm import ChatModel
from gym_memory.memory.roles.text import prose
from gym_memory.types import Observation

__all__ = ["Plain"]


class Plain(LanguagePolicy):
    """Acts on the full history.

    Args:
        llm: As of :class:`gym_memory.baselines.language.LanguagePolicy`, like the rest.
        model: Likewise.
        base_url: Likewise.
        history: Past observations to show; all that fit by default.
        history_tokens: Tokens that they may take; the AriGraph paper reports 14,000 at step 150.
        temperature: Sampling temperature.
    """

    name: ClassVar[str] = "plain"
    max_tokens: int = 64

    def __init__(
        self,
        llm: str | ChatModel = "openai",
        model: str = "",
        base_url: str = "",
        *,
        history: int | None = None,
        history_tokens: int = 16_000,
        temperature: float = 0.2,
    ):
        super().__init__(
            llm,
            model,
            base_url,
            history=history,
            history_tokens=history_tokens,
            temperature=temperature,
        )

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Ask for the next action."""
        slots = self.situation(obs)
        answer = self.attempt(
            lambda: self.decide("plain", lambda answer: prose(answer.text), obs, **slots), ""
        )
        return self.act_on(answer, obs)
