"""MiniHack's tasks through the same adapter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gym_memory.core.errors import MissingDependencyError, UnknownNameError
from gym_memory.core.optional import require

__all__ = ["make_minihack"]


def make_minihack(task: str, keys: Sequence[str]) -> Any:
    """Build a MiniHack environment that takes every key and asks every question.

    Raises:
        MissingDependencyError: MiniHack is not installed.
        UnknownNameError: MiniHack has no such environment.
    """
    gymnasium = require("gymnasium", "nethack", "MiniHack")
    try:
        require("minihack", "nethack", "MiniHack tasks")
    except MissingDependencyError as error:
        raise MissingDependencyError(
            "minihack", "pip install minihack", "MiniHack tasks"
        ) from error
    known = [name for name in gymnasium.registry if name.startswith("MiniHack-")]
    if task not in known:
        raise UnknownNameError("MiniHack task", task, known)
    return gymnasium.make(
        task,
        observation_keys=tuple(keys),
        actions=tuple(range(256)),
        allow_all_yn_questions=True,
        allow_all_modes=True,
        max_episode_steps=10**9,
        render_mode=None,
        disable_env_checker=True,
    )
