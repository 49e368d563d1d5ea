"""Gymnasium wrappers: what the observation or the action becomes."""

from gym_memory.wrappers.actions import IndexActions
from gym_memory.wrappers.encode import EncodeText
from gym_memory.wrappers.make import make_env
from gym_memory.wrappers.memory import MemoryObservation
from gym_memory.wrappers.navigate import Navigate
from gym_memory.wrappers.prompt import PromptObservation
from gym_memory.wrappers.record import RecordTrajectory

__all__ = [
    "EncodeText",
    "IndexActions",
    "MemoryObservation",
    "Navigate",
    "PromptObservation",
    "RecordTrajectory",
    "make_env",
]
