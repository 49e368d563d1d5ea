"""gym-memory: Gymnasium environments whose observation carries a maintained memory."""

from gym_memory.envs.registry import register_envs
from gym_memory.version import __version__

__all__ = ["__version__"]

register_envs()
