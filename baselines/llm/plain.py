"""Plain: the whole history in the prompt, and a request for the next action."""

from __future__ import annotations

import dataclasses
from typing import Any

from gym_memory.baselines.base import POLICIES
from gym_memory.baselines.llm.language import LanguagePolicy, LanguageSettings
from gym_memory.core.records import Observation
from gym_memory.memory.roles.text import prose

__all__ = ["Plain", "PlainSettings"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PlainSettings(LanguageSettings):
    """The whole history by default; the AriGraph paper reports 14,000 tokens of it at step 150."""

    history: int | None = None
    history_tokens: int = 16_000


@POLICIES.register("plain")
class Plain(LanguagePolicy):
    """Acts on the full history."""

    settings_class = PlainSettings
    max_tokens: int = 64

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Ask for the next action."""
        slots = self.situation(obs)
        form = self.form("{action}", obs)
        answer = self.attempt(
            lambda: self.decide("plain", lambda answer: prose(answer.text), obs, form, **slots), ""
        )
        return self.act_on(answer, obs)
