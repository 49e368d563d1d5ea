"""Bringing things where the task wants them, also where it tells them by what was once true.

*Bring the bell to the oak desk* names both; of *bring the bell back to where it stood on the first
day* and *bring what stood on the oak desk on the first day to the pine shelf* the memory must know
the rest. The player asks for it by a plan that is a question, and pauses for the answer: dated
facts, or the order in which a transcript tells things.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.baselines.rules.plan import Move, only
from gym_memory.baselines.rules.travel import explore, follow, go_to
from gym_memory.core.records import Triple
from gym_memory.graph.schema import INVENTORY, LOCATIONS
from gym_memory.memory.reading import read_account

__all__ = ["deliver"]

_ASKED = re.compile(
    r"\bbring (?:the (?P<thing>[\w -]+?)|what stood on the (?P<was>[\w -]+?) on the first day)"
    r" (?:back to where it stood on the first day|to the (?P<holder>[\w -]+?))\.",
    re.IGNORECASE,
)
_PLAN = re.compile(
    r"(?P<verb>find|fetch|bring) (?P<thing>[\w -]+?) for (?P<holder>[\w -]+?)"
    r"(?: (?:in|near) (?P<room>[\w -]+?))?(?: but not (?P<been>[\w -]+?))?(?:[,:]| \||$)"
)
_UNKNOWN = "explore, nothing known of {}"
_AND = " and "
_NEAR = 2
"""So many rooms away somebody may have put what is not where it was."""


def deliver(beliefs: Beliefs) -> Iterator[Move]:
    """The next step of what the task asks to be brought; none when it asks for nothing such."""
    asked = _ASKED.search(beliefs.task.goal.lower())
    if asked is None:
        return
    brought = Move.read(beliefs.plan).action.startswith(("put ", "insert "))
    plan = None if brought else _PLAN.match(beliefs.plan)
    thing, holder = asked["thing"] or "", asked["holder"] or ""
    if plan is not None and (plan["thing"] == thing or plan["holder"] == holder):
        thing, holder = thing or plan["thing"], holder or plan["holder"]
    else:
        plan = None
    if not (thing and holder):
        subject = thing or asked["was"]
        question = f"where did {thing} stand first?" if thing else f"what was first on {subject}?"
        if not beliefs.plan.startswith(question):
            if not beliefs.plan.startswith(_UNKNOWN.format(subject)):
                yield Move("look", question)
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
        yield from _fetch(beliefs, thing, holder, plan)
    yield from _roam(beliefs, thing)


def _past(beliefs: Beliefs) -> list[Triple]:
    """Where things were, the earliest first, as the memory dates or tells it."""
    dated = [(t, fact) for t, fact in read_account(beliefs.recalled).dated]
    if not dated:
        dated = [(f.intervals[0][0], f.triple) for f in beliefs.graph.facts() if f.intervals]
    dated.sort(key=lambda pair: pair[0])
    return [fact for _, fact in dated if fact.relation in LOCATIONS]


def _bring(beliefs: Beliefs, thing: str, holder: str) -> Iterator[Move]:
    aim = f"bring {thing} for {holder}"
    if putting := beliefs.putting(thing, holder):
        yield Move(putting, aim)
    yield from _go_where(beliefs, holder, aim)
    yield from only(explore(beliefs, f"find {thing} for {holder}"))


def _fetch(beliefs: Beliefs, thing: str, holder: str, plan: re.Match[str] | None) -> Iterator[Move]:
    action = beliefs.taking(thing)
    if action:
        yield Move(action, f"fetch {thing} for {holder}")
    yield from _go_where(beliefs, thing, f"fetch {thing} for {holder}")
    if plan is None:
        yield Move("look", f"find {thing} for {holder}: where was it last?")
    room = plan["room"] if plan is not None and plan["room"] else ""
    if not room:
        last = [f.object for f in _past(beliefs) if f.subject == thing and f.object != INVENTORY]
        room = beliefs.room_of(last[-1]) if last else ""
    if room:
        yield from _search(beliefs, f"find {thing} for {holder} near {room}", room, plan)
    yield from only(explore(beliefs, f"find {thing} for {holder}"))


def _go_where(beliefs: Beliefs, sought: str, aim: str) -> Iterator[Move]:
    """To the room of a thing: by a known way, by the way once planned, or by one to be recalled."""
    room = beliefs.room_of(sought)
    there = f"{aim} in {room}"
    if room and room != beliefs.here:
        yield from only(go_to(beliefs, room, there))
    head = beliefs.plan.partition(",")[0]
    if head.startswith(aim):
        yield from only(follow(beliefs, head))
    if room and room != beliefs.here and not beliefs.plan.startswith(there):
        yield Move("look", there)


def _search(beliefs: Beliefs, aim: str, centre: str, plan: re.Match[str] | None) -> Iterator[Move]:
    """Through the rooms around one, the nearest to it first; the plan lists those seen."""
    been = plan["been"].split(_AND) if plan is not None and plan["been"] else []
    around = _around(beliefs, centre)
    if beliefs.here in around and beliefs.here not in been:
        been.append(beliefs.here)
    distances = beliefs.distances()
    left = [room for room in around if room not in been and room in distances]
    for room in sorted(left, key=lambda name: (around[name], distances[name])):
        listed = f"{aim} but not {_AND.join(been)}" if been else aim
        yield from only(go_to(beliefs, room, listed))


def _around(beliefs: Beliefs, centre: str) -> dict[str, int]:
    """Known rooms near one, with their distance from it."""
    found = {centre: 0}
    for place in found.copy():
        queue = [place]
        for room in queue:
            if found[room] < _NEAR:
                for other in beliefs.ways(room).values():
                    if other not in found:
                        found[other] = found[room] + 1
                        queue.append(other)
    return found


def _roam(beliefs: Beliefs, subject: str) -> Iterator[Move]:
    """Look around: nothing is known of what is asked for, and more may be one day."""
    aim = _UNKNOWN.format(subject)
    yield from only(explore(beliefs, aim))
    distances = beliefs.distances()
    planned = follow(beliefs, aim)
    if planned is not None:
        yield planned
    for room in sorted(distances, key=lambda name: (-distances[name], name)):
        yield from only(go_to(beliefs, room, aim))
    yield Move("look", aim)
