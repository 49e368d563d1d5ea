"""Raw text environments: their contract, their registry, and one folder per game.

A folder has a game's environment, engine, extraction rules and true facts (for scoring). Memories
and players are elsewhere. Other packages can add games, see docs/own-game.md.
"""

from gym_memory.games.base import ENVIRONMENTS, Feedback, Snapshot, TextEnv, env_id

__all__ = ["ENVIRONMENTS", "Feedback", "Snapshot", "TextEnv", "env_id"]
