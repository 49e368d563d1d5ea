"""Find and use keys, locks, notes and wanted objects.

Keys and notes are also recognized under other names. If a lock is still closed after all rooms were
visited, the player visits them again, examines and takes everything, and tries it on the locks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gym_memory.baselines.rules.base import explore, follow, go_to
from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.baselines.rules.plan import Aim, Kind, Move, if_any
from gym_memory.baselines.rules.textworld.errands import is_requested
from gym_memory.graph.schema import INVENTORY, PLAYER, QUOTED, head_noun, is_readable

__all__ = ["fetch_wanted", "is_key", "is_portable", "open_locks", "read_here", "search"]
__all__ += ["take_wanted", "tour", "try_keys", "use_keys"]

_MAX_DELIBERATE_GROUP = 3
"""Most objects in one place that are probably together on purpose."""
_INFORMATIVE = re.compile(
    r"\b(?:tells?|says?|reads?|study|consult|follow|explain(?:s|ed)?|describe[sd]?|written|check"
    r"|according|instruct\w*|look (?:at|for))\b"
)
_KEY = re.compile(r"key(?:s|card|cards)?$|^fobs?$")


@dataclass(frozen=True)
class Reading(Aim):
    """An aim to read a page, which lists the pages read in this place so far."""

    pages: tuple[str, ...] = ()


def is_portable(beliefs: Beliefs, thing: str) -> bool:
    """True if an object is probably portable: not openable and without contents."""
    fixed = beliefs.openness(thing) or beliefs.is_state(thing, "empty") or beliefs.contents(thing)
    return not fixed


def read_here(beliefs: Beliefs) -> Iterator[Move]:
    """Read each readable object here, or just taken, once.

    A page without text leaves no fact, so the plan lists the pages read in this place.
    """
    last, aim = beliefs.plan.action, beliefs.plan.aim
    new = [thing for thing in beliefs.held() if not last or last.startswith(f"take {thing}")]
    done = aim.pages if isinstance(aim, Reading) else ()
    for thing in (*beliefs.contents(beliefs.here), *new):
        informs = (
            is_readable(thing) or _is_guarded(beliefs, thing) or _is_informative(beliefs, thing)
        )
        informs = informs and not is_key(beliefs, thing)
        if informs and thing not in done and not _is_read(beliefs, thing):
            for verb in ("read", "examine"):
                if beliefs.can(f"{verb} {thing}") and not beliefs.tried(f"{verb} {thing}"):
                    pages = (*done, thing)
                    text = "read " + ", ".join(pages)
                    yield Move(f"{verb} {thing}", Reading(text, Kind.READ, pages=pages))


def _is_informative(beliefs: Beliefs, thing: str) -> bool:
    """True if the task says that a portable object is informative."""
    goal = beliefs.task.goal.lower()
    mentioned = _INFORMATIVE.search(goal) is not None and beliefs.is_named(thing, goal)
    return mentioned and is_portable(beliefs, thing)


def _is_read(beliefs: Beliefs, thing: str) -> bool:
    if any(t.relation in QUOTED for t in beliefs.graph.outgoing(thing)):
        return True
    return thing == "cookbook" and bool(beliefs.ingredients())


def take_wanted(beliefs: Beliefs) -> Iterator[Move]:
    """Take keys, objects that the task or a text names, and objects that were locked up."""
    for action in beliefs.options("take"):
        thing = action.removeprefix("take ").split(" from ")[0]
        wanted = beliefs.is_mentioned(thing) or _is_guarded(beliefs, thing)
        wanted = wanted and (not _is_page(beliefs, thing) or _is_to_be_moved(beliefs, thing))
        if (is_key(beliefs, thing) or wanted) and not _is_placed(beliefs, thing):
            yield Move(action, Aim(f"take {thing}"))


def _is_page(beliefs: Beliefs, thing: str) -> bool:
    """True if an object is readable and not known to lack a text."""
    return is_readable(thing) and not (
        beliefs.tried(f"examine {thing}") and not beliefs.objects(thing, "says")
    )


def _is_to_be_moved(beliefs: Beliefs, thing: str) -> bool:
    return is_requested(beliefs, thing, "take", "put", "insert")


def _is_guarded(beliefs: Beliefs, thing: str) -> bool:
    """True if an object is behind a lock with a known key, or next to a key or note."""
    holder = beliefs.holder(thing)
    if not holder or holder == INVENTORY or not is_portable(beliefs, thing):
        return False
    if beliefs.subjects("opens", holder):
        return True
    beside = [t for t in beliefs.contents(holder) if beliefs.holder(t) == holder]
    return len(beside) <= _MAX_DELIBERATE_GROUP and any(
        is_key(beliefs, t) or _is_page(beliefs, t) for t in beside
    )


def is_key(beliefs: Beliefs, thing: str) -> bool:
    """True if an object opens something, according to its name or a text."""
    return bool(_KEY.search(head_noun(thing)) or _opened_by(beliefs, thing))


def _is_placed(beliefs: Beliefs, thing: str) -> bool:
    goal, holder = beliefs.task.goal.lower(), beliefs.holder(thing)
    if holder and holder in beliefs.put_before(thing):
        return True
    put = re.search(rf"\b(?:put|place|insert|leave)\b[^.]*\b{re.escape(thing)}\b[^.]*", goal)
    return bool(put and holder and holder != beliefs.here and holder in put.group())


def open_locks(beliefs: Beliefs) -> Iterator[Move]:
    """Open closed things here, and try the held keys on locks."""
    for thing in beliefs.contents(beliefs.here):
        shut = beliefs.openness(thing) == "closed" and f"open {thing}" in beliefs.actions
        if shut and not is_requested(beliefs, thing, "close", "lock"):
            yield Move(f"open {thing}", Aim(f"open {thing}"))
    others = []
    for action in beliefs.options("unlock"):
        lock, _, key = action.removeprefix("unlock ").partition(" with ")
        if lock in _opened_by(beliefs, key) or not _opened_by(beliefs, key):
            yield Move(action, Aim(f"unlock {lock}"))
        elif not beliefs.tried(action):
            others.append(Move(action, Aim(f"try {key} on {lock}", Kind.TRY)))
    yield from others  # the text may name this lock differently or mean another


def _opened_by(beliefs: Beliefs, key: str) -> list[str]:
    return beliefs.objects(key, "opens")


def use_keys(beliefs: Beliefs) -> Iterator[Move]:
    """Go to the nearest lock of a held key, or search for one."""
    distances = beliefs.distances
    known: list[tuple[int, str, str]] = []
    unknown: list[str] = []
    for key in beliefs.held():
        for lock in _opened_by(beliefs, key):
            can_open = beliefs.room_of(lock) == beliefs.here and f"open {lock}" in beliefs.actions
            if can_open or beliefs.openness(lock) == "open":
                continue
            room = beliefs.room_of(lock) or _mentioned_room(beliefs, lock)
            aim = f"unlock {lock} with {key}"
            if room in distances:
                known.append((distances[room], room, aim))
            elif beliefs.plan.aim.text == aim and (on_the_way := follow(beliefs)):
                yield on_the_way
            else:
                unknown.append(f"find {lock}{f' in {room}' if room else ''} for {key}")
    for _, room, aim in sorted(known):
        yield from if_any(go_to(beliefs, room, Aim(aim)))
    if unknown:
        find = Aim(unknown[0], Kind.FIND)
        yield from if_any(explore(beliefs, find) or _wait_for_recall(beliefs, find))


def _wait_for_recall(beliefs: Beliefs, aim: Aim) -> Move | None:
    """Return a look that lets the memory answer; None if it was tried before."""
    last = beliefs.plan.aim
    paused = str(last) == str(aim) or last.kind in (Kind.SEARCH, Kind.TRY)
    return None if paused else Move("look", aim)


def try_keys(beliefs: Beliefs) -> Iterator[Move]:
    """Carry a key of unknown use to locks without a known key.

    Locks related to the key by a text or by name come first, then the nearest.
    """
    distances = beliefs.distances
    shut = [
        lock
        for lock in beliefs.graph.entities()
        if beliefs.openness(lock) in ("closed", "locked")
        and beliefs.room_of(lock) in distances
        and beliefs.room_of(lock) != beliefs.here
        and not beliefs.subjects("opens", lock)
    ]
    trips = []
    for key in beliefs.held():
        trips += [
            (not _are_related(beliefs, key, lock), distances[beliefs.room_of(lock)], lock, key)
            for lock in shut
            if _may_fit(beliefs, key, lock)
        ]
    for _, _, lock, key in sorted(trips):
        yield from if_any(
            go_to(beliefs, beliefs.room_of(lock), Aim(f"try {key} on {lock}", Kind.TRY))
        )


def _may_fit(beliefs: Beliefs, key: str, lock: str) -> bool:
    """True if a key without a known lock may fit."""
    # A lock without a location may be another name for this one.
    opened = _opened_by(beliefs, key)
    known = any(beliefs.room_of(other) or beliefs.openness(other) for other in opened)
    if known or not (_KEY.search(head_noun(key)) or _share_a_text(beliefs, key, lock)):
        return False
    return lock not in beliefs.objects(key, "does not open")


def _are_related(beliefs: Beliefs, key: str, lock: str) -> bool:
    """True if one text names both, or their names share a modifier such as *rusty*."""
    if _share_a_text(beliefs, key, lock):
        return True
    apart = (set(name.split()) - {head_noun(name)} for name in (key, lock))
    return bool(set.intersection(*apart))


def _share_a_text(beliefs: Beliefs, key: str, lock: str) -> bool:
    return bool({*beliefs.subjects("mentions", key)} & {*beliefs.subjects("mentions", lock)})


def fetch_wanted(beliefs: Beliefs) -> Iterator[Move]:
    """Go to the nearest unused key or object that the task or a text names."""
    distances = beliefs.distances
    targets = []
    for thing in beliefs.graph.entities():
        room = beliefs.room_of(thing)
        if beliefs.holds(thing) or room not in distances or room == beliefs.here:
            continue
        if thing == PLAYER or beliefs.is_place(thing) or _is_locked_up(beliefs, thing):
            continue
        if is_key(beliefs, thing):
            wanted = not _is_used_up(beliefs, thing)
        elif _is_page(beliefs, thing) and not _is_to_be_moved(beliefs, thing):
            continue
        else:
            wanted = beliefs.is_mentioned(thing) and is_portable(beliefs, thing)
        if wanted and not _is_placed(beliefs, thing):
            targets.append((distances[room], room, f"fetch {thing}"))
    for _, room, text in sorted(targets):
        yield from if_any(go_to(beliefs, room, Aim(text)))


def _mentioned_room(beliefs: Beliefs, thing: str) -> str:
    for note in beliefs.subjects("mentions", thing):
        for name in beliefs.objects(note, "mentions"):
            if beliefs.is_place(name):
                return name
    return ""


def _is_used_up(beliefs: Beliefs, key: str) -> bool:
    locks = _opened_by(beliefs, key)
    return bool(locks) and all(beliefs.openness(lock) == "open" for lock in locks)


def _is_locked_up(beliefs: Beliefs, thing: str) -> bool:
    """True if an object is in something closed that the player cannot open yet."""
    holder = beliefs.holder(thing)
    if beliefs.openness(holder) not in ("closed", "locked"):
        return False
    keys = beliefs.subjects("opens", holder)
    if keys or beliefs.openness(holder) == "closed":
        return any(not beliefs.holds(key) for key in keys)
    return not any(_may_fit(beliefs, key, holder) for key in beliefs.held())


_SEARCH_ROOMS, _SEARCH_LOCKS = "search all rooms", "search what fits the locks"


@dataclass(frozen=True)
class Round(Aim):
    """An aim to visit all rooms once for a purpose."""

    purpose: str = ""
    been: tuple[str, ...] = ()
    """Rooms visited so far."""

    @classmethod
    def of(cls, purpose: str, been: Sequence[str]) -> Round:
        """Build the aim, whose text lists the visited rooms."""
        text = f"{purpose} after {' and '.join(been)}" if been else purpose
        return cls(text, Kind.SEARCH, purpose=purpose, been=tuple(been))


def search(beliefs: Beliefs) -> Iterator[Move]:
    """Visit all rooms with objects, then all locks, once or until a lock opens."""
    if beliefs.plan.searched:
        return
    known = list(beliefs.graph.entities())
    locks = [name for name in known if beliefs.openness(name) == "locked"]
    if not (locks or beliefs.texts_read() or any(is_key(beliefs, name) for name in known)):
        return
    if not beliefs.plan.aim.text.startswith(_SEARCH_LOCKS):
        been = _rooms_visited(beliefs, _SEARCH_ROOMS)
        for action in _examine_and_take(beliefs, look_at_held=not been, carry=bool(locks)):
            yield Move(action, Round.of(_SEARCH_ROOMS, been))
        rooms = (room for room in beliefs.distances if beliefs.contents(room))
        yield from tour(beliefs, _SEARCH_ROOMS, rooms)
    yield from tour(beliefs, _SEARCH_LOCKS, (_room_of_lock(beliefs, lock) for lock in locks))


def _examine_and_take(beliefs: Beliefs, *, look_at_held: bool, carry: bool) -> Iterator[str]:
    """Yield actions that examine new objects here and, with ``carry``, take objects."""
    for thing in (*beliefs.contents(beliefs.here), *(beliefs.held() if look_at_held else ())):
        action = f"examine {thing}"
        known = beliefs.objects(thing, "says") or beliefs.tried(action)
        if not known and action in beliefs.actions:
            yield action
    if carry:
        yield from beliefs.options("take")


def _room_of_lock(beliefs: Beliefs, lock: str) -> str:
    """Return the room of a locked container, or a room on one side of a locked door."""
    ways_out = (f.subject for f in beliefs.graph.incoming(lock) if f.relation.endswith(" door"))
    return next(ways_out, beliefs.room_of(lock))


def _rooms_visited(beliefs: Beliefs, aim: str) -> list[str]:
    last = beliefs.plan.aim
    return list(last.been) if isinstance(last, Round) and last.purpose == aim else []


def tour(beliefs: Beliefs, aim: str, rooms: Iterable[str]) -> Iterator[Move]:
    """Go to the nearest unvisited room; the aim lists the visited ones."""
    been = _rooms_visited(beliefs, aim)
    if beliefs.here not in been:
        been = [*been, beliefs.here]
    distances = beliefs.distances
    left = sorted({(distances[r], r) for r in rooms if r in distances and r not in been})
    for _, room in left:
        yield from if_any(go_to(beliefs, room, Round.of(aim, been)))
