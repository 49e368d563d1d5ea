"""Memories: what an agent keeps of what it saw, one memory a file, its parts in folders beside it.

Imports neither gymnasium nor torch, and names no game: what a text means is read by the extraction
rules of its dialect, which live with the game.
"""

from gym_memory.memory.base import Lifetime, Memory
from gym_memory.memory.registry import MEMORIES, make_memory

__all__ = ["MEMORIES", "Lifetime", "Memory", "make_memory"]
