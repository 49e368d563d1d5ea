"""What is left to do where nothing is known: look at everything, try everything on every lock.

A key need not be called a key, and what tells of it need not be called a note. Whoever has seen all
rooms and still stands before a lock goes round once more, looks at whatever can be looked at, takes
along whatever can be taken, and carries it to the locks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.baselines.rules.plan import SEARCH, Move, Notes, only
from gym_memory.baselines.rules.textworld.hunting import is_key
from gym_memory.baselines.rules.travel import go_to

__all__ = ["search", "tour"]

_BEEN = re.compile(rf"(?P<aim>{SEARCH}[a-z ]+?) after (?P<been>[^|]+?)(?:, by [a-z ]+)?(?: \||$)")
_AND = " and "
_ROOMS, _LOCKS = f"{SEARCH}all rooms", f"{SEARCH}what fits the locks"


def search(beliefs: Beliefs) -> Iterator[Move]:
    """Round all rooms with things in them, then round all locks; once, until a lock gives way."""
    if Notes.read(beliefs.plan).searched:
        return
    locks = [name for name in beliefs.graph.entities() if beliefs.openness(name) == "locked"]
    if not (locks or _is_hunt(beliefs)):
        return
    if not beliefs.plan.startswith(_LOCKS):
        been = _been(beliefs, _ROOMS)
        for action in _handle(beliefs, look_at_held=not been, carry=bool(locks)):
            yield Move(action, _listing(_ROOMS, been))
        rooms = (room for room in beliefs.distances() if beliefs.contents(room))
        yield from tour(beliefs, _ROOMS, rooms)
    yield from tour(beliefs, _LOCKS, (_room_of(beliefs, lock) for lock in locks))


def _is_hunt(beliefs: Beliefs) -> bool:
    """Whether keys or texts were met: somebody hid something here."""
    if beliefs.texts_read():
        return True
    return any(is_key(beliefs, name) for name in beliefs.graph.entities())


def _handle(beliefs: Beliefs, *, look_at_held: bool, carry: bool) -> Iterator[str]:
    """Look at what is here and was not looked at; take it along if there is a lock to try it on."""
    for thing in (*beliefs.contents(beliefs.here), *(beliefs.held() if look_at_held else ())):
        action = f"examine {thing}"
        known = beliefs.objects(thing, "says") or beliefs.tried(action)
        if not known and action in beliefs.actions:
            yield action
    if carry:
        yield from beliefs.options("take")


def _room_of(beliefs: Beliefs, lock: str) -> str:
    """The room of a locked thing, or one that a locked door leads out of."""
    ways_out = (f.subject for f in beliefs.graph.incoming(lock) if f.relation.endswith(" door"))
    return next(ways_out, beliefs.room_of(lock))


def _been(beliefs: Beliefs, aim: str) -> list[str]:
    """The rooms that the plan lists as seen on this round."""
    found = _BEEN.match(beliefs.plan)
    return found["been"].split(_AND) if found is not None and found["aim"] == aim else []


def _listing(aim: str, been: list[str]) -> str:
    return f"{aim} after {_AND.join(been)}" if been else aim


def tour(beliefs: Beliefs, aim: str, rooms: Iterable[str]) -> Iterator[Move]:
    """To the nearest room of a round that was not seen on it.

    Args:
        beliefs: What is known.
        aim: What the round is for; the plan lists the rooms behind it.
        rooms: Where to go, in any order.
    """
    been = _been(beliefs, aim)
    if beliefs.here not in been:
        been = [*been, beliefs.here]
    distances = beliefs.distances()
    left = sorted({(distances[r], r) for r in rooms if r in distances and r not in been})
    for _, room in left:
        yield from only(go_to(beliefs, room, _listing(aim, been)))
