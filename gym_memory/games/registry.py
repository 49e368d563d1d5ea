"""The table of games and their Gymnasium ids."""

from __future__ import annotations

from gymnasium.envs.registration import register, registry

from gym_memory.core.names import Registry

__all__ = ["ENVIRONMENTS", "NAMESPACE", "env_id", "register_envs"]

NAMESPACE = "gym_memory"
"""First part of every id."""

ENVIRONMENTS = Registry(
    "environment", "gym_memory.environments", "ENVIRONMENTS", ["gym_memory.games"]
)
"""Name to raw environment class; the id is ``gym_memory/<name>-v0``."""


def env_id(name: str) -> str:
    """Return the Gymnasium id of an environment's name."""
    return f"{NAMESPACE}/{name}-v0"


def register_envs() -> None:
    """Register every environment with Gymnasium; imports no backend."""
    for name in ENVIRONMENTS.names():
        if env_id(name) not in registry:
            register(
                id=env_id(name),
                entry_point="gym_memory.wrappers.make:make_env",
                kwargs={"name": name},
                disable_env_checker=True,
                order_enforce=False,
            )
