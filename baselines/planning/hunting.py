"""Keys, locks, notes and things that the task asks for."""

from __future__ import annotations

import re

from gym_memory.baselines.planning.beliefs import Beliefs
from gym_memory.baselines.planning.travel import Move, explore, follow, go_to

__all__ = ["fetch_wanted", "open_locks", "read_here", "take_wanted", "use_keys"]

_READABLE = re.compile(
    r"\b(?:note|letter|scroll|sign|leaflet|book|diary|page|map|cookbook|paper|parchment|poster)$"
)
_KEY = re.compile(r"\b(?:key|keycard|passkey|latchkey)$")


def read_here(beliefs: Beliefs) -> Move | None:
    """Read what lies here or is held, once.

    A page that says nothing leaves no fact behind, so the plan lists what was read in this place.
    """
    done = beliefs.plan.partition(" | ")[0].removeprefix("read ").split(", ")
    done = done if beliefs.plan.startswith("read ") else []
    for thing in (*beliefs.contents(beliefs.here), *beliefs.held()):
        if _READABLE.search(thing) and thing not in done and not _is_read(beliefs, thing):
            for verb in ("read", "examine"):
                if beliefs.can(f"{verb} {thing}"):
                    return Move(f"{verb} {thing}", "read " + ", ".join([*done, thing]))
    return None


def _is_read(beliefs: Beliefs, thing: str) -> bool:
    known = ("says", "mentions")
    if any(t.relation in known for t in beliefs.graph.outgoing(thing)):
        return True
    return thing == "cookbook" and bool(beliefs.objects("recipe", "requires"))


def take_wanted(beliefs: Beliefs) -> Move | None:
    """Take a key, or a thing that the task names."""
    for action in beliefs.options("take"):
        thing = action.removeprefix("take ").split(" from ")[0]
        wanted = _KEY.search(thing) or _is_named(beliefs, thing)
        if wanted and not _READABLE.search(thing) and not _placed(beliefs, thing):
            return Move(action, f"take {thing}")
    return None


def _placed(beliefs: Beliefs, thing: str) -> bool:
    """Whether the task asks to put the thing where it already is."""
    goal, holder = beliefs.task.goal.lower(), beliefs.holder(thing)
    put = re.search(rf"\b(?:put|place|insert|leave)\b[^.]*\b{re.escape(thing)}\b[^.]*", goal)
    return bool(put and holder and holder != beliefs.here and holder in put.group())


def open_locks(beliefs: Beliefs) -> Move | None:
    """Unlock here with a key that fits, and open what was unlocked."""
    for thing in beliefs.contents(beliefs.here):
        if beliefs.openness(thing) == "closed" and f"open {thing}" in beliefs.actions:
            return Move(f"open {thing}", f"open {thing}")
    for action in beliefs.options("unlock"):
        lock, _, key = action.removeprefix("unlock ").partition(" with ")
        if lock in _opened_by(beliefs, key) or not _opened_by(beliefs, key):
            return Move(action, f"unlock {lock}")
    return None


def _opened_by(beliefs: Beliefs, key: str) -> list[str]:
    return beliefs.objects(key, "opens")


def use_keys(beliefs: Beliefs) -> Move | None:
    """Go to the nearest lock that a held key is known to open, or look for it."""
    distances = beliefs.distances()
    known: list[tuple[int, str, str]] = []
    unknown: list[str] = []
    for key in beliefs.held():
        for lock in _opened_by(beliefs, key):
            if beliefs.openness(lock) == "open":
                continue
            room = beliefs.room_of(lock) or _told_room(beliefs, lock)
            aim = f"unlock {lock} with {key}"
            if room in distances:
                known.append((distances[room], room, aim))
            elif on_the_way := follow(beliefs, aim):
                return on_the_way
            else:
                unknown.append(f"find {lock}{f' in {room}' if room else ''} for {key}")
    for _, room, aim in sorted(known):
        move = go_to(beliefs, room, aim)
        if move:
            return move
    return (explore(beliefs, unknown[0]) or _recollect(beliefs, unknown[0])) if unknown else None


def _recollect(beliefs: Beliefs, aim: str) -> Move | None:
    """Pause to let the memory answer the plan, unless it has just been asked that."""
    return None if beliefs.plan.startswith(f"{aim} |") else Move("look", aim)


def fetch_wanted(beliefs: Beliefs) -> Move | None:
    """Go to the nearest key without a use so far, or thing that the task names."""
    distances = beliefs.distances()
    targets = []
    for thing in beliefs.graph.entities():
        room = beliefs.room_of(thing)
        if beliefs.holds(thing) or room not in distances or room == beliefs.here:
            continue
        if beliefs.is_place(thing) or _READABLE.search(thing) or _is_locked_up(beliefs, thing):
            continue
        if _KEY.search(thing):
            wanted = not _spent(beliefs, thing)
        else:
            wanted = _is_named(beliefs, thing) and _is_portable(beliefs, thing)
        if wanted and not _placed(beliefs, thing):
            targets.append((distances[room], room, f"fetch {thing}"))
    return go_to(beliefs, *min(targets)[1:]) if targets else None


def _told_room(beliefs: Beliefs, thing: str) -> str:
    """The room that is mentioned together with a thing, "" if none is."""
    for note in beliefs.subjects("mentions", thing):
        for name in beliefs.objects(note, "mentions"):
            if beliefs.is_place(name):
                return name
    return ""


def _spent(beliefs: Beliefs, key: str) -> bool:
    locks = _opened_by(beliefs, key)
    return bool(locks) and all(beliefs.openness(lock) == "open" for lock in locks)


def _is_locked_up(beliefs: Beliefs, thing: str) -> bool:
    """Whether it lies in something shut that a key opens which the agent does not hold."""
    holder = beliefs.holder(thing)
    if beliefs.openness(holder) not in ("closed", "locked"):
        return False
    return any(not beliefs.holds(key) for key in beliefs.subjects("opens", holder))


def _is_named(beliefs: Beliefs, thing: str) -> bool:
    """Whether the task names it."""
    return bool(re.search(rf"\b{re.escape(thing)}\b", beliefs.task.goal.lower()))


def _is_portable(beliefs: Beliefs, thing: str) -> bool:
    """Nothing that can be opened or holds things is carried about."""
    return not beliefs.openness(thing) and not beliefs.contents(thing)
