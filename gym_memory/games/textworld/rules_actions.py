"""What the list of valid actions tells of a place beside its description.

A description may leave out exits and furniture; ``go east`` and ``unlock Red safe with Key 2`` are
valid all the same, and an agent sees it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from gym_memory.extract.notes.words import DOOR, direction_in, kind_of_noun
from gym_memory.graph.schema import INVENTORY

__all__ = ["Offered", "offered"]

_ACTION = re.compile(
    r"(?P<verb>open|close|unlock|lock|insert|put|take) (?P<first>.+?)"
    r"(?: (?P<how>with|into|on|from) (?P<second>.+))?"
)
_STATES = {"open": "closed", "close": "open", "unlock": "locked"}


class Offered(NamedTuple):
    """What valid actions name.

    Attributes:
        exits: Directions in which one can go.
        here: Things that are in the room itself, and what their action says of them: ``closed``,
            ``open``, ``locked`` or nothing.
    """

    exits: tuple[str, ...]
    here: tuple[tuple[str, str], ...]


@lru_cache(maxsize=256)
def offered(actions: tuple[str, ...]) -> Offered:
    """Exits and things that valid actions name.

    >>> offered(("go east", "unlock Red safe with Key 2", "take egg from jar", "look"))
    Offered(exits=('east',), here=(('red safe', 'locked'), ('jar', '')))
    """
    lower = [action.lower() for action in actions]
    exits = (direction_in(action) for action in lower if action.startswith("go "))
    here: dict[str, str] = {}
    for name, state in _named(lower):
        if name != INVENTORY and kind_of_noun(name) != DOOR and not here.get(name):
            here[name] = state
    return Offered(tuple(exit_ for exit_ in exits if exit_), tuple(here.items()))


def _named(actions: list[str]) -> Iterator[tuple[str, str]]:
    for action in actions:
        found = _ACTION.fullmatch(action)
        if found is None:
            continue
        verb, second = found["verb"], found["second"] or ""
        if verb in ("open", "close", "unlock", "lock"):
            yield found["first"], _STATES.get(verb, "")
        elif second:
            yield second, ""
        elif verb == "take":
            yield found["first"], ""
