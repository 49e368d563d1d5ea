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
    """Hold a call of a chat model; usage is counted by ``role`` (``extract``, ``plan``, ...).

    A ``temperature`` of None leaves it to the server; ``seed`` is part of the cache's key.
    ``schema`` is a pydantic model of a JSON answer (one repair), or a :class:`~.forms.Form`;
    ``strict`` holds the answer to it during generation, where the model or server can.
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
    """Tokens of one call, ``cached`` prompt and hidden reasoning included, as the server counts."""

    prompt: int = 0
    cached: int = 0
    completion: int = 0


class Reply(NamedTuple):
    """An answer; ``hit`` if from the response cache, ``parsed`` if the request has a schema."""

    text: str
    tokens: Tokens = Tokens()
    finish: str = "stop"
    hit: bool = False
    parsed: Any = None


class ChatModel(Protocol):
    """A language model, as roles and policies use it; may be used from many threads."""

    def complete(self, request: Request) -> Reply:
        """Answer a chat; raises ModelError, ModelSetupError or BudgetExceededError."""
        ...


class Scorer(Protocol):
    """A model that rates continuations, for choosing among actions."""

    def score(self, messages: Sequence[Message], continuations: Sequence[str]) -> list[float]:
        """Return the log-likelihood (natural log, summed over tokens) of each continuation."""
        ...

    def lengths(self, continuations: Sequence[str]) -> list[int]:
        """Return the tokens of each continuation."""
        ...
