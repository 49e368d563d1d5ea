"""Things as ScienceWorld describes them: a phrase, its states, and what is in or on it.

``a counter. On the counter is: a bowl (containing a red apple, a banana), a drawer.`` is one
item that holds two, of which one holds two more. What an item says depends on nothing but its
characters, so it is computed once and kept.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

__all__ = ["Item", "name_of", "read_item", "read_items"]

_ARTICLE = re.compile(r"^(?:an?|the|A) +(?:substance called +)?")
_REMARK = re.compile(r" \([^)]{0,200}\)|(?<=^picture|^drawing) of .*|(?<=^painting) of .*")
"""What one copy of a thing shows: the title of a book, the motif of a picture."""
_DRAIN = re.compile(r"\.? The drain is (?:open|closed)\.?$")
_PHRASE_END = re.compile(r", which is |, with: |, currently | \(|\.|$")
_STAGED = re.compile(r"(?P<name>.+?) in the (?P<stage>[\w ]{1,40}?) stage(?P<rest>.*)")
_POWER = re.compile(r", which is (?:turned )?(on|off|activated|deactivated)\b")
_POWERED = {"activated": "on", "deactivated": "off"}
_LID = re.compile(r" door is (open|closed)\.")
_CONTAINING = " (containing "
_LIST = re.compile(r"\b(?:[IO]n the [^.:]{0,100}? is|you see): ?")
_NOTHING = "nothing"
_MAX_TEXT_CHARS = 20_000
_DEEPEST = 20
"""Things within things, at most; what is deeper goes unread."""


class Item(NamedTuple):
    """A thing that a text describes.

    Attributes:
        name: Lower case, without article.
        start: First character of the item in its text.
        end: One past its last character.
        power: ``on`` or ``off``; empty where the text says neither.
        lid: ``open`` or ``closed``; empty likewise.
        stage: Life stage of a plant; empty for all else.
        inside: What it holds; None where the text does not say.
    """

    name: str
    start: int
    end: int
    power: str = ""
    lid: str = ""
    stage: str = ""
    inside: tuple[Item, ...] | None = None


def name_of(phrase: str) -> str:
    """A name as facts hold it.

    >>> name_of("a substance called  Sodium chloride"), name_of("a picture of a farm")
    ('sodium chloride', 'picture')
    """
    name = " ".join(_ARTICLE.sub("", phrase.strip(), count=1).lower().split())
    return _REMARK.sub("", name)


@lru_cache(maxsize=1 << 12)
def read_items(text: str, start: int = 0, depth: int = 0) -> tuple[Item, ...]:
    """The things of an enumeration.

    Args:
        text: Items with commas between them; ``nothing`` is none.
        start: Where ``text`` begins in the text that the spans shall point into.
        depth: Things that they are in.

    >>> [item.name for item in read_items("a battery, a light bulb, which is off, soil")]
    ['battery', 'light bulb', 'soil']
    """
    items = []
    for begin, end in _parts(text[:_MAX_TEXT_CHARS]):
        piece = text[begin:end].rstrip(" .")
        if piece.strip() and piece.strip() != _NOTHING:
            items.append(read_item(text[begin:end], start + begin, depth))
    return tuple(items)


def _parts(text: str) -> list[tuple[int, int]]:
    """Where the items of an enumeration begin and end.

    A comma in brackets, before a relative clause, or in the list of what an item holds (which
    ends with a full stop) does not divide.
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
def read_item(text: str, start: int = 0, depth: int = 0) -> Item:
    """One thing with its states and what it holds; ``depth`` is as in :func:`read_items`.

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
    staged = _STAGED.fullmatch(phrase)
    if staged is not None:
        phrase, stage = staged["name"] + staged["rest"], staged["stage"]
    inside: tuple[Item, ...] | None = None
    offset = start + lead + len(whole) - len(rest)
    listed = _LIST.search(rest)
    if rest.startswith(_CONTAINING):
        close = _closing(rest)
        listing = rest[len(_CONTAINING) : close]
        inside = _inside(listing, offset + len(_CONTAINING), depth)
        rest = rest[close:]
        listed = None
    head = rest[: listed.start()] if listed else rest
    if listed is not None:
        inside = _inside(rest[listed.end() :].rstrip(" ."), offset + listed.end(), depth)
    power, lid = _POWER.match(head), _LID.search(head)
    state = power[1] if power else ""
    return Item(
        name_of(phrase),
        start + lead,
        start + lead + len(whole),
        _POWERED.get(state, state),
        lid[1] if lid else "",
        stage,
        inside,
    )


def _inside(text: str, start: int, depth: int) -> tuple[Item, ...] | None:
    return read_items(text, start, depth + 1) if depth < _DEEPEST else None


def _closing(text: str) -> int:
    """Where the first bracket of a text is closed."""
    depth = 0
    for i, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if sign == ")" and depth == 0:
            return i
    return len(text)
