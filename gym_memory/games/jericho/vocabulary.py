"""A story file's dictionary, grammar and objects.

Inform and Infocom's compiler add to each word what it can be and write a grammar table for every
verb. See the Z-machine standard 1.1 (sections 3, 11, 12, 13) and Inform's technical manual (8.5,
8.6, "grammar version 2").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.graph.schema import SHORT_DIRECTIONS, direction_in

__all__ = ["HELD", "NOUN", "WAY", "Region", "Vocabulary", "decoded", "object_region"]
__all__ += ["read_vocabulary"]

NOUN, HELD, WAY = "NOUN", "HELD", "WAY"
"""Slots of a template: any thing in view, a thing that is carried, a direction."""

_SHORT = {way: short for short, way in SHORT_DIRECTIONS.items()}
_ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    " \n0123456789.,!?_#'\"/\\-:()",
)
_VERB, _META, _PREPOSITION, _NOUN = 0x01, 0x02, 0x08, 0x80
_ELEMENTARY, _WORD, _FILTER, _ATTRIBUTE, _SCOPE = 1, 2, 3, 4, 5
_SLOTS = {0: NOUN, 1: HELD, 2: NOUN, 3: HELD, 4: NOUN, 5: NOUN, 6: NOUN}
"""Inform's elementary tokens: noun, held, multi, multiheld, multiexcept, multiinside, creature."""
_END = 15
_MOST_LINES = 64
_LONGEST = 120
"""Bytes of an abbreviation."""
_ZIL_NOUN, _ZIL_VERB, _ZIL_ADJECTIVE, _ZIL_PREPOSITION = 0x80, 0x40, 0x20, 0x08
_SERIAL = 0x12
"""Date of a story, whose first digit is 8 only in those by Infocom."""
_LINE = 8
"""Bytes of a fixed grammar line. Infocom's has slots, two prepositions, four bytes for the slots
and the action; Inform's slots, six tokens and the action."""
_FIRST_PREPOSITION = 180
"""Least token of a fixed line by Inform that is a preposition."""
_ATTRIBUTES = range(128, _FIRST_PREPOSITION)
_FILTERS, _SCOPES = range(16, 48), range(80, 112)
_OLD_ENTRY = 9
"""Bytes of an object's entry up to version 3."""
_ZIL_IN_ROOM, _ZIL_CARRIED = 0x30, 0xC0
_PREPOSITIONS = ("with", "in", "on", "to", "from", "under", "up", "down", "at", "through", "about")
"""Preferred ones among synonyms."""


class Vocabulary(NamedTuple):
    """Words and commands that a story understands.

    Attributes:
        words: All words of the dictionary, cut to ``length``.
        nouns: Those that name things; empty if the story does not say.
        length: Letters that the parser distinguishes, 6 or 9.
        templates: Lines of the grammar as words and slots, one for each action and its slots;
            empty if the story has no grammar that is known.
        meta: Verbs that are about the game and take no time in it; empty if the story does not say.
    """

    words: frozenset[str]
    nouns: frozenset[str]
    length: int
    templates: tuple[tuple[str, ...], ...]
    meta: frozenset[str] = frozenset()

    def knows(self, word: str) -> bool:
        """True if a word is in the dictionary."""
        return word.lower()[: self.length] in self.words

    def spelled(self, command: str) -> str:
        """Return a move in the story's own word: old ones know ``ne`` and no ``northeast``.

        >>> Vocabulary(frozenset(["ne", "go"]), frozenset(), 6, ()).spelled("go northeast")
        'go ne'
        """
        way = direction_in(command)
        short = _SHORT.get(way or "")
        if way is None or short is None or self.knows(way) or not self.knows(short):
            return command
        return " ".join([*command.split()[:-1], short])

    def names(self, word: str) -> bool:
        """True if a word may be part of the name of a thing."""
        return word.lower()[: self.length] in (self.nouns or self.words)

    @property
    def naming(self) -> list[str]:
        """Return the words of letters that may be part of a name, in order."""
        return sorted(filter(str.isalpha, self.nouns or self.words))


class _StoryWord(NamedTuple):
    text: str
    flags: int
    verb: int
    second: int
    address: int


def read_vocabulary(story: bytes, prefer: tuple[str, ...] = ()) -> Vocabulary:
    """Read dictionary and grammar of an intact story file.

    Args:
        story: The file's content.
        prefer: Preferred verbs among synonyms, the best first; else the shortest of three letters
            or more.
    """
    entries = [word for word in _dictionary(story) if word.text.isascii()]  # others are not typed
    fixed = _has_fixed_lines(story)
    infocom = fixed and story[_SERIAL] == ord("8")
    inform = not infocom and (fixed or story[0x3C:0x3E] == b"6.")
    naming = _NOUN if inform else 0
    lines: Iterable[tuple[int, tuple[str, ...]]] = ()
    if infocom:
        naming = _ZIL_NOUN | _ZIL_ADJECTIVE
        lines = _infocom_lines(story, entries, prefer)
    elif inform:
        lines = _inform_lines(story, entries, prefer, fixed=fixed)
    templates: dict[tuple[object, ...], tuple[str, ...]] = {}
    for action, line in lines:
        key = (action, *(word for word in line if word in (NOUN, HELD)))
        old = templates.setdefault(key, line)
        if len(line) < len(old) and (inform or line[0] == old[0]):
            templates[key] = line
    return Vocabulary(
        words=frozenset(entry.text for entry in entries),
        nouns=frozenset(entry.text for entry in entries if entry.flags & naming),
        length=6 if story[0] <= 3 else 9,
        templates=tuple(templates.values()),
        meta=frozenset(entry.text for entry in entries if inform and entry.flags & _META),
    )


def _rank(word: str, prefer: tuple[str, ...]) -> tuple[int, int, str]:
    known = prefer.index(word) if word in prefer else len(prefer)
    return known, len(word) if len(word) > 2 else 99, word


def _preferred(words: Iterable[tuple[int, str]], prefer: tuple[str, ...]) -> dict[int, str]:
    """Return the best synonym of each number, the best of all first."""
    best: dict[int, str] = {}
    for number, word in sorted(words, key=lambda pair: _rank(pair[1], prefer)):
        best.setdefault(number, word)
    return best


def _has_fixed_lines(story: bytes) -> bool:
    """True if the first verbs have consecutive grammar tables with lines of eight bytes.

    Infocom and the first version of Inform wrote such tables.
    """
    table = _at(story, 0x0E)
    for at in range(table, table + 8, 2):
        verb, following = _at(story, at), _at(story, at + 2)
        if not table < verb < len(story):
            return False
        if following - (verb + 1 + _LINE * story[verb]) not in (0, 1):  # 1: padding
            return False
    return True


def _infocom_lines(
    story: bytes, entries: list[_StoryWord], prefer: tuple[str, ...]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield action and line of every verb, the preferred synonym of each verb and preposition.

    The low bits of the flags say which of a word's two numbers belongs to which part of speech.
    """
    verbs, prepositions = [], []
    for word in entries:
        if word.flags & _ZIL_VERB:
            verbs.append((word.verb if word.flags & 3 == 1 else word.second, word.text))
        if word.flags & _ZIL_PREPOSITION:
            prepositions.append((word.second if word.flags & 3 else word.verb, word.text))
    little = {0: "", **_preferred(prepositions, _PREPOSITIONS)}
    for number, verb in _preferred(verbs, prefer).items():
        address = _at(story, _at(story, 0x0E) + 2 * (255 - number))
        for at in range(address + 1, address + 1 + _LINE * story[address], _LINE):
            slots, first, second, _, _, where, where_second, action = story[at : at + _LINE]
            line = [verb]
            for preposition, place in ((first, where), (second, where_second))[: slots & 3]:
                held = place & _ZIL_CARRIED and not place & _ZIL_IN_ROOM
                line += [little.get(preposition, ""), HELD if held else NOUN]
            if not slots and first:
                line.append(little.get(first, ""))
            yield action, tuple(filter(None, line))


def _at(story: bytes, address: int) -> int:
    return int.from_bytes(story[address : address + 2], "big")


def _dictionary(story: bytes) -> Iterator[_StoryWord]:
    table = _at(story, 0x08)
    table += 1 + story[table]  # word separators
    size = story[table]
    count = abs(int.from_bytes(story[table + 1 : table + 3], "big", signed=True))
    text = 4 if story[0] <= 3 else 6
    for address in range(table + 3, table + 3 + size * count, size):
        data = story[address : address + size]
        if len(data) < size or size < text + 2:
            return
        flags, verb, *rest = data[text:]
        yield _StoryWord(
            decoded(story, data[:text]).rstrip(), flags, verb, rest[0] if rest else 0, address
        )


def decoded(story: bytes, data: bytes, *, short: bool = True) -> str:
    """Decode text (standard, section 3); ``short`` is text within an abbreviation or a word."""
    codes = []
    for i in range(0, len(data), 2):
        packed = _at(data, i)
        codes += [packed >> 10 & 31, packed >> 5 & 31, packed & 31]
        if packed & 0x8000:
            break
    own = _at(story, 0x34) if story[0] >= 5 else 0
    out, shift, rest = "", 0, iter(codes)
    for code in rest:
        if code in (4, 5):
            shift = code - 3
            continue
        if 0 < code < 4 and not short:
            entry = _at(story, 0x18) + 2 * (32 * (code - 1) + next(rest, 0))
            out += decoded(story, story[2 * _at(story, entry) :][:_LONGEST])
        elif code < 4:
            out += " " * (not code)
        elif code == 6 and shift == 2:  # a character by its number
            out += chr(next(rest, 0) << 5 | next(rest, 0)).rstrip("\0")
        else:
            place = code - 6
            out += chr(story[own + 26 * shift + place]) if own else _ALPHABETS[shift][place]
        shift = 0
    return out


def _inform_lines(
    story: bytes, entries: list[_StoryWord], prefer: tuple[str, ...], *, fixed: bool
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield action and line of every verb, the preferred synonym of each verb."""
    if fixed:  # prepositions go by number, and several words have one
        words = {e.second: e.text for e in reversed(entries) if e.flags & _PREPOSITION}
    else:
        words = {entry.address: entry.text for entry in entries}
    verbs = [(e.verb, e.text) for e in entries if e.flags & _VERB and not e.flags & _META]
    for number, verb in _preferred(verbs, prefer).items():
        for action, line in (_fixed_lines if fixed else _lines)(story, number, words):
            yield action, (verb, *line)


def _lines(story: bytes, verb: int, words: dict[int, str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the action and grammar line of a verb, if the line has only words and slots."""
    address = _at(story, _at(story, 0x0E) + 2 * (255 - verb))
    if not 0 < address < len(story) or not 0 < story[address] <= _MOST_LINES:
        return
    count, address = story[address], address + 1
    for _ in range(count):
        action, address = _at(story, address) & 0x3FF, address + 2
        tokens: list[str] = []
        usable = True
        while address + 2 < len(story) and story[address] != _END:
            token = _token(story[address], _at(story, address + 1), words)
            alternative = story[address] & 0x10  # `in/into`: the first one stands for all
            if not token:
                usable = False
            elif not alternative:
                tokens.append(token)
            address += 3
        address += 1
        if usable:
            yield action, tuple(tokens)


def _fixed_lines(
    story: bytes, verb: int, words: dict[int, str]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the same from a table of fixed lines; ``words`` are prepositions by number."""
    address = _at(story, _at(story, 0x0E) + 2 * (255 - verb))
    if not 0 < address < len(story):
        return
    for at in range(address + 1, address + 1 + _LINE * story[address], _LINE):
        count, *tokens, action = story[at : at + _LINE]
        line: list[str] = []
        for token in tokens:
            if token >= _FIRST_PREPOSITION:
                line.append(words.get(token, ""))
            elif count:
                count -= 1
                noun = any(token in those for those in (_FILTERS, _SCOPES, _ATTRIBUTES))
                line.append(NOUN if noun else _SLOTS.get(token, ""))
        if all(line):
            yield action, tuple(line)


def _token(kind: int, data: int, words: dict[int, str]) -> str:
    """Return a word or a slot; "" for a number, a topic or a routine's choice."""
    kind &= 0x0F
    if kind == _ELEMENTARY:
        return _SLOTS.get(data, "")
    if kind == _WORD:
        return words.get(data, "")
    return NOUN if kind in (_FILTER, _ATTRIBUTE, _SCOPE) else ""


Bytes = NDArray[np.uint8]


class Region(NamedTuple):
    """Bytes ``start`` to ``end`` of dynamic memory, with its objects and their properties.

    An object's entry has ``size`` bytes, of which the first hold its attributes.
    """

    start: int
    end: int
    objects: int
    size: int

    def of(self, memory: Bytes) -> Bytes:
        """Return these bytes of a memory."""
        return memory[self.start : self.end]

    def entries(self, region: Bytes) -> Bytes:
        """Return the objects' entries in these bytes as a view of shape (objects, size)."""
        return region[: self.size * self.objects].reshape(self.objects, self.size)

    def attributes(self, region: Bytes) -> Bytes:
        """Return the attributes in these bytes as a view of shape (objects, 4 or 6)."""
        return self.entries(region)[:, : 4 if self.size == _OLD_ENTRY else 6]


@lru_cache(maxsize=64)
def object_region(story: bytes) -> Region:
    """Find the objects of a story.

    Their number is stored nowhere: they end where the first of their property tables begins.
    """
    old = story[0] <= 3
    defaults, size, pointer = (31, _OLD_ENTRY, 7) if old else (63, 14, 12)
    first = _at(story, 0x0A) + 2 * defaults
    dynamic = min(_at(story, 0x0E), len(story))
    tables, address, end = dynamic, first, first
    while address + size <= tables:
        properties = _at(story, address + pointer)
        if not first < properties < dynamic:
            break
        tables = min(tables, properties)
        end = max(end, _end_of(story, properties, old=old))
        address += size
    return Region(first, min(end, dynamic), (address - first) // size, size)


def _end_of(story: bytes, address: int, *, old: bool) -> int:
    address += 1 + 2 * story[address]  # the short name
    while address < len(story) and story[address]:
        head = story[address]
        if old:
            address += 2 + (head >> 5)
        elif head & 0x80:
            address += 2 + ((story[address + 1] & 63) or 64)
        else:
            address += 2 + (head >> 6)
    return address + 1
