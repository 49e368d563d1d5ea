"""Raw text environments: the contract, the table of names, a folder for each game.

A folder holds all that belongs to its game: environment, engine, rules (text to facts) and facts
(the truth, for scoring). Memories and players are elsewhere. Another package may add a game,
see docs/own-game.md.
"""

from gym_memory.games.base import ENVIRONMENTS, Feedback, Snapshot, TextEnv, env_id

__all__ = ["ENVIRONMENTS", "Feedback", "Snapshot", "TextEnv", "env_id"]
