"""Let the scripted chat server answer the prompts of other packages by the plain reader."""

from __future__ import annotations

from gym_memory.testing.chat.registry import OTHERS
from gym_memory_external.model import answer

__all__ = ["answer_prompts"]


def answer_prompts() -> None:
    """Register the answers, in the server's process."""
    words = (
        *("## New Messages", "Respond with a JSON object in the following", "</session_"),
        *("Content for analysis:", "AI memory evolution agent"),
    )
    OTHERS.update(dict.fromkeys(words, answer))
