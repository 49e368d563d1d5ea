"""Raw text environments: the contract, the one table of names, a folder a game.

A folder holds all that belongs to its game: adapter, engine, rules (text to facts), facts (the
truth, for scoring). No memory lives here, and nothing that chooses actions; games do not know each
other. A game may as well be another package, see docs/own-game.md.
"""

from gym_memory.games.base import Feedback, Snapshot, TextEnv
from gym_memory.games.registry import ENVIRONMENTS, env_id

__all__ = ["ENVIRONMENTS", "Feedback", "Snapshot", "TextEnv", "env_id"]
