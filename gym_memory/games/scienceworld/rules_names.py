"""What things in ScienceWorld are called in facts, and the relations that only it has.

Names in the game are not unique: every room has a table. Furniture is called by where it stands
(``table in kitchen``, ``drawer in desk in bedroom``), for what is on it must not be mixed up; all
other things keep the name that the text gives them, and a fact about a ``wood cup`` says that
there is one of that kind. So a thing may be in several places, and the relation goes from the
holder to the thing:

========================================  ====================================================
``bowl | contains | orange``              in or on something, also ``kitchen | contains | bowl``
``seed jar | contains 5 | apple seed``    likewise, several of them
``metal pot | is in | inventory``         carried
``kitchen | has exit | door to hallway``
``kitchen | has open door to | hallway``  or ``has closed door to``
``hallway | is through door to hallway of | kitchen``   once walked, with the way back
``fridge | is | closed``                  open / closed
``sink in kitchen | is | on``             on / off, of devices and lamps
``stove in kitchen | is | out of order``
``metal pot | is | empty``
``apple tree | was last in stage | adult``  life stage of a plant, which changes by itself
``adult bee | was last seen in | greenhouse``  what moves by itself, and what grows on a plant
``anode on battery | is connected to | terminal 1 on red wire``   and the other way round
``lead | had temperature | 83``           degrees Celsius, as last measured
``you | focused on | lead``               the last thing so chosen
``salt water | requires | water``         an ingredient that a recipe names
========================================  ====================================================
"""

from __future__ import annotations

__all__ = [
    "AMBIGUOUS", "CONNECTED", "FOCUSED", "FURNITURE", "SIGHTED", "STAGE", "TEMPERATURE", "base_of",
    "door_state", "entity", "exit_to", "is_plant", "roams",
]  # fmt: skip

FURNITURE = frozenset({
    "bathtub", "bed", "book shelf", "bookshelf", "chair", "closet", "couch", "counter", "cupboard",
    "desk", "drawer", "sink", "stove", "table", "toilet",
})  # fmt: skip
"""Things that stand where they are and of which there may be several in the house."""

AMBIGUOUS = "Ambiguous request"
"""How the engine begins when a command may mean several things and it wants a number."""

CONNECTED = "is connected to"
FOCUSED = "focused on"
STAGE = "was last in stage"
SIGHTED = "was last seen in"
TEMPERATURE = "had temperature"
_ROAMING = frozenset({"bee", "butterfly", "dragonfly", "moth"})
_GROWING = frozenset({"tree", "plant"})


def entity(name: str, holder: str) -> str:
    """What a thing is called in facts.

    Args:
        name: As the text names it, without article, in lower case.
        holder: What it is in or on, as called in facts; empty where that is not known.

    >>> entity("table", "kitchen"), entity("orange", "bowl")
    ('table in kitchen', 'orange')
    """
    return f"{name} in {holder}" if name in FURNITURE and holder else name


def base_of(called: str) -> str:
    """The name of a thing without where it stands.

    >>> base_of("drawer in desk in bedroom"), base_of("fish in a bowl")
    ('drawer', 'fish in a bowl')
    """
    name = called.partition(" in ")[0]
    return name if name in FURNITURE else called


def roams(name: str) -> bool:
    """Whether a thing goes where it likes.

    >>> roams("adult bee"), roams("bee hive")
    (True, False)
    """
    return name.rpartition(" ")[2] in _ROAMING


def is_plant(name: str) -> bool:
    """Whether a thing grows, so that what is on it comes and goes.

    >>> is_plant("apple tree"), is_plant("pea plant with a tall height"), is_plant("flower pot 1")
    (True, True, False)
    """
    return name.partition(" with ")[0].rpartition(" ")[2] in _GROWING


def exit_to(room: str) -> str:
    """The name of a way out by where it leads."""
    return f"door to {room}"


def door_state(*, opened: bool) -> str:
    """The relation of a room to the one behind a door."""
    return f"has {'open' if opened else 'closed'} door to"
