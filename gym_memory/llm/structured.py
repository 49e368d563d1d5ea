"""JSON out of what a model wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from gym_memory.core.errors import ModelError
from gym_memory.llm.base import Message

__all__ = ["json_values", "repair_messages", "validate"]

_MAX_STARTS = 64
_QUOTED = 2000
_OPENING = re.compile(r"[{\[]")


def json_values(text: str) -> Iterator[Any]:
    """The JSON objects and arrays in ``text``, in order, whatever stands around them.

    >>> list(json_values('Sure! [1] and then ```{"action": "go east"}```'))
    [[1], {'action': 'go east'}]
    """
    decoder = json.JSONDecoder()
    position = 0
    for _ in range(_MAX_STARTS):
        start = _OPENING.search(text, position)
        if start is None:
            return
        try:
            value, position = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            position = start.end()
        else:
            yield value


def validate(text: str, schema: Any) -> Any:
    """The first JSON value in ``text`` that fits a pydantic model class, as its instance.

    Raises:
        ModelError: There is none (kind ``answer``); the message says what is wrong.
    """
    problem = "there is no whole JSON value in it"
    for value in json_values(text):
        try:
            return schema.model_validate(value)
        except ValueError as error:
            reasons = error.errors()[:5]  # type: ignore[attr-defined]
            problem = "; ".join(f"{_where(item['loc'])}: {item['msg']}" for item in reasons)
    raise ModelError("answer", f"expected JSON of the asked form: {problem}")


def _where(location: tuple[Any, ...]) -> str:
    return ".".join(map(str, location)) or "the whole"


def repair_messages(messages: Sequence[Message], answer: str, error: ModelError) -> list[Message]:
    """The chat that asks once more for what ``answer`` failed to be."""
    return [
        *messages,
        {"role": "assistant", "content": answer[:_QUOTED]},
        {
            "role": "user",
            "content": f"This answer cannot be used: {str(error)[:_QUOTED]}\n"
            "Answer again with nothing but the corrected JSON.",
        },
    ]
