"""ReAct (Yao et al.): a thought, then an action, with the whole trajectory before them."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, ClassVar

from gym_memory.baselines.base import POLICIES
from gym_memory.baselines.llm.language import LanguagePolicy, LanguageSettings
from gym_memory.core.errors import ModelError
from gym_memory.core.records import Observation, PlanState
from gym_memory.llm import Reply

__all__ = ["React", "ReactSettings", "read_thought"]

_ACTION = re.compile(r"^[^\w\n]*action\W*:[ \t]*(.+)$", re.IGNORECASE | re.MULTILINE)
_THOUGHT = re.compile(r"^\W*thought\W*:[ \t]*", re.IGNORECASE)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReactSettings(LanguageSettings):
    """The whole trajectory by default, as far as 8,000 tokens hold it."""

    history: int | None = None
    history_tokens: int = 8000


@POLICIES.register("react")
class React(LanguagePolicy):
    """Thinks, then acts."""

    settings_class = ReactSettings
    prompt: ClassVar[str] = "react"

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Think, publish the thought, act."""
        slots = self.situation(obs)
        thought = ""

        def read(answer: Reply) -> str:
            nonlocal thought
            thought, action = read_thought(answer.text)
            return action

        form = self.form("Thought: {thought}\nAction: {action}", obs)
        action = self.attempt(lambda: self.decide(self.prompt, read, obs, form, **slots), "")
        if thought:
            self.think(thought)
            self.focus = PlanState(thought)
        return self.act_on(action, obs)


def read_thought(text: str) -> tuple[str, str]:
    r"""Return the thought and the action of an answer ``Thought: ...`` and ``Action: ...``.

    >>> read_thought("Thought: the key is there\nAction: take key")
    ('the key is there', 'take key')

    Raises:
        ModelError: There is no action.
    """
    action = _ACTION.search(text)
    if action is None:
        raise ModelError("answer", f"expected a line 'Action: ...', got {text[:200]!r}")
    thought = _THOUGHT.sub("", text[: action.start()].strip())
    return " ".join(thought.split())[:1000], action[1].strip()
