"""What every LLM role shares: the call, the fall back to the rule, the counters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from gym_memory.core.errors import ModelError
from gym_memory.llm.base import ChatModel, Reply, Request
from gym_memory.llm.prompts import Prompt, load_prompt

__all__ = ["LLMRole", "RoleCounts", "chat_model", "role_counts"]

Answer = TypeVar("Answer")


class LLMRole:
    """A role played by a chat model, with the rule that stands in where it fails.

    A failed call (after the model's own retries) or an answer that cannot be read is counted in
    ``fallbacks`` and the rule answers instead. A model that is not set up right (no key, wrong
    name) and a budget that is spent are raised: they must not pass unnoticed.

    Args:
        model: The chat model.
        rule: The rule-based role of the same protocol. It must not be a bound method of the
            memory that uses it, or a fork of the memory would ask the original.
        prompt: Name of the prompt; default: the role's own.

    Attributes:
        calls: Times the model was asked.
        fallbacks: Times the rule stood in.
        parts: Roles that this one gives work to.
    """

    prompt: str = ""
    max_tokens: int = 512
    """Most tokens of an answer."""

    def __init__(self, model: ChatModel, rule: Any, prompt: str | None = None):
        self.model, self.rule = model, rule
        self._prompt = load_prompt(prompt or self.prompt)
        self.calls = self.fallbacks = 0
        self.parts: tuple[object, ...] = ()

    def ask(self, *, schema: Any = None, prompt: Prompt | None = None, **slots: str) -> Reply:
        """Fill the prompt and ask the model, at temperature 0."""
        self.calls += 1
        prompt = prompt or self._prompt
        return self.model.complete(
            Request(
                prompt.messages(**slots),
                role=prompt.name,
                max_tokens=self.max_tokens,
                schema=schema,
            )
        )

    def or_rule(self, answer: Callable[[], Answer], rule: Callable[[], Answer]) -> Answer:
        """What ``answer`` gives; where it fails, counted, what ``rule`` gives."""
        try:
            return answer()
        except ModelError:
            self.fallbacks += 1
            return rule()

    def __deepcopy__(self, memo: dict[int, Any]) -> LLMRole:
        return self  # keeps no state that an answer depends on


class RoleCounts(NamedTuple):
    """Calls and fallbacks of several roles together, for ``MemoryStats``."""

    calls: int
    fallbacks: int


def role_counts(*roles: object) -> RoleCounts:
    """Sum the counters of those roles that a model plays, their parts included."""
    calls = fallbacks = 0
    for role in roles:
        if isinstance(role, LLMRole):
            inner = role_counts(*role.parts)
            calls += role.calls + inner.calls
            fallbacks += role.fallbacks + inner.fallbacks
    return RoleCounts(calls, fallbacks)


def chat_model(llm: str | ChatModel | None) -> ChatModel | None:
    """What a memory's argument ``llm`` stands for.

    Args:
        llm: A chat model; the spec of one, such as ``openai`` (all from the environment) or
            ``openai?model=qwen&base_url=http://localhost:8000/v1``; None or empty for rules.
            Inside the name of a memory a spec is quoted, which
            :func:`gym_memory.core.names.format_spec` does.

    Raises:
        UnknownNameError: Unknown kind or parameter.
        ModelSetupError: The model cannot be used as it is set up.
    """
    if llm is None or llm == "":
        return None
    from gym_memory.llm import make_model

    model: ChatModel = make_model(llm)
    return model
