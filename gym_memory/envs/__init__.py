"""Raw text environments: one file a game family, one table of ids."""

from gym_memory.envs.base import Feedback, Snapshot, TextEnv
from gym_memory.envs.registry import ENVIRONMENTS, env_id

__all__ = ["ENVIRONMENTS", "Feedback", "Snapshot", "TextEnv", "env_id"]
