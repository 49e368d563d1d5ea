"""The chat-model protocol: messages in, a completion out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypedDict

__all__ = ["ChatModel", "Completion", "Message", "Scorer", "Tokens"]


class Message(TypedDict):
    """One turn of a chat, as on the OpenAI wire."""

    role: Literal["system", "user", "assistant"]
    content: str


class Tokens(NamedTuple):
    """Tokens of one completion as the server counts them.

    Attributes:
        prompt: Tokens of the messages.
        cached: Those of ``prompt`` that the server had in its prefix cache.
        completion: Tokens of the answer, hidden reasoning included.
    """

    prompt: int = 0
    cached: int = 0
    completion: int = 0


class Completion(NamedTuple):
    """An answer.

    Attributes:
        text: What the model wrote.
        tokens: What it took.
        finish: Why it stopped: ``stop``, ``length``, ... as the server says.
        hit: Whether it comes from the response cache, without a call.
        parsed: The validated object where a ``schema`` was asked for, else None.
    """

    text: str
    tokens: Tokens = Tokens()
    finish: str = "stop"
    hit: bool = False
    parsed: Any = None


class ChatModel(Protocol):
    """What roles and policies ask of a language model; may be used from many threads."""

    def complete(
        self,
        messages: Sequence[Message],
        *,
        role: str = "",
        temperature: float | None = 0.0,
        max_tokens: int = 512,
        seed: int | None = None,
        schema: Any = None,
        strict: bool = False,
    ) -> Completion:
        """Answer a chat.

        Args:
            messages: The chat so far, the last turn the user's.
            role: What the call is for (``extract``, ``plan``, ...); usage is counted by it.
            temperature: Sampling temperature >= 0; None leaves it to the server.
            max_tokens: Most tokens that the answer may take, >= 1.
            seed: Seed of the sampling where the server takes one. Two seeds are two answers
                in the response cache.
            schema: A pydantic model class; the answer is then JSON of that form, validated
                and, if it is not, asked for once more with the error. Or a
                :class:`~gym_memory.llm.forms.Form`: the model is then held to that text.
            strict: Whether the answer is held to ``schema`` while it is written, where the
                model or its server can.

        Raises:
            ModelError: No usable answer; ``kind`` says why.
            ModelSetupError: The model cannot be used as it is set up.
            BudgetExceededError: A hard stop forbids the call.
        """
        ...


class Scorer(Protocol):
    """A model that can tell how likely a continuation is (for choosing among actions)."""

    def score(self, messages: Sequence[Message], continuations: Sequence[str]) -> list[float]:
        """Log-likelihood (natural log, summed over tokens) of each continuation as the answer."""
        ...

    def lengths(self, continuations: Sequence[str]) -> list[int]:
        """Tokens of each continuation."""
        ...
