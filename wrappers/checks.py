"""The check that all wrappers share: an environment has what they need."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from gym_memory.core.errors import InvalidArgumentError

__all__ = ["RAW_KEYS", "check_keys"]

RAW_KEYS = ("text", "task", "inventory", "valid_actions")
"""Keys of a raw text observation."""


def check_keys(wrapper: str, env: Any, keys: tuple[str, ...], hint: str) -> None:
    """Check that ``env`` is an environment whose observation is a Dict with ``keys``."""
    if not isinstance(env, gym.Env):
        raise InvalidArgumentError(f"{wrapper}: expected an environment, got {env!r}")
    space = env.observation_space
    missing = [k for k in keys if not isinstance(space, gym.spaces.Dict) or k not in space.spaces]
    if missing:
        raise InvalidArgumentError(
            f"{wrapper}: expected an observation with {', '.join(keys)}, got {env} without "
            f"{', '.join(missing)}: {hint}"
        )
