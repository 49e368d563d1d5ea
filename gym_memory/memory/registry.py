"""The table of memories; ``memory=`` everywhere takes one of these names."""

from __future__ import annotations

from gym_memory.core.names import Registry, Spec
from gym_memory.memory.base import Memory

__all__ = ["MEMORIES", "make_memory"]

MEMORIES = Registry(
    "memory",
    "gym_memory.memories",
    "MEMORIES",
    ["gym_memory.memory"],
    packages={"belief": "pip install ./packages/belief"},
)
"""Names of memories; other packages add theirs by the group ``gym_memory.memories``."""


def make_memory(spec: str | Spec | Memory) -> Memory:
    """Build a memory from a name with parameters; a ready memory is returned as it is.

    >>> make_memory("history?window=5").window
    5
    """
    return spec if isinstance(spec, Memory) else MEMORIES.make(spec)
