"""ReAct (Yao et al.): a thought, then an action, with the whole trajectory before them.

One call a step. Thoughts stay in the transcript, so the model reads its own reasoning again; the
last thought is published as ``focus``.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from gym_memory.baselines.language import LanguagePolicy
from gym_memory.errors import ModelError
from gym_memory.llm import ChatModel, Completion
from gym_memory.types import Observation

__all__ = ["React", "read_thought"]

_ACTION = re.compile(r"^\W*action\W*:[ \t]*(.+)$", re.IGNORECASE | re.MULTILINE)
_THOUGHT = re.compile(r"^\W*thought\W*:[ \t]*", re.IGNORECASE)


class React(LanguagePolicy):
    """Thinks, then acts.

    Args:
        llm: As of :class:`gym_memory.baselines.language.LanguagePolicy`, like the rest.
        model: Likewise.
        base_url: Likewise.
        history: Past observations to show; all that fit by default.
        history_tokens: Tokens that they may take.
        temperature: Sampling temperature.
    """

    name: ClassVar[str] = "react"
    prompt: ClassVar[str] = "react"

    def __init__(
        self,
        llm: str | ChatModel = "openai",
        model: str = "",
        base_url: str = "",
        *,
        history: int | None = None,
        history_tokens: int = 8000,
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
        """Think, publish the thought, act."""
        slots = self.situation(obs)
        thought = ""

        def read(answer: Completion) -> str:
            nonlocal thought
            thought, action = read_thought(answer.text)
            return action

        action = self.attempt(lambda: self.decide(self.prompt, read, obs, **slots), "")
        if thought:
            self.think(thought)
            self.focus = thought
        return self.act_on(action, obs)


def read_thought(text: str) -> tuple[str, str]:
    r"""The thought and the action of an answer ``Thought: ...`` and ``Action: ...``.

    >>> read_thought("Thought: the key is there\nAction: take key")
    ('the key is there', 'take key')

    Raises:
        ModelError: There is no action.
    """
    found = _ACTION.search(text)
    if found is None:
        raise ModelError("answer", f"expected a line 'Action: ...', got {text[:200]!r}")
    thought = _THOUGHT.sub("", text[: found.start()].strip())
    return " ".join(thought.split())[:1000], found[1].strip()
