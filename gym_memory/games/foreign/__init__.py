"""Adapters for text environments that were not written for gym-memory.

``calls.py`` calls such an environment, ``sources.py`` finds text, task, valid actions, score and
dialect in its results, and ``env.py`` makes it a raw environment. No code here is about a
particular package.
"""

from gym_memory.games.foreign.env import ForeignEnv, make_foreign

__all__ = ["ForeignEnv", "make_foreign"]
