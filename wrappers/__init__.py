"""Gymnasium wrappers: what the observation or the action becomes."""

from gym_memory.wrappers.make import make_env
from gym_memory.wrappers.memory import MemoryObservation

__all__ = ["MemoryObservation", "make_env"]
