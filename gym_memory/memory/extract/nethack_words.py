"""The vocabulary of facts about NetHack, shared by the extraction rules and the engine's facts.

Rooms, corridors, doors and features have numbers on their level, so their names carry the level's:
``room 3 of level 2``. Besides the shared vocabulary (:mod:`gym_memory.memory.schema`):

=============================================== ==============================================
fact                                            meaning
=============================================== ==============================================
``room 3 of level 2 | has exit | door 4``       a door or doorway; ``down`` and ``up`` are the
                                                stairs, a second pair is ``stairs down 2``
``corridor 1 of level 2 | is through door 4 of  going through door 4 from the room leads to
| room 3 of level 2``                           the corridor
``room 1 of level 3 | is down of | room 3 of    taking the stairs down there leads to the room
level 2``                                       below
``door 4 of level 2 | is | closed``             open / closed / locked / broken
``stairs down of level 2 | is in | room 3 ...`` a feature: stairs, altar, fountain, trap, ...
``room 3 of level 2 | has item | dagger``       what lies there on top; equal things are told
                                                apart by a number (``dagger 2``)
``jackal | was last seen in | room 3 ...``      a creature of that name, tame or peaceful ones
                                                with that word before it
``room 3 of level 2 | is | general store``      what a room is besides a room
``room 3 of level 2 | is | explored``           explored / partly explored
``you | wield | long sword``, ``you | wear |``  the weapon in hand; armor and jewellery worn
=============================================== ==============================================
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from gym_memory.memory.schema import INVENTORY, PLAYER
from gym_memory.types import Triple

__all__ = ["HAS_EXIT", "HAS_ITEM", "SIGHTING", "area_facts", "exit_of", "item_facts", "numbered"]
__all__ += ["scoped"]

HAS_EXIT, HAS_ITEM, SIGHTING = "has exit", "has item", "was last seen in"
WIELDS, WEARS = "wield", "wear"

_STAIRS = re.compile(r"^(?:stairs|ladder) (up|down)$")
_TOLD_STATES = frozenset({"open", "closed", "locked", "broken"})
_COUNT = re.compile(r"^(?:an?|the|\d+) ")
_REMARK = re.compile(r" \([^()]*\)")


def scoped(name: str, level: str) -> str:
    """The full name of something that is numbered on its level.

    >>> scoped("room 3", "level 2")
    'room 3 of level 2'
    """
    return f"{name} of {level}"


def exit_of(feature: str) -> str:
    """What an exit is called; stairs are called by their direction.

    >>> exit_of("stairs down"), exit_of("stairs down 2"), exit_of("door 4")
    ('down', 'stairs down 2', 'door 4')
    """
    stairs = _STAIRS.match(feature)
    return stairs[1] if stairs else feature


def is_stairs(feature: str) -> bool:
    """Whether a feature leads to another level."""
    return feature.startswith(("stairs ", "ladder "))


def numbered(names: Iterable[str]) -> Iterator[str]:
    """Names of things, equal ones told apart.

    >>> list(numbered(["dart", "dart", "egg"]))
    ['dart', 'dart 2', 'egg']
    """
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = count = counts.get(name, 0) + 1
        yield name if count == 1 else f"{name} {count}"


def area_facts(
    area: str,
    level: str,
    *,
    kind: str,
    explored: bool,
    features: Iterable[str],
    exits: Iterable[tuple[str, str]],
    items: Iterable[str],
) -> Iterator[Triple]:
    """All facts that the description of an area states, creatures left out.

    Args:
        area: Full name of the area.
        level: Name of its level.
        kind: What it is besides a room; "" for nothing.
        explored: Whether all of it was seen.
        features: Names of features on the level.
        exits: Names of doors on the level, with their states.
        items: Names of things.
    """
    if kind:
        yield Triple(area, "is", kind)
    yield Triple(area, "is", "explored" if explored else "partly explored")
    for feature in features:
        yield Triple(scoped(feature, level), "is in", area)
        if is_stairs(feature):
            yield Triple(area, HAS_EXIT, exit_of(feature))
    for door, state in exits:
        yield Triple(area, HAS_EXIT, door)
        if state in _TOLD_STATES:
            yield Triple(scoped(door, level), "is", state)
    for item in numbered(items):
        yield Triple(area, HAS_ITEM, item)


@lru_cache(maxsize=1024)
def item_facts(names: tuple[str, ...]) -> tuple[Triple, ...]:
    """Facts about the pack.

    Args:
        names: Things as the game writes them, ``a +1 long sword (weapon in hand)``.

    >>> for fact in item_facts(("a +1 long sword (weapon in hand)",)):
    ...     print(fact)
    +1 long sword, is in, inventory
    you, wield, +1 long sword
    """
    facts: dict[Triple, None] = {}
    for name in names:
        plain = " ".join(_REMARK.sub("", _COUNT.sub("", name.lower())).split())
        facts[Triple(plain, "is in", INVENTORY)] = None
        if "(weapon in hand" in name or "(wielded" in name:
            facts[Triple(PLAYER, WIELDS, plain)] = None
        elif "(being worn" in name or "(on " in name:
            facts[Triple(PLAYER, WEARS, plain)] = None
    return tuple(facts)
