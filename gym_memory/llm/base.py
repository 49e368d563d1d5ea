"""The chat-model protocol: a request in, a reply out."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypedDict

__all__ = ["ChatModel", "Message", "Reply", "Request", "Scorer", "Tokens"]


class Message(TypedDict):
    """One turn of a chat, as on the OpenAI wire."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclasses.dataclass(frozen=True)
class Request:
    """A call of a chat model.

    Attributes:
        messages: The chat so far, the last turn the user's.
        role: What the call is for (``extract``, ``plan``, ...); usage is counted by it.
        temperature: Sampling temperature >= 0; None leaves it to the server.
        max_tokens: Most tokens of the answer, >= 1.
        seed: Seed of the sampling, where the server takes one. Two seeds are two answers in the
            response cache.
        schema: A pydantic model class: the answer is JSON of that form, validated, and requested
            once more with the error if it is not. Or a :class:`~gym_memory.llm.forms.Form`: the
            model is held to that text.
        strict: Hold the answer to ``schema`` during generation, where the model or server can.
    """

    messages: Sequence[Message]
    _: dataclasses.KW_ONLY
    role: str = ""
    temperature: float | None = 0.0
    max_tokens: int = 512
    seed: int | None = None
    schema: Any = None
    strict: bool = False


class Tokens(NamedTuple):
    """Tokens of one call, as the server counts them.

    Attributes:
        cached: Those of ``prompt`` that the server had in its prefix cache.
        completion: Tokens of the answer, hidden reasoning included.
    """

    prompt: int = 0
    cached: int = 0
    completion: int = 0


class Reply(NamedTuple):
    """An answer.

    Attributes:
        finish: Why the model stopped: ``stop``, ``length``, ... as the server says.
        hit: True if it comes from the response cache, without a call.
        parsed: The validated object if the request has a ``schema`` of pydantic, else None.
    """

    text: str
    tokens: Tokens = Tokens()
    finish: str = "stop"
    hit: bool = False
    parsed: Any = None


class ChatModel(Protocol):
    """A language model, as roles and policies use it; may be used from many threads."""

    def complete(self, request: Request) -> Reply:
        """Answer a chat.

        Raises:
            ModelError: No usable answer; ``kind`` says why.
            ModelSetupError: The model cannot be used as it is set up.
            BudgetExceededError: A hard stop forbids the call.
        """
        ...


class Scorer(Protocol):
    """A model that rates continuations, for choosing among actions."""

    def score(self, messages: Sequence[Message], continuations: Sequence[str]) -> list[float]:
        """Return the log-likelihood (natural log, summed over tokens) of each continuation."""
        ...

    def lengths(self, continuations: Sequence[str]) -> list[int]:
        """Return the tokens of each continuation."""
        ...
