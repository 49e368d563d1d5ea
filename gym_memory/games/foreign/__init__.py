"""Any text environment that was not written for gym-memory.

``sources.py`` finds text, task, valid actions, score and dialect in what such an environment
returns, ``calls.py`` calls it, ``env.py`` makes a raw environment of it. Nothing here knows a
particular package.
"""

from gym_memory.games.foreign.env import ForeignEnv, make_foreign

__all__ = ["ForeignEnv", "make_foreign"]
