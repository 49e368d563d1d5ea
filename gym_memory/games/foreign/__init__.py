"""Any text environment that was not written for gym-memory.

``sources.py`` says where text, task, valid actions and score are found in what such an environment
returns (``chat.py`` reads chats), ``detect.py`` whose dialect it speaks, ``calls.py`` how it is
called, ``adapter.py`` makes a raw environment of it, ``make.py`` finds it by a name. Nothing here
knows a particular package.
"""

from gym_memory.games.foreign.env import ForeignEnv, make_foreign

__all__ = ["ForeignEnv", "make_foreign"]
