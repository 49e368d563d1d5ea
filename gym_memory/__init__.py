"""Gymnasium environments whose observation carries a maintained memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gym_memory.core.interrupts  # noqa: F401 - the first: it handles signals meanwhile
from gym_memory.core.version import __version__
from gym_memory.games.base import register_envs

if TYPE_CHECKING:
    from gym_memory.wrappers.make import wrap

__all__ = ["__version__", "wrap"]

register_envs()


def __getattr__(name: str) -> Any:
    if name == "wrap":  # imported on first use: it brings all wrappers along
        from gym_memory.wrappers.make import wrap

        return wrap
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
