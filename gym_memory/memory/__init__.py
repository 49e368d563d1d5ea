"""Memories: what an agent keeps of what it saw, one memory a file, its parts in folders beside it.

Imports neither gymnasium nor torch, and names no game: the extraction rules of a dialect, which
are in the game's folder, read its text.
"""

from gym_memory.memory.base import MEMORIES, Lifetime, Memory, make_memory

__all__ = ["MEMORIES", "Lifetime", "Memory", "make_memory"]
