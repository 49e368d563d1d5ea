"""Fulfil requests of the task or of a text of the game.

*Place the milk on the stove* requests the valid action ``put milk on stove``. The player fulfils
requests in order and follows directions until it leaves the described route. *Bring the bell back
to where it stood* needs a place from the memory, so the aim becomes a question, and the player
looks once to let the memory recall the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from gym_memory.baselines.rules.base import explore, follow, go_to
from gym_memory.baselines.rules.beliefs import Beliefs, canonical
from gym_memory.baselines.rules.plan import Aim, Kind, Move, if_any
from gym_memory.core.records import Triple
from gym_memory.core.text import words as split_words
from gym_memory.graph.map import distances
from gym_memory.graph.schema import DIRECTIONS, INVENTORY, LOCATIONS, VERBATIM
from gym_memory.memory.reading import read_account

__all__ = ["carry", "deliver", "gives_directions", "is_open_ended", "is_requested", "run_errands"]

_WORDS_BY_VERB = {
    "unlock": "unlock unlocked unbolt",
    "lock": "lock locked",
    "close": "close closed shut",
    "open": "open opened",
    "insert": "insert deposit stow stash",
    "put": "put place sit set rest lay leave position deliver bring carry return lying",
    "take": "take pick grab get retrieve recover fetch lift obtain steal collect acquire remove",
    "drop": "drop discard release",
    "eat": "eat consume devour swallow",
    "drink": "drink sip",
    "cook": "cook fry roast grill",
    "slice": "slice", "dice": "dice", "chop": "chop",
    "push": "push press", "pull": "pull tug",
    "go": "go head travel move walk venture proceed run journey enter",
}  # fmt: skip
_VERB_OF = {word: verb for verb, words in _WORDS_BY_VERB.items() for word in words.split()}
_PUT_VERBS = ("put", "insert")
_CARRYING_VERBS = (*_PUT_VERBS, "drop")
_ACTION_VERBS = {"insert": ("insert", "put"), "put": _PUT_VERBS, "lock": ("lock", "close")}
"""Verbs of the valid actions that fulfil a request, or lead to it, by the verb of the request."""
_CLAUSE = re.compile(r"[.;!?\n]+|,? (?:and|then|before|after that),? |, ")
_PRONOUN = re.compile(r"\b(?:it|them)\b")
_NEGATION = re.compile(r"\b(?:not|never|avoid|without|cannot)\b|n't\b", re.IGNORECASE)
_CONDITION = re.compile(
    r"\s*(?:and |but |so )?(?:once|if|when|whenever|while|as soon as|with that)\b"
)
_WISH = re.compile(
    r"\b(?:should|must|ought|has to|have to|needs? to|belongs?|goes|go)\b"
    r".*\b(?:on|in|into|onto|upon|inside|atop|to)\b"
)
"""A statement about where an object should be, which counts as a request to put it there."""
_FLOOR = re.compile(r"\b(?:on|onto|to) (?:the )?(?:floor|ground)\b")
_OPEN_ENDED = re.compile(r"\b(?:explor|score|points\b)", re.IGNORECASE)
_REPETITION = re.compile(r"\b(?:repeat\w*|again|each time|over and over)\b", re.IGNORECASE)
"""Words of a task whose requests must be fulfilled repeatedly."""
_TRAVEL_WORDS = frozenset(
    ("go", "head", "travel", "move", "walk", "venture", "proceed", "run", "journey", "trip", "way")
)
_QUOTED = re.compile(r"(?<!\w)(?P<mark>['\"`])(?P<words>[^'\"`\n]{2,60}?)[.!]?(?P=mark)(?!\w)")
_ARGUMENTS = re.compile(r"(?P<thing>.+?)(?: (?:from|on|into|with) (?P<other>.+))?")
_MAX_REQUEST_CHARS = 60
_STATES_AFTER = {
    "open": ("open",), "unlock": ("closed", "open"),
    "close": ("closed", "locked"), "lock": ("locked",),
}  # fmt: skip
"""States of a thing after an action, by verb."""
_COOKING_VERBS = ("cook", "slice", "dice", "chop", "eat", "drink")
"""Verbs that are left to the cook once a recipe is known."""
_STATE_VERBS = ("lock", "close")
"""Verbs that describe states in the texts of a game (*it was locked*)."""


@dataclass(frozen=True)
class Order(Aim):
    """An order from a text of the game; ``source`` names the text."""

    source: str = ""


class _ActionRequest(NamedTuple):
    """A clause that requests an action; ``way`` is the direction that it names, or empty."""

    verb: str
    text: str
    way: str


@lru_cache(maxsize=64)
def _requests_in(text: str) -> tuple[_ActionRequest, ...]:
    found = []
    before = ""
    for clause in _CLAUSE.split(text.lower()):
        words = split_words(clause, "'-")
        if _NEGATION.search(clause) or _CONDITION.match(clause):
            continue
        if before and _PRONOUN.search(clause):
            clause = f"{before}, {clause}"
        else:
            before = clause
        way = next((word for word in words if word in DIRECTIONS), "")
        verb = next((_VERB_OF[word] for word in words if word in _VERB_OF), "")
        if way and not _TRAVEL_WORDS.isdisjoint(words):
            verb = "go"
        way = way if verb == "go" else ""
        if verb in ("", "go") and not way and _WISH.search(clause):
            verb = "put"
        if verb == "put" and _FLOOR.search(clause):
            verb = "drop"
        if not verb:
            continue
        if verb != "go" or way:
            found.append(_ActionRequest(verb, " ".join(clause.split()), way))
    return tuple(found)


def is_open_ended(goal: str) -> bool:
    """True if a task is to explore or to score, without specific requests."""
    return _OPEN_ENDED.search(goal) is not None and not _requests_in(goal)


def gives_directions(goal: str) -> bool:
    """True if a task describes a route."""
    return any(request.way for request in _requests_in(goal))


def run_errands(beliefs: Beliefs) -> Iterator[Move]:
    """Yield actions that fulfil requests, those of the task first."""
    requests = _requests_in(beliefs.task.goal)
    for action in _quoted_actions(beliefs):
        yield Move(action, Aim(f"do as told: {action}"))
    first = beliefs.plan.done
    while first < len(requests) and _is_done(beliefs, requests[first]):
        first += 1
    for number in range(first, len(requests)):
        request = requests[number]
        if request.way and beliefs.plan.astray:
            continue
        action = _action_for(beliefs, request)
        if action:
            done = action.partition(" ")[0] == request.verb or request.verb not in _STATE_VERBS
            how = f"do {number + 1}" if done else "first"
            text = f"{how}: {request.text[:_MAX_REQUEST_CHARS]}"
            yield Move(action, Aim(text, instruction=done * (number + 1)))
        if request.way:
            break
    for subject, request in _requests_of_texts(beliefs):
        action = _action_for(beliefs, request)
        if action and not beliefs.tried(action):
            text = f"do as {subject} says: {request.text[:_MAX_REQUEST_CHARS]}"
            yield Move(action, Order(text, source=subject))
    last = beliefs.plan.aim
    if isinstance(last, Order) and _REPETITION.search(beliefs.task.goal):
        for action in beliefs.options("read", "examine"):
            if action.endswith(f" {last.source}"):  # its text may have changed
                yield Move(action, Aim(f"read {last.source} again"))


def _requests_of_texts(beliefs: Beliefs) -> Iterator[tuple[str, _ActionRequest]]:
    """Yield requests of texts with their source, without directions and states."""
    aside = _COOKING_VERBS if beliefs.ingredients() else ()
    for subject, relation, text in beliefs.graph.live():
        for request in _requests_in(text) if relation in VERBATIM else ():
            if not request.way and request.verb not in (*_STATE_VERBS, *aside):
                yield subject, request


def carry(beliefs: Beliefs) -> Iterator[Move]:
    """Carry a held object to the place that the task or a text names."""
    distances = beliefs.distances
    requests = (
        *_requests_in(beliefs.task.goal),
        *(request for _, request in _requests_of_texts(beliefs)),
    )
    for request in requests:
        if request.verb not in _CARRYING_VERBS:
            continue
        for thing in beliefs.held():
            if not beliefs.is_named(thing, request.text):
                continue
            floor = _drop_room(request)
            where = request.text if floor is None else floor
            for place in _named_places(beliefs, where.replace(thing, "")):
                if place in distances and place != beliefs.here:
                    yield from if_any(go_to(beliefs, place, Aim(f"bring {thing} to {place}")))


def _drop_room(request: _ActionRequest) -> str | None:
    """Return the room to drop an object in; empty for any room, None for no drop."""
    floor = _FLOOR.search(request.text) if request.verb == "drop" else None
    return request.text[floor.end() :].strip() if floor else None


def _named_places(beliefs: Beliefs, text: str) -> Iterator[str]:
    """Yield the rooms of named holders, longest name first, then named rooms."""
    named = [
        e for e in beliefs.graph.entities() if beliefs.is_named(e, text) and not beliefs.holds(e)
    ]
    named.sort(key=lambda name: (beliefs.is_place(name), -len(name)))
    for name in named:
        room = name if beliefs.is_place(name) else beliefs.room_of(name)
        if room and beliefs.is_place(room):
            yield room


def is_requested(beliefs: Beliefs, thing: str, *verbs: str) -> bool:
    """True if the task requests one of these actions on an object."""
    requests = _requests_in(beliefs.task.goal)
    return any(
        request.verb in verbs and beliefs.is_named(thing, request.text) for request in requests
    )


def _quoted_actions(beliefs: Beliefs) -> Iterator[str]:
    for quoted in _QUOTED.finditer(beliefs.text):
        action = canonical(quoted["words"])
        if action in beliefs.actions and not _NEGATION.search(beliefs.text[: quoted.start()]):
            yield action


def _action_for(beliefs: Beliefs, request: _ActionRequest) -> str:
    if request.way:
        action = f"go {request.way}"
        return action if action in beliefs.actions else ""
    best, length = "", 0
    for action in beliefs.options(*_ACTION_VERBS.get(request.verb, (request.verb,))):
        verb, _, rest = action.partition(" ")
        found = _ARGUMENTS.fullmatch(rest)
        if found is None or not beliefs.is_named(found["thing"], request.text):
            continue
        other = found["other"]
        if other and verb in _PUT_VERBS and not beliefs.is_named(other, request.text):
            continue
        if (floor := _drop_room(request)) and not beliefs.is_named(beliefs.here or "", floor):
            continue
        if other and other in beliefs.objects(found["thing"], "opens"):
            continue  # a key belongs in the lock, not in the locked container
        named = len(found["thing"]) + (
            len(other) if other and beliefs.is_named(other, request.text) else 0
        )
        if named > length:
            best, length = action, named
    return best


def _is_done(beliefs: Beliefs, request: _ActionRequest) -> bool:
    if request.verb == "take":
        return any(beliefs.is_named(thing, request.text) for thing in beliefs.held())
    states = _STATES_AFTER.get(request.verb, ())
    return bool(states) and any(
        beliefs.openness(thing) in states and beliefs.is_named(thing, request.text)
        for thing in beliefs.graph.entities()
    )


_DELIVERY = re.compile(
    r"\bbring (?:the (?P<thing>[\w -]+?)|what stood on the (?P<was>[\w -]+?) on the first day)"
    r" (?:back to where it stood on the first day|to the (?P<holder>[\w -]+?))\.",
    re.IGNORECASE,
)
_SEARCH_MOVES = 2
"""Radius, in moves, of the search around an object's last known place."""


@dataclass(frozen=True)
class Delivery(Aim):
    """An aim to bring an object to a place, searched around ``room``."""

    thing: str = ""
    holder: str = ""
    room: str = ""
    been: tuple[str, ...] = ()
    """Rooms already searched."""


def deliver(beliefs: Beliefs) -> Iterator[Move]:
    """Yield the next step of a delivery that the task requests."""
    delivery = _DELIVERY.search(beliefs.task.goal.lower())
    if delivery is None:
        return
    plan = beliefs.plan
    brought = plan.action.startswith(("put ", "insert "))
    last = plan.aim if isinstance(plan.aim, Delivery) and not brought else None
    thing, holder = delivery["thing"] or "", delivery["holder"] or ""
    if last is not None and (last.thing == thing or last.holder == holder):
        thing, holder = thing or last.thing, holder or last.holder
    else:
        last = None
    if not (thing and holder):
        subject = thing or delivery["was"]
        question = f"where did {thing} stand first?" if thing else f"what was first on {subject}?"
        if plan.aim.text != question:
            if plan.aim.text != _aim_for_unknown(subject).text:
                yield Move("look", Aim(question))
            yield from _explore_unknown(beliefs, subject)
            return
        places = [(f.subject, f.object) for f in _past_locations(beliefs) if f.object != INVENTORY]
        if thing:
            holder = next((place for name, place in places if name == thing), "")
        else:
            thing = next((name for name, place in places if place == subject), "")
        if not (thing and holder):
            yield from _explore_unknown(beliefs, subject)
            return
    if beliefs.holds(thing):
        yield from _bring_thing(beliefs, thing, holder)
    else:
        yield from _fetch_thing(beliefs, thing, holder, last)
    yield from _explore_unknown(beliefs, thing)


def _past_locations(beliefs: Beliefs) -> list[Triple]:
    """Return facts about past locations, earliest first, by the memory's dates or order."""
    dated = [(t, fact) for t, fact in read_account(beliefs.recalled).dated]
    if not dated:
        dated = [(f.intervals[0][0], f.triple) for f in beliefs.graph.facts() if f.intervals]
    dated.sort(key=lambda pair: pair[0])
    return [fact for _, fact in dated if fact.relation in LOCATIONS]


def _bring_thing(beliefs: Beliefs, thing: str, holder: str) -> Iterator[Move]:
    aim = Delivery(f"bring {thing} for {holder}", thing=thing, holder=holder)
    if putting := beliefs.putting(thing, holder):
        yield Move(putting, aim)
    yield from _go_to_thing(beliefs, holder, aim)
    yield from if_any(explore(beliefs, _finding(thing, holder)))


def _finding(thing: str, holder: str) -> Delivery:
    return Delivery(f"find {thing} for {holder}", Kind.FIND, thing=thing, holder=holder)


def _fetch_thing(
    beliefs: Beliefs, thing: str, holder: str, last: Delivery | None
) -> Iterator[Move]:
    action = beliefs.taking(thing)
    aim = Delivery(f"fetch {thing} for {holder}", thing=thing, holder=holder)
    if action:
        yield Move(action, aim)
    yield from _go_to_thing(beliefs, thing, aim)
    find = _finding(thing, holder)
    if last is None:
        yield Move("look", replace(find, text=f"{find.text}: where was it last?"))
    room = last.room if last is not None else ""
    if not room:
        past = [
            f.object
            for f in _past_locations(beliefs)
            if f.subject == thing and f.object != INVENTORY
        ]
        room = beliefs.room_of(past[-1]) if past else ""
    if room:
        near = replace(find, text=f"{find.text} near {room}", room=room)
        yield from _search(beliefs, near, list(last.been) if last else [])
    yield from if_any(explore(beliefs, find))


def _go_to_thing(beliefs: Beliefs, sought: str, aim: Delivery) -> Iterator[Move]:
    """Go to an object's room by a known or planned route, or wait until one is recalled."""
    room = beliefs.room_of(sought)
    there = replace(aim, text=f"{aim.text} in {room}", room=room)
    if room and room != beliefs.here:
        yield from if_any(go_to(beliefs, room, there))
    last = beliefs.plan.aim
    if last.text.startswith(aim.text):
        yield from if_any(follow(beliefs))
    if room and room != beliefs.here and last.text != there.text:
        yield Move("look", there)


def _search(beliefs: Beliefs, aim: Delivery, been: list[str]) -> Iterator[Move]:
    """Search the rooms around ``aim.room``, nearest first; the aim lists the searched ones."""
    near = distances(aim.room, beliefs.ways)
    around = {room: moves for room, moves in near.items() if moves <= _SEARCH_MOVES}
    if beliefs.here in around and beliefs.here not in been:
        been.append(beliefs.here)
    away = beliefs.distances
    left = [room for room in around if room not in been and room in away]
    for room in sorted(left, key=lambda name: (around[name], away[name])):
        text = f"{aim.text} but not {' and '.join(been)}" if been else aim.text
        yield from if_any(go_to(beliefs, room, replace(aim, text=text, been=tuple(been))))


def _aim_for_unknown(subject: str) -> Aim:
    return Aim(f"explore, nothing known of {subject}", Kind.EXPLORE)


def _explore_unknown(beliefs: Beliefs, subject: str) -> Iterator[Move]:
    """Explore while an object of the task is unknown."""
    aim = _aim_for_unknown(subject)
    yield from if_any(explore(beliefs, aim))
    away = beliefs.distances
    if beliefs.plan.aim.text == aim.text:
        yield from if_any(follow(beliefs))
    for room in sorted(away, key=lambda name: (-away[name], name)):
        yield from if_any(go_to(beliefs, room, aim))
    yield Move("look", aim)
