"""The vocabulary of facts about NetHack, shared by the extraction rules and the engine's facts.

Rooms, corridors, doors and features have numbers on their level, so their names carry the level's:
``room 3 of level 2``. Besides the shared vocabulary (:mod:`gym_memory.graph.schema`):

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
from typing import Protocol, TypeVar

from gym_memory.core.records import Triple
from gym_memory.graph.schema import INVENTORY, PLAYER

__all__ = ["HAS_EXIT", "HAS_ITEM", "SIGHTING", "area_facts", "exit_of", "item_facts"]
__all__ += ["Entry", "scoped"]

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


class Entry(Protocol):
    """Something that an area lists, by its name."""

    @property
    def name(self) -> str:
        """What it is called on its level."""
        ...


E = TypeVar("E", bound=Entry)


def area_facts(
    area: str,
    level: str,
    *,
    kind: str,
    explored: bool,
    features: Iterable[E],
    exits: Iterable[tuple[E, str]],
    items: Iterable[E],
) -> Iterator[tuple[Triple, E | None]]:
    """All facts that the description of an area states, creatures left out.

    Args:
        area: Full name of the area.
        level: Name of its level.
        kind: What it is besides a room; "" for nothing.
        explored: Whether all of it was seen.
        features: Features on the level.
        exits: Doors on the level, with their states.
        items: Things.

    Yields:
        A fact, and the entry that states it; None if the area as such does.
    """
    if kind:
        yield Triple(area, "is", kind), None
    yield Triple(area, "is", "explored" if explored else "partly explored"), None
    for feature in features:
        name = feature.name
        yield Triple(scoped(name, level), "is in", area), feature
        if is_stairs(name):
            yield Triple(area, HAS_EXIT, exit_of(name)), feature
    for door, state in exits:
        yield Triple(area, HAS_EXIT, door.name), door
        if state in _TOLD_STATES:
            yield Triple(scoped(door.name, level), "is", state), door
    counts: dict[str, int] = {}
    for item in items:
        counts[item.name] = count = counts.get(item.name, 0) + 1
        name = item.name if count == 1 else f"{item.name} {count}"
        yield Triple(area, HAS_ITEM, name), item


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
        if not plain:
            continue
        facts[Triple(plain, "is in", INVENTORY)] = None
        if "(weapon in hand" in name or "(wielded" in name:
            facts[Triple(PLAYER, WIELDS, plain)] = None
        elif "(being worn" in name or "(on " in name:
            facts[Triple(PLAYER, WEARS, plain)] = None
    return tuple(facts)
