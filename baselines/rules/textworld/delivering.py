"""Bringing things where the task wants them, also where it names them by what was once true.

Of *bring the bell back to where it stood on the first day* the memory must know the rest. The
player's plan is then a question, and it pauses for the answer: dated facts, or a transcript.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.baselines.rules.plan import Aim, Kind, Move, only
from gym_memory.baselines.rules.travel import explore, follow, go_to
from gym_memory.core.records import Triple
from gym_memory.graph.map import distances
from gym_memory.graph.schema import INVENTORY, LOCATIONS
from gym_memory.memory.reading import read_account

__all__ = ["deliver"]

_ASKED = re.compile(
    r"\bbring (?:the (?P<thing>[\w -]+?)|what stood on the (?P<was>[\w -]+?) on the first day)"
    r" (?:back to where it stood on the first day|to the (?P<holder>[\w -]+?))\.",
    re.IGNORECASE,
)
_NEAR = 2
"""So many rooms away may be what is not where it was."""


@dataclass(frozen=True)
class Delivery(Aim):
    """Hold a thing on its way to what is to hold it; ``room`` is where it is sought."""

    thing: str = ""
    holder: str = ""
    room: str = ""
    been: tuple[str, ...] = ()
    """Rooms that were searched for it."""


def deliver(beliefs: Beliefs) -> Iterator[Move]:
    """Yield the next step of what the task wants brought; none when it wants nothing such."""
    asked = _ASKED.search(beliefs.task.goal.lower())
    if asked is None:
        return
    plan = beliefs.plan
    brought = plan.action.startswith(("put ", "insert "))
    last = plan.aim if isinstance(plan.aim, Delivery) and not brought else None
    thing, holder = asked["thing"] or "", asked["holder"] or ""
    if last is not None and (last.thing == thing or last.holder == holder):
        thing, holder = thing or last.thing, holder or last.holder
    else:
        last = None
    if not (thing and holder):
        subject = thing or asked["was"]
        question = f"where did {thing} stand first?" if thing else f"what was first on {subject}?"
        if plan.aim.text != question:
            if plan.aim.text != _unknown(subject).text:
                yield Move("look", Aim(question))
            yield from _roam(beliefs, subject)
            return
        places = [(f.subject, f.object) for f in _past(beliefs) if f.object != INVENTORY]
        if thing:
            holder = next((place for name, place in places if name == thing), "")
        else:
            thing = next((name for name, place in places if place == subject), "")
        if not (thing and holder):
            yield from _roam(beliefs, subject)
            return
    if beliefs.holds(thing):
        yield from _bring(beliefs, thing, holder)
    else:
        yield from _fetch(beliefs, thing, holder, last)
    yield from _roam(beliefs, thing)


def _past(beliefs: Beliefs) -> list[Triple]:
    """Return where things were, the earliest first, as the memory dates or orders it."""
    dated = [(t, fact) for t, fact in read_account(beliefs.recalled).dated]
    if not dated:
        dated = [(f.intervals[0][0], f.triple) for f in beliefs.graph.facts() if f.intervals]
    dated.sort(key=lambda pair: pair[0])
    return [fact for _, fact in dated if fact.relation in LOCATIONS]


def _bring(beliefs: Beliefs, thing: str, holder: str) -> Iterator[Move]:
    aim = Delivery(f"bring {thing} for {holder}", thing=thing, holder=holder)
    if putting := beliefs.putting(thing, holder):
        yield Move(putting, aim)
    yield from _go_where(beliefs, holder, aim)
    yield from only(explore(beliefs, _find(thing, holder)))


def _find(thing: str, holder: str) -> Delivery:
    return Delivery(f"find {thing} for {holder}", Kind.FIND, thing=thing, holder=holder)


def _fetch(beliefs: Beliefs, thing: str, holder: str, last: Delivery | None) -> Iterator[Move]:
    action = beliefs.taking(thing)
    aim = Delivery(f"fetch {thing} for {holder}", thing=thing, holder=holder)
    if action:
        yield Move(action, aim)
    yield from _go_where(beliefs, thing, aim)
    find = _find(thing, holder)
    if last is None:
        yield Move("look", replace(find, text=f"{find.text}: where was it last?"))
    room = last.room if last is not None else ""
    if not room:
        past = [f.object for f in _past(beliefs) if f.subject == thing and f.object != INVENTORY]
        room = beliefs.room_of(past[-1]) if past else ""
    if room:
        near = replace(find, text=f"{find.text} near {room}", room=room)
        yield from _search(beliefs, near, list(last.been) if last else [])
    yield from only(explore(beliefs, find))


def _go_where(beliefs: Beliefs, sought: str, aim: Delivery) -> Iterator[Move]:
    """Go to the room of a thing by a known way, by the way once planned, or by one to recall."""
    room = beliefs.room_of(sought)
    there = replace(aim, text=f"{aim.text} in {room}", room=room)
    if room and room != beliefs.here:
        yield from only(go_to(beliefs, room, there))
    last = beliefs.plan.aim
    if last.text.startswith(aim.text):
        yield from only(follow(beliefs))
    if room and room != beliefs.here and last.text != there.text:
        yield Move("look", there)


def _search(beliefs: Beliefs, aim: Delivery, been: list[str]) -> Iterator[Move]:
    """Search the rooms around one, the nearest to it first; the aim lists those seen."""
    near = distances(aim.room, beliefs.ways)
    around = {room: moves for room, moves in near.items() if moves <= _NEAR}
    if beliefs.here in around and beliefs.here not in been:
        been.append(beliefs.here)
    away = beliefs.distances
    left = [room for room in around if room not in been and room in away]
    for room in sorted(left, key=lambda name: (around[name], away[name])):
        text = f"{aim.text} but not {' and '.join(been)}" if been else aim.text
        yield from only(go_to(beliefs, room, replace(aim, text=text, been=tuple(been))))


def _unknown(subject: str) -> Aim:
    return Aim(f"explore, nothing known of {subject}", Kind.EXPLORE)


def _roam(beliefs: Beliefs, subject: str) -> Iterator[Move]:
    """Look around: nothing is known of what the task names, and more may be one day."""
    aim = _unknown(subject)
    yield from only(explore(beliefs, aim))
    away = beliefs.distances
    if beliefs.plan.aim.text == aim.text:
        yield from only(follow(beliefs))
    for room in sorted(away, key=lambda name: (-away[name], name)):
        yield from only(go_to(beliefs, room, aim))
    yield Move("look", aim)
