"""Name ScienceWorld's objects, and parse their descriptions.

Names are not unique, since many rooms have a table. So names of furniture include the place
(``table in kitchen``); facts about other objects are about one of their kind.
``docs/scienceworld.md`` lists the facts.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from gym_memory.core.text import without_article

__all__ = ["AMBIGUOUS", "CONNECTED", "FOCUSED", "POWERED", "SIGHTED", "STAGE", "TEMPERATURE"]
__all__ += ["DescribedThing", "base_of", "door_state", "entity", "exit_to", "is_plant", "name_of"]
__all__ += ["read_item", "read_items", "roams"]

_FURNITURE = frozenset({
    "bathtub", "bed", "book shelf", "bookshelf", "chair", "closet", "couch", "counter", "cupboard",
    "desk", "drawer", "sink", "stove", "table", "toilet",
})  # fmt: skip
"""Fixed objects that may occur several times in the house."""

AMBIGUOUS = "Ambiguous request"
"""Start of the engine's question after an ambiguous command."""

CONNECTED = "is connected to"
FOCUSED = "focused on"
STAGE = "was last in stage"
SIGHTED = "was last seen in"
TEMPERATURE = "had temperature"
_ROAMING_ANIMALS = frozenset({"bee", "butterfly", "dragonfly", "moth"})
_PLANT_NOUNS = frozenset({"tree", "plant"})


def entity(name: str, holder: str) -> str:
    """Return the name of an object in facts; its holder is empty if unknown.

    >>> entity("table", "kitchen"), entity("orange", "bowl")
    ('table in kitchen', 'orange')
    """
    return f"{name} in {holder}" if name in _FURNITURE and holder else name


def base_of(called: str) -> str:
    """Return the name of an object without its place.

    >>> base_of("drawer in desk in bedroom"), base_of("fish in a bowl")
    ('drawer', 'fish in a bowl')
    """
    name = called.partition(" in ")[0]
    return name if name in _FURNITURE else called


def roams(name: str) -> bool:
    """True if an object moves by itself.

    >>> roams("adult bee"), roams("bee hive")
    (True, False)
    """
    return name.rpartition(" ")[2] in _ROAMING_ANIMALS


def is_plant(name: str) -> bool:
    """True if an object is a plant, whose parts appear and disappear.

    >>> is_plant("apple tree"), is_plant("pea plant with a tall height"), is_plant("flower pot 1")
    (True, True, False)
    """
    return name.partition(" with ")[0].rpartition(" ")[2] in _PLANT_NOUNS


def exit_to(room: str) -> str:
    """Return the name of an exit by its destination."""
    return f"door to {room}"


def door_state(*, opened: bool) -> str:
    """Return the relation between the rooms on both sides of a door."""
    return f"has {'open' if opened else 'closed'} door to"


_REMARK = re.compile(r" \([^)]{0,200}\)|(?<=^picture|^drawing) of .*|(?<=^painting) of .*")
"""Title of a book or motif of a picture, which some texts omit."""
_DRAIN = re.compile(r"\.? The drain is (?:open|closed)\.?$")
_PHRASE_END = re.compile(r", which is |, with: |, currently | \(|\.|$")
_WITH_STAGE = re.compile(r"(?P<name>.+?) in the (?P<stage>[\w ]{1,40}?) stage(?P<rest>.*)")
_POWER = re.compile(r", which is (?:turned )?(on|off|activated|deactivated)\b")
POWERED = {"activated": "on", "deactivated": "off"}
_LID = re.compile(r" door is (open|closed)\.")
_CONTAINING = " (containing "
_LIST = re.compile(r"\b(?:[IO]n the [^.:]{0,100}? is|you see): ?")
_NOTHING = "nothing"
_MAX_TEXT_CHARS = 20_000
_MAX_DEPTH = 20
"""Most levels of nested contents to read."""


class DescribedThing(NamedTuple):
    """A description of an object; states that the text omits are empty."""

    name: str
    start: int
    end: int
    power: str = ""
    """``on`` or ``off``."""
    lid: str = ""
    """``open`` or ``closed``."""
    stage: str = ""
    """Life stage of a plant."""
    inside: tuple[DescribedThing, ...] | None = None
    """Contents; None if the text omits them."""


def name_of(phrase: str) -> str:
    """Return the name that facts use.

    >>> name_of("a substance called  Sodium chloride"), name_of("a picture of a farm")
    ('sodium chloride', 'picture')
    """
    name = without_article(" ".join(phrase.lower().split())).removeprefix("substance called ")
    return _REMARK.sub("", name)


@lru_cache(maxsize=1 << 12)
def read_items(text: str, start: int = 0, depth: int = 0) -> tuple[DescribedThing, ...]:
    """Parse an enumeration at ``start``, which is nested ``depth`` levels deep.

    >>> [item.name for item in read_items("a battery, a light bulb, which is off, soil")]
    ['battery', 'light bulb', 'soil']
    """
    return tuple(
        read_item(text[begin:end], start + begin, depth)
        for begin, end in _item_spans(text[:_MAX_TEXT_CHARS])
        if text[begin:end].rstrip(" .").strip() not in ("", _NOTHING)
    )


def _item_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of the items of an enumeration.

    Commas in brackets, before relative clauses and in lists of contents (which end with a full
    stop) do not separate items.
    """
    parts, begin, depth, listing = [], 0, 0, False
    for i, sign in enumerate(text):
        if sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
        elif depth:
            continue
        elif sign == ":" and text.endswith((" is", "you see"), begin, i):
            listing = True
        elif sign == "." and listing:
            listing = False
        elif sign == "," and not listing and not text.startswith(_CLAUSES, i + 1):
            parts.append((begin, i))
            begin = i + 1
    return [*parts, (begin, len(text))]


_CLAUSES = (" which is ", " with: ", " currently ")


@lru_cache(maxsize=1 << 14)
def read_item(text: str, start: int = 0, depth: int = 0) -> DescribedThing:
    """Parse an object with its states and contents.

    >>> pot = read_item("a flower pot 1 (containing a apple tree in the adult stage, soil)")
    >>> pot.name, [(item.name, item.stage) for item in pot.inside]
    ('flower pot 1', [('apple tree', 'adult'), ('soil', '')])
    """
    lead = len(text) - len(text.lstrip())
    whole = _DRAIN.sub("", text.strip())
    end = _PHRASE_END.search(whole)
    phrase = whole[: end.start()] if end else whole
    rest = whole[len(phrase) :]
    stage = ""
    staged = _WITH_STAGE.fullmatch(phrase)
    if staged is not None:
        phrase, stage = staged["name"] + staged["rest"], staged["stage"]
    inside: tuple[DescribedThing, ...] | None = None
    offset = start + lead + len(whole) - len(rest)
    head = rest
    if rest.startswith(_CONTAINING):
        close = _closing(rest)
        inside = _inside(rest[len(_CONTAINING) : close], offset + len(_CONTAINING), depth)
        head = rest[close:]
    elif listed := _LIST.search(rest):
        inside = _inside(rest[listed.end() :].rstrip(" ."), offset + listed.end(), depth)
        head = rest[: listed.start()]
    power, lid = _POWER.match(head), _LID.search(head)
    state = power[1] if power else ""
    return DescribedThing(
        name_of(phrase),
        start + lead,
        start + lead + len(whole),
        POWERED.get(state, state),
        lid[1] if lid else "",
        stage,
        inside,
    )


def _inside(text: str, start: int, depth: int) -> tuple[DescribedThing, ...] | None:
    return read_items(text, start, depth + 1) if depth < _MAX_DEPTH else None


def _closing(text: str) -> int:
    """Return the position at which the first bracket of a text closes."""
    depth = 0
    for i, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if sign == ")" and depth == 0:
            return i
    return len(text)
