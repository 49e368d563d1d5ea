"""What is left to do where nothing is known: look at everything, try everything on every lock.

A key need not be called a key, nor a note a note. After all rooms, with a lock still shut, the
player goes round once more, looks at and takes whatever it can, and carries it to the locks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.baselines.rules.plan import Aim, Kind, Move, only
from gym_memory.baselines.rules.textworld.hunting import is_key
from gym_memory.baselines.rules.travel import go_to

__all__ = ["search", "tour"]

_ROOMS, _LOCKS = "search all rooms", "search what fits the locks"


@dataclass(frozen=True)
class Round(Aim):
    """List the rooms of a round."""

    purpose: str = ""
    been: tuple[str, ...] = ()
    """Rooms that were seen on it."""

    @classmethod
    def of(cls, purpose: str, been: Sequence[str]) -> Round:
        """Build the aim, whose text lists the rooms that were seen."""
        text = f"{purpose} after {' and '.join(been)}" if been else purpose
        return cls(text, Kind.SEARCH, purpose=purpose, been=tuple(been))


def search(beliefs: Beliefs) -> Iterator[Move]:
    """Go round all rooms with things, then round all locks; once, until a lock gives way."""
    if beliefs.plan.searched:
        return
    locks = [name for name in beliefs.graph.entities() if beliefs.openness(name) == "locked"]
    if not (locks or _is_hunt(beliefs)):
        return
    if not beliefs.plan.aim.text.startswith(_LOCKS):
        been = _been(beliefs, _ROOMS)
        for action in _handle(beliefs, look_at_held=not been, carry=bool(locks)):
            yield Move(action, Round.of(_ROOMS, been))
        rooms = (room for room in beliefs.distances if beliefs.contents(room))
        yield from tour(beliefs, _ROOMS, rooms)
    yield from tour(beliefs, _LOCKS, (_room_of(beliefs, lock) for lock in locks))


def _is_hunt(beliefs: Beliefs) -> bool:
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
    """Return the room of a locked thing, or one that a locked door leads out of."""
    ways_out = (f.subject for f in beliefs.graph.incoming(lock) if f.relation.endswith(" door"))
    return next(ways_out, beliefs.room_of(lock))


def _been(beliefs: Beliefs, aim: str) -> list[str]:
    last = beliefs.plan.aim
    return list(last.been) if isinstance(last, Round) and last.purpose == aim else []


def tour(beliefs: Beliefs, aim: str, rooms: Iterable[str]) -> Iterator[Move]:
    """Go to the nearest of some rooms that was not seen on this round; the aim lists those seen."""
    been = _been(beliefs, aim)
    if beliefs.here not in been:
        been = [*been, beliefs.here]
    distances = beliefs.distances
    left = sorted({(distances[r], r) for r in rooms if r in distances and r not in been})
    for _, room in left:
        yield from only(go_to(beliefs, room, Round.of(aim, been)))
