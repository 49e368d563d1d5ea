"""Let the scripted chat server answer the prompts of mem0 and Graphiti by the plain reader."""

from __future__ import annotations

from gym_memory.testing.chat.registry import OTHERS
from gym_memory_external.model import answer

__all__ = ["answer_prompts"]


def answer_prompts() -> None:
    """Register the answers; call it in the server's process."""
    OTHERS["## New Messages"] = OTHERS["Respond with a JSON object in the following"] = answer
