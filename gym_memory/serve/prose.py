"""Reading a description of places and things in plain sentences, as STMA's aggregator writes it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gym_memory.memory.schema import DIRECTIONS, INVENTORY, PLAYER, door_relation, way_relation
from gym_memory.types import Triple

__all__ = ["facts_in_prose"]

_DIRECTION = "|".join(DIRECTIONS)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_HERE = re.compile(r"^You are in (.+?)\.?$")
_FROM = re.compile(r"^From ([^,]+), (.+?)\.?$")
_WAY = re.compile(rf"^({_DIRECTION}) leads to (.+)$")
_EXIT = re.compile(rf"^(?:there is an exit ({_DIRECTION})|({_DIRECTION}) leads back to (.+?))$")
_DOOR = re.compile(r"^(.*?) (?:through|with) (.+)$")
_PLACED = re.compile(r"^(In|On|Under) ([^:]+): (.+?)\.?$")
_HELD = re.compile(r"^You hold (.+?)\.?$")
_STATES = re.compile(r"^(.+?) \(([^()]+)\)$")
_LISTED = re.compile(r", (?![^()]*\))")


def facts_in_prose(text: str) -> list[Triple]:
    """The facts that sentences of that kind state.

    >>> facts_in_prose("From hall, east leads to den through oak door (open). On desk: lamp.")[0]
    Triple(subject='den', relation='is east of', object='hall')
    """
    return [fact for sentence in _SENTENCE.split(text) for fact in _facts(sentence.strip())]


def _facts(sentence: str) -> Iterator[Triple]:
    if found := _HERE.match(sentence):
        yield Triple(PLAYER, "is in", found[1])
    elif found := _FROM.match(sentence):
        for lead in found[2].split("; "):
            yield from _lead(found[1], lead)
    elif found := _HELD.match(sentence):
        for thing in _LISTED.split(found[1]):
            yield from _thing(thing, "is in", INVENTORY)
    elif found := _PLACED.match(sentence):
        for thing in _LISTED.split(found[3]):
            yield from _thing(thing, f"is {found[1].lower()}", found[2])


def _lead(place: str, lead: str) -> Iterator[Triple]:
    """One way out of a place, with the door in it."""
    door = _DOOR.match(lead)
    bare = door[1] if door else lead
    way, exit_ = _WAY.match(bare), _EXIT.match(bare)
    if way is not None:
        direction = way[1]
        yield Triple(way[2], way_relation(direction), place)
    elif exit_ is not None:
        direction = exit_[1] or exit_[2]
        yield Triple(place, "has exit", direction)
        if exit_[3]:
            yield Triple(exit_[3], way_relation(direction), place)
    else:
        return
    if door is not None:
        name, states = _named(door[2])
        yield Triple(place, door_relation(direction), name)
        yield from (Triple(name, "is", state) for state in states)


def _thing(text: str, relation: str, holder: str) -> Iterator[Triple]:
    name, states = _named(text)
    yield Triple(name, relation, holder)
    yield from (Triple(name, "is", state) for state in states)


def _named(text: str) -> tuple[str, list[str]]:
    """A name and the states in brackets behind it."""
    found = _STATES.match(text)
    return (found[1], found[2].split(", ")) if found else (text, [])
