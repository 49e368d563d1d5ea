"""Words and lists of things, as text games write them: articles, states in names, enumerations."""

from __future__ import annotations

import re
from typing import NamedTuple

from gym_memory.graph.schema import DIRECTIONS

__all__ = [
    "DIRECTION_LIST",
    "NAME",
    "STATES",
    "Phrase",
    "clean_name",
    "direction_in",
    "head_noun",
    "split_things",
]

NAME = r"[^\s.,;:!?()\[\]\"][^.,;:!?()\[\]\"]{0,79}?"
"""Regular expression of a name: short, lazy, without punctuation."""

STATES = frozenset(
    ("raw", "fried", "roasted", "grilled", "burned", "uncut", "chopped", "sliced", "diced")
)
"""States that are written in front of a thing's name and change in play."""

_DIRECTION_WORDS = tuple(d for d in DIRECTIONS if d not in ("in", "out"))
_ONE_WAY = "(?:" + "|".join(sorted(_DIRECTION_WORDS, key=len, reverse=True)) + r")\b"
DIRECTION_LIST = rf"{_ONE_WAY}(?:(?:, and |, | and ){_ONE_WAY})*"
"""Regular expression of one direction or a list of them."""

_ARTICLE = r"(?:an?|some|the|one|two|\d+)\s"
_SPLIT = re.compile(rf"(?:,? and |, )(?={_ARTICLE})", re.IGNORECASE)
_HEAD = re.compile(r"\s*(?:an?|some|the)\s+", re.IGNORECASE)
_OF = re.compile(r"(?<=\w)\s+(?:of|to|for|from|with|in|on)\s")
_LABEL = re.compile(r"#?[a-z]?\d+|[a-z]|[ivx]+|no\.?|number|one|two|three|four|five|six")
_REMARK = re.compile(r"(?<!\s)\s*\([^()]*\)\s*$")  # a run of blanks is tried once
_SHORT = {"n": "north", "s": "south", "e": "east", "w": "west", "u": "up", "d": "down",
          "ne": "northeast", "nw": "northwest", "se": "southeast", "sw": "southwest"}  # fmt: skip
_GOING = frozenset(("go", "walk", "run", "head", "move", "travel"))
_MOST = 200


class Phrase(NamedTuple):
    """A thing as it stands in a text.

    Attributes:
        name: Normalised name without the states: ``purple potato``.
        states: States written before it: ``("raw",)``.
        start: First character of the phrase, article excluded.
        end: One past its last character.
    """

    name: str
    states: tuple[str, ...]
    start: int
    end: int


def clean_name(text: str) -> str:
    """A name as facts hold it: lower case, single spaces, no article.

    >>> clean_name("The  Living Room")
    'living room'
    """
    words = text.lower().split()
    if len(words) > 1 and words[0] in ("a", "an", "the", "some"):
        del words[0]
    return " ".join(words)


def head_noun(name: str) -> str:
    """The word of a name that says what it is; a label after it, and what it is of, do not.

    >>> head_noun("brass key"), head_noun("Key 1"), head_noun("key to the vault")
    ('key', 'key', 'key')
    """
    words = _OF.split(name.lower(), maxsplit=1)[0].split()
    while len(words) > 1 and _LABEL.fullmatch(words[-1]):
        words.pop()
    return words[-1] if words else ""


def split_things(text: str, start: int = 0) -> tuple[Phrase, ...]:
    """The things that an enumeration lists, states in their names taken apart.

    A list is split only before an article, so a name may hold a comma or an *and*. A remark in
    brackets is dropped.

    Args:
        text: E.g. ``a raw pork chop, some salt and a knife (sharp)``.
        start: Where ``text`` begins in the text that the spans shall point into.

    >>> [p.name for p in split_things("some salt and pepper and a sliced red onion")]
    ['salt and pepper', 'red onion']
    >>> split_things("a sliced fried red onion")[0].states
    ('sliced', 'fried')
    """
    things = []
    begin = 0
    for cut in [*_SPLIT.finditer(text), None]:
        phrase = _phrase(text, begin, cut.start() if cut else len(text), start)
        if phrase is not None:
            things.append(phrase)
        if cut is None or len(things) >= _MOST:
            break
        begin = cut.end()
    return tuple(things)


def _phrase(text: str, begin: int, end: int, start: int) -> Phrase | None:
    head = _HEAD.match(text, begin, end)
    if head is not None:
        begin = head.end()
    remark = _REMARK.search(text, begin, end)
    if remark is not None and remark.start() > begin:
        end = remark.start()
    words = text[begin:end].lower().split()
    states = []
    while len(words) > 1 and words[0] in STATES:
        states.append(words.pop(0))
    name = " ".join(words)
    if not name or name in ("nothing", "no things", "yourself"):
        return None
    end = begin + len(text[begin:end].rstrip())
    return Phrase(name, tuple(states), start + begin, start + end)


def direction_in(action: str) -> str | None:
    """The direction that a command goes, None for every other command.

    >>> direction_in("go north"), direction_in("W"), direction_in("open north door")
    ('north', 'west', None)
    """
    words = action.lower().split()
    if not words or len(words) > 4:
        return None
    if len(words) > 1 and words[0] not in _GOING:
        return None
    last = _SHORT.get(words[-1], words[-1])
    return last if last in DIRECTIONS else None
