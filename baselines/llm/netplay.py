"""NetPlay (Jeurissen et al., 2024): a language model plays NetHack through skills."""

from __future__ import annotations

import dataclasses
import functools
from typing import Annotated, Any

from gym_memory.baselines.llm.answers import match_action
from gym_memory.baselines.llm.language import LanguagePolicy, LanguageSettings
from gym_memory.core.optional import require
from gym_memory.core.records import Observation, PlanState

__all__ = ["NetPlay", "NetPlaySettings"]

_MAX_SKILL_CHARS = 200


@dataclasses.dataclass(frozen=True, kw_only=True)
class NetPlaySettings(LanguageSettings):
    """Settings of NetPlay: a longer history, since a level is read from several steps."""

    history: int | None = 10
    history_tokens: int = 1500
    constrain: bool = dataclasses.field(default=False, init=False)


class NetPlay(LanguagePolicy):
    """NetPlay: a model that chooses a skill and its arguments.

    An answer need not be among the listed actions, since no list has all arguments of skills.
    """

    settings_class = NetPlaySettings

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return a skill, after publishing the thought behind it."""
        slots = self.situation(obs)
        thought, action = self.attempt(lambda: self._ask_skill(slots), ("", ""))
        if thought:
            self.think(thought)
            self.focus = PlanState(thought)
        if not action:
            return self.act_on("", obs)
        return match_action(action, obs["valid_actions"]) or action

    def _ask_skill(self, slots: dict[str, str]) -> tuple[str, str]:
        answer = self.ask("netplay", _skill_schema(), **slots).parsed
        words = " ".join([answer.skill, *answer.arguments]).split()
        return " ".join(answer.thought.split())[:1000], " ".join(words)[:_MAX_SKILL_CHARS]


@functools.cache
def _skill_schema() -> Any:
    pydantic = require("pydantic", "llm", "answers in JSON")
    skill = Annotated[str, pydantic.Field(min_length=1, max_length=100)]
    return pydantic.create_model(
        "Skill", thought=(str, ""), skill=(skill, ...), arguments=(list[str], [])
    )
