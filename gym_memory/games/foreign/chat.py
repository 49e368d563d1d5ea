"""Chats as observations: lists of ``{"role": ..., "content": ...}``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gym_memory.games.foreign.sources import as_text

__all__ = ["is_chat", "message_text", "said"]


def is_chat(obs: Any) -> bool:
    """Whether an observation is a list of messages."""
    return isinstance(obs, list | tuple) and all(
        isinstance(message, Mapping) and {"role", "content"} <= set(message) for message in obs
    )


def said(chat: Sequence[Mapping[str, Any]]) -> str:
    """What others than the assistant said, the system aside where it is not alone."""
    told = [message for message in chat if message["role"] != "assistant"]
    others = [message for message in told if message["role"] != "system"] or told
    return "\n\n".join(map(message_text, others))


def message_text(message: Mapping[str, Any]) -> str:
    """A message's text, whole or in parts."""
    content = message["content"]
    if isinstance(content, list | tuple):
        return "\n".join(part["text"] for part in content if part.get("type", "text") == "text")
    return as_text("content", content)
