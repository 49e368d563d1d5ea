"""Meanings of names, nouns and verbs in a note, and lists of things.

The words are data in ``words.toml``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from gym_memory.core.records import Triple
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import is_door
from gym_memory.graph.schema import DIRECTIONS, INVENTORY, PLAYER, direction_of, head_noun

__all__ = ["CARRIED", "CONTAINER", "DIRECTION_LIST", "DOOR", "KEY", "NAME", "PEOPLE", "PLACED"]
__all__ += ["ROOM", "STATES", "SUPPORTER", "THING", "VERBS", "KindOf", "Phrase", "is_base"]
__all__ += ["kind_in", "kind_of_noun"]
__all__ += ["names_person", "phrase_pattern", "senses", "singular", "split_things", "verb_forms"]
__all__ += ["word_group"]

KindOf = Callable[[str], str | None]
"""Function from a name to its kind: "" for a known name without a kind, None for an unknown one."""

KEY, ROOM, CONTAINER, SUPPORTER, DOOR = "key", "room", "container", "supporter", "door"
THING = "thing"
"""Kind of an object that seems portable by the places where it was seen."""
CARRIED = "carried"
"""Kind of an object that is surely portable."""

_DATA = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))


def word_group(section: str, group: str) -> tuple[str, ...]:
    """Return the words of a group, in order."""
    return tuple(_DATA[section][group].split())


def phrase_pattern(group: str) -> str:
    """Return the phrases of a group in ``[phrases]`` as one regular expression."""
    lines = _DATA["phrases"][group].strip().splitlines()
    return rf"\b(?:{'|'.join(map(_phrase_line, lines))})"


def _phrase_line(line: str) -> str:
    parts, gap = [], ""
    for word in line.split():
        either = rf"(?:{word.removesuffix('?').replace('/', '|')})".replace("_", r"\w+")
        is_optional = word.endswith("?")
        parts.append(f"(?:{gap}{either})?" if is_optional else gap + either)
        gap = " "
    return "".join(parts)


# Names

NAME = r"[^\s.,;:!?()\[\]\"][^.,;:!?()\[\]\"]{0,79}?"
"""Regular expression for a name: short, lazy, without punctuation."""

STATES = frozenset(
    ("raw", "fried", "roasted", "grilled", "burned", "uncut", "chopped", "sliced", "diced")
)
"""States that may change and that games put before a name."""


# Kinds

_KINDS = {word: kind for kind in _DATA["kinds"] for word in word_group("kinds", kind)}
PEOPLE = frozenset(word_group("names", "people"))
"""Nouns for persons."""
_PERSONAL_ENDINGS = ("man", "men", "woman", "wife", "keeper", "monger", "herd", "smith")
_NO_PEOPLE = ("talisman", "ottoman", "caiman", "specimen", "omen", "abdomen", "acumen", "midwife")
_NO_KEYS = word_group("names", "no_keys")
_ROOM_ENDINGS = ("room", "yard", "shop", "house", "hall", "atory", "arium")


def names_person(name: str) -> bool:
    """True if a name ends in a noun for a person.

    >>> names_person("old gardener"), names_person("guest room")
    (True, False)
    """
    noun = head_noun(name)
    return (
        noun in PEOPLE
        or noun.removesuffix("s") in PEOPLE
        or (noun.endswith(_PERSONAL_ENDINGS) and noun not in _NO_PEOPLE)
    )


@lru_cache(maxsize=4096)
def kind_of_noun(name: str) -> str:
    """Return the kind of a name by its head noun; empty for a noun without a kind.

    >>> kind_of_noun("brass key"), kind_of_noun("Locker 3"), kind_of_noun("dim hall")
    ('key', 'container', 'room')
    """
    last = head_noun(name).rpartition("-")[2]
    if last.endswith(("key", "keys", "keycard")) and last not in _NO_KEYS:
        return KEY
    kind = _KINDS.get(last) or _KINDS.get(last.removesuffix("s"), "")
    if not kind and last.endswith(_ROOM_ENDINGS):
        return ROOM
    return kind or (CONTAINER if last.endswith(("box", "case", "chest")) else "")


def kind_in(graph: TemporalGraph, name: str, room: str) -> str | None:
    """Return the kind of a name by the facts, as in :data:`KindOf`; the agent is in ``room``."""
    if name == room:
        return ROOM
    if name == PLAYER:
        return None
    about = graph.outgoing(name)
    if any(f.relation == "has exit" or direction_of(f.relation) for f in about):
        return ROOM
    if not about:
        held = graph.incoming(name)
        return ROOM if any(direction_of(f.relation) for f in held) else None
    if is_door(graph, name):
        return DOOR
    kind = _furniture(graph, name)
    place = graph.value(name, "location")
    if kind or place is None:
        return kind
    return CARRIED if place.object == INVENTORY or _furniture(graph, place.object) else THING


def _furniture(graph: TemporalGraph, name: str) -> str:
    if graph.value(name, "openness") is not None:
        return CONTAINER
    holds = [f.relation for f in graph.incoming(name)]
    return SUPPORTER if "is on" in holds or Triple(name, "is", "empty") in graph else ""


_SINGULARS = (("knives", "knife"), ("wolves", "wolf"), ("leaves", "leaf"), ("loaves", "loaf"),
              ("shelves", "shelf"), ("men", "man"), ("ies", "y"), ("ches", "ch"), ("shes", "sh"),
              ("xes", "x"), ("sses", "ss"), ("ss", "ss"), ("s", ""))  # fmt: skip
"""Pairs of a plural ending and its singular."""


def singular(name: str) -> str:
    """Return the singular of a name.

    >>> singular("red apples"), singular("keys to the vault"), singular("knives")
    ('red apple', 'key to the vault', 'knife')
    """
    noun = head_noun(name)
    for ending, one in _SINGULARS:
        if noun.endswith(ending):
            return name.replace(noun, noun.removesuffix(ending) + one, 1)
    return name


# Verbs

_DOUBLED = re.compile(r"[^aeiou]?[^aeiou][aeiou][bdgklmnprt]")


def verb_forms(base: str) -> Iterator[str]:
    """Yield the forms of a verb, the base form first."""
    yield base
    if base in _DATA["forms"]:
        yield from word_group("forms", base)
    elif base[-1] == "y" and base[-2] not in "aeiou":
        yield from (base[:-1] + "ies", base[:-1] + "ied", base + "ing")
    else:
        stem = base + base[-1] if _DOUBLED.fullmatch(base) else base.removesuffix("e")
        yield base + ("es" if base.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")
        yield from (stem + "ed", stem + "ing")


_SENSES: dict[str, set[str]] = {}
_BASES: set[str] = set()
for _sense in _DATA["senses"]:
    for _base in word_group("senses", _sense):
        _BASES.add(_base)
        for _form in verb_forms(_base):
            _SENSES.setdefault(_form, set()).add(_sense)
VERBS = frozenset(_SENSES)
"""Forms of all verbs that have a sense."""


def senses(word: str) -> frozenset[str]:
    """Return the senses of a lower-case word as a verb; empty for other words.

    >>> sorted(senses("shelters")), sorted(senses("stashed"))
    (['keep'], ['put'])
    """
    return frozenset(_SENSES.get(word, ()))


def is_base(word: str) -> bool:
    """True if a word is a base form, as in a command: ``visit``, not ``visits``."""
    return word in _BASES


# Lists of things


class Phrase(NamedTuple):
    """A thing in a text: its name, the states before it (``raw``) and its span."""

    name: str
    states: tuple[str, ...]
    start: int
    end: int


_DIRECTION = (
    "(?:"
    + "|".join(sorted(set(DIRECTIONS) - {"in", "out"}, key=lambda word: (-len(word), word)))
    + r")\b"
)
DIRECTION_LIST = rf"{_DIRECTION}(?:(?:, and |, | and ){_DIRECTION})*"
"""Regular expression for a direction or a list of directions."""

_BETWEEN_THINGS = re.compile(r"(?:,? and |, )(?=(?:an?|some|the|one|two|\d+)\s)", re.IGNORECASE)
_ARTICLE = re.compile(r"\s*(?:an?|some|the)\s+", re.IGNORECASE)
_REMARK = re.compile(r"(?<!\s)\s*\([^()]*\)\s*$")  # the lookbehind tries a run of blanks once
PLACED = re.compile(
    rf"(?<!\s)\s+(?:to|on|in|at) (?:the|your) (?P<way>{_DIRECTION}|left|right)(?:ern)?"
    r"(?: (?:wall|side|end))?$",
    re.IGNORECASE,
)
"""Place after the name of a thing: *a gate to the west*."""
_MAX_THINGS = 200


def split_things(text: str, start: int = 0) -> tuple[Phrase, ...]:
    """Split an enumeration into things, without remarks in brackets.

    It is split only before an article, so a name may have a comma or an *and*.

    Args:
        text: E.g. ``a raw pork chop, some salt and a knife (sharp)``.
        start: Offset of ``text`` in the text that the spans refer to.

    >>> [p.name for p in split_things("some salt and pepper and a sliced red onion")]
    ['salt and pepper', 'red onion']
    >>> split_things("a sliced fried red onion")[0].states
    ('sliced', 'fried')
    """
    things = []
    begin = 0
    several = "," in text or "and " in text.lower()
    for cut in [*(_BETWEEN_THINGS.finditer(text) if several else ()), None]:
        phrase = _phrase(text, begin, cut.start() if cut else len(text), start)
        if phrase is not None:
            things.append(phrase)
        if cut is None or len(things) >= _MAX_THINGS:
            break
        begin = cut.end()
    return tuple(things)


def _phrase(text: str, begin: int, end: int, start: int) -> Phrase | None:
    head = _ARTICLE.match(text, begin, end)
    if head is not None:
        begin = head.end()
    remark = _REMARK.search(text, begin, end) if ")" in text else None
    if remark is not None and remark.start() > begin:
        end = remark.start()
    lower = text.lower()
    possible = "the " in lower or "your " in lower
    placed = PLACED.search(text, begin, end) if possible else None
    if placed is not None and placed.start() > begin:
        end = placed.start()
    words = text[begin:end].lower().split()
    states = []
    while len(words) > 1 and words[0] in STATES:
        states.append(words.pop(0))
    name = " ".join(words)
    if not name or name in ("nothing", "no things", "yourself"):
        return None
    end = begin + len(text[begin:end].rstrip())
    return Phrase(name, tuple(states), start + begin, start + end)
