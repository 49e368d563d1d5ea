"""Memories: what an agent keeps of what it saw. Imports neither gymnasium nor torch."""

from gym_memory.memory.base import Lifetime, Memory
from gym_memory.memory.registry import MEMORIES, make_memory

__all__ = ["MEMORIES", "Lifetime", "Memory", "make_memory"]
