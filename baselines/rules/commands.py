"""Commands in one spelling, however games of different authors spell them.

Players think in one spelling (``go north``, ``take lamp``, ``look``) and act in the game's.
"""

from __future__ import annotations

import re
from functools import lru_cache

from gym_memory.extract.notes.words import direction_in

__all__ = ["canonical"]

_TAKING = re.compile(r"(?:pick up|get|grab) (?!in\b|on\b|out\b|off\b|up\b)(?=\w)")
_LOOKING = frozenset(("look around", "l"))
_INTO = re.compile(r"(?:put|place|insert) (?P<thing>.+) (?:in|into|inside) (?P<holder>.+)")
_APPLIANCE = re.compile(r"(?P<cook>cook .+) (?:in|on|using) (?P<appliance>.+)")


@lru_cache(maxsize=1 << 14)
def canonical(action: str) -> str:
    """Return a command in the players' spelling.

    >>> [canonical(a) for a in ("move north", "w", "pick up lamp", "look around", "open gate")]
    ['go north', 'go west', 'take lamp', 'look', 'open gate']
    >>> canonical("cook red onion in oven"), canonical("put coin in box")
    ('cook red onion with oven', 'insert coin into box')
    """
    action = action.lower()
    direction = direction_in(action)
    if direction:
        return f"go {direction}"
    if action in _LOOKING:
        return "look"
    cooked = _APPLIANCE.fullmatch(action)
    if cooked:
        return f"{cooked['cook']} with {cooked['appliance']}"
    into = _INTO.fullmatch(action)
    if into:
        return f"insert {into['thing']} into {into['holder']}"
    action = action.replace("put down ", "drop ", 1) if action.startswith("put down ") else action
    return _TAKING.sub("take ", action, count=1) if _TAKING.match(action) else action
