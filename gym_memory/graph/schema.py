"""The vocabulary of facts, and which of them exclude each other.

A new value of a *functional* relation retires the old one of its *slot*. All extraction rules share
this vocabulary (each family adds its own):

==================================  ========================================================
fact                                meaning
==================================  ========================================================
``you | is in | kitchen``           the agent's place
``you | is at | desk 1``            the furniture that the agent stands before
``apple | is in | fridge``          in a container, a room (on its floor) or ``inventory``
``knife | is on | table``           on a supporter
``bowl | contains | orange``        as above, if a name may mean several things
``kitchen | has exit | north``      a way out, wherever it leads, with or without a door
``hall | is east of | kitchen``     a known way: going east from the kitchen leads to the hall
``hall | is through door 4 of |``   a known way by an exit with a name instead of a direction
``jackal | was last seen in | hall``  last place of something that moves by itself
``kitchen | has north door | gate`` the door in that exit
``fridge | is | closed``            open / closed (shut, perhaps locked) / locked
``fridge | is | empty``             seen to hold nothing (containers and supporters)
``apple | is | diced``              chopped / sliced / diced; a text does not mention uncut
``apple | is | fried``              fried / roasted / grilled / burned; raw if to be cooked
``apple | is | hot``                hot / cool, made so; also ``clean``, which nothing undoes
``apple | is | consumed``           eaten, drunk or used up
``recipe | requires | apple``       an ingredient
``apple | needs to be | diced``     a direction of the recipe (cut, cook); they add up
``meal | is prepared in | kitchen`` the only room where that can be done
``stove | used for | frying``       the use of an appliance
``note | says | ...``               text that was read, whole
``note | mentions | red locker``    entities in text that was read
``red key | opens | red locker``    seen to work, or stated by the text
``red key | does not open | safe``  both were present, and yet it was no valid action
``cup | was put on | shelf``        put there once, wherever it is now; also ``was put in``
``cup | belongs on | shelf``        its place by praise or reward; also ``belongs in``
``hall | tried | open safe``        an action taken there, only in a recall; ``tried 3 times``
==================================  ========================================================
"""

from __future__ import annotations

from gym_memory.core.records import Triple

__all__ = ["ACTION_RESULTS", "DIRECTIONS", "EXIT", "INVENTORY", "LOCATIONS", "OPPOSITE", "PLAYER"]
__all__ += ["QUOTED", "TRIED", "UNEXPLORED", "VERBATIM", "Slot", "contains", "direction_of"]
__all__ += ["door_relation", "is_contents", "slot_of", "times_tried", "tried_relation"]
__all__ += ["way_relation"]


class _Opposites(dict[str, str]):
    """Direction to its opposite; a named exit leads back through itself."""

    def __missing__(self, exit_: str) -> str:
        return exit_


PLAYER = "you"
"""The agent, as a subject of facts."""
INVENTORY = "inventory"
"""The place of what the agent carries."""
OPPOSITE = _Opposites({
    "north": "south", "south": "north", "east": "west", "west": "east",
    "northeast": "southwest", "southwest": "northeast",
    "northwest": "southeast", "southeast": "northwest",
    "up": "down", "down": "up", "in": "out", "out": "in",
})  # fmt: skip
"""Direction to the one that leads back."""
DIRECTIONS = tuple(OPPOSITE)
"""All directions, in the order in which searches take them."""
LOCATIONS = frozenset({"is in", "is on", "is under", "is at", "is carried by"})
"""Relations of a thing to its place; they share the slot ``location``."""

EXIT = "has exit"
"""Relation of a place to a way out, wherever it leads."""
UNEXPLORED = "has unexplored exit"
"""Relation under which a recall shows an exit that was never taken."""

VERBATIM = frozenset({"says"})
"""Relations whose object is text, kept as it is: not the name of an entity."""
QUOTED = VERBATIM | {"mentions"}
"""Relations of a text to its words and to what it mentions."""
ACTION_RESULTS = frozenset(
    {"was put in", "was put on", "belongs in", "belongs on", "does not open"}
)
"""Relations that state a result of the agent's own actions; they are never superseded."""

TRIED = "tried"
"""Relation of a place to an action that was taken there once."""

Slot = tuple[str, str]
"""(entity, name of the slot)."""

_STATE_SLOT = {
    **dict.fromkeys(("open", "closed", "locked", "broken"), "openness"),
    **dict.fromkeys(("explored", "partly explored"), "exploration"),
    **dict.fromkeys(("uncut", "chopped", "sliced", "diced"), "cut"),
    **dict.fromkeys(("raw", "fried", "roasted", "grilled", "burned"), "heat"),
    **dict.fromkeys(("on", "off"), "power"),
    **dict.fromkeys(("hot", "cool"), "temperature"),
}
_WAYS = {f"is {d} of": d for d in OPPOSITE}
_THROUGH, _OF = "is through ", " of"
_SLOTS = {
    "was last seen in": "sighting",
    "was last in stage": "stage",
    "had temperature": "temperature reading",
    "focused on": "focus",
}
_DOORS = {f"has {d} door": f"{d} door" for d in OPPOSITE}
_CONTAINS = "contains"


def contains(number: int = 1) -> str:
    """Return the relation of a holder to so many things of one name in or on it."""
    return _CONTAINS if number == 1 else f"{_CONTAINS} {number}"


def is_contents(relation: str) -> bool:
    """True if a relation is one of :func:`contains`."""
    return relation.startswith(_CONTAINS)


def tried_relation(times: int) -> str:
    """Return the relation of a place to an action that was taken there so often.

    >>> tried_relation(1), tried_relation(3)
    ('tried', 'tried 3 times')
    """
    return TRIED if times == 1 else f"{TRIED} {times} times"


def times_tried(relation: str) -> int:
    """Return the number in a relation of :func:`tried_relation`."""
    return 1 if relation == TRIED else int(relation.split()[1])


def way_relation(direction: str) -> str:
    """Return the relation of a known way: ``is east of``, ``is through door 4 of``."""
    return f"is {direction} of" if direction in OPPOSITE else f"{_THROUGH}{direction}{_OF}"


def door_relation(direction: str) -> str:
    """Return the relation of a room to the door in one of its exits: ``has east door``."""
    return f"has {direction} door"


def direction_of(relation: str) -> str | None:
    """Return the direction in a way's relation; None for every other relation.

    >>> direction_of("is east of"), direction_of("is through door 4 of"), direction_of("is in")
    ('east', 'door 4', None)
    """
    direction = _WAYS.get(relation)
    if direction is None and relation.startswith(_THROUGH) and relation.endswith(_OF):
        return relation[len(_THROUGH) : -len(_OF)]
    return direction


def slot_of(triple: Triple) -> Slot | None:
    """Return the slot that a fact fills, a way's in the room it starts from; None if it has none.

    >>> slot_of(Triple("apple", "is on", "table"))
    ('apple', 'location')
    >>> slot_of(Triple("hall", "is east of", "kitchen"))
    ('kitchen', 'east')
    """
    subject, relation, obj = triple
    if relation in LOCATIONS:
        return subject, "location"
    if relation == "is":
        state = _STATE_SLOT.get(obj)
        return (subject, state) if state else None
    direction = direction_of(relation)
    if direction is not None:
        return obj, direction
    if relation in _SLOTS:
        return subject, _SLOTS[relation]
    door = _DOORS.get(relation)
    return (subject, door) if door is not None else None
