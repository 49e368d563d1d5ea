"""Gymnasium wrappers, one file per effect.

A wrapper knows the observation's keys and no particular game, memory or policy. ``make.py`` stacks
them behind the registered ids.
"""

from gym_memory.wrappers.actions import IndexActions, Navigate
from gym_memory.wrappers.encode import EncodeText, PromptObservation
from gym_memory.wrappers.make import make_env, wrap
from gym_memory.wrappers.memory import MemoryObservation
from gym_memory.wrappers.record import RecordTrajectory

__all__ = ["EncodeText", "IndexActions", "MemoryObservation", "Navigate", "PromptObservation"]
__all__ += ["RecordTrajectory", "make_env", "wrap"]
