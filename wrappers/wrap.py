"""wrap: a memory around any text environment, in one call."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from gym_memory.core.records import Observation
from gym_memory.core.settings import check_known
from gym_memory.games.foreign import ForeignEnv
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY, MemoryObservation

__all__ = ["wrap"]


def wrap(
    env: Any, *, memory: str = DEFAULT_MEMORY, budget: int = DEFAULT_BUDGET, **kwargs: Any
) -> gym.Env[Observation, str]:
    """Put a memory into the observation of any text environment.

    Args:
        env: A ``gymnasium.Env`` or anything else with ``reset`` and ``step``.
        memory: A memory with optional parameters, e.g. ``"arigraph?episodic=false"``.
        budget: Tokens that the recalled memory may take.
        **kwargs: Where the environment keeps its text, task, valid actions, score and success, and
            its extraction rules: see :class:`~gym_memory.games.foreign.env.ForeignEnv`, which
            finds most by itself; ``info["sources"]`` of every reset says what it found.

    Example:
        >>> from gym_memory.testing.fake_env import FakeHouse
        >>> env = wrap(FakeHouse(), memory="arigraph")
        >>> obs, info = env.reset(seed=0)
        >>> info["sources"]["valid_actions"], info["sources"]["dialect"]
        ('obs.valid_actions', 'textworld (found)')
    """
    check_known(f"wrap {type(env).__name__!r}", ForeignEnv, kwargs)
    return MemoryObservation(ForeignEnv(env, **kwargs), memory=memory, budget=budget)
