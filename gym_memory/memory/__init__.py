"""Memories of what an agent saw, one memory per file; their parts are in folders."""

from gym_memory.memory.base import MEMORIES, Lifetime, Memory, make_memory

__all__ = ["MEMORIES", "Lifetime", "Memory", "make_memory"]
