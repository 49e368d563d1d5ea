"""A story file's dictionary, grammar and objects.

Inform, the compiler behind nearly all modern stories, adds to each word what it can be and writes
a grammar table for every verb ("grammar version 2"). See the Z-machine standard 1.1 (sections 3,
11, 12, 13) and Inform's technical manual (8.5, 8.6).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["HELD", "NOUN", "Region", "Vocabulary", "object_region", "read_vocabulary", "steady"]

NOUN, HELD = "NOUN", "HELD"
"""Slots of a template: any thing in view, a thing that is carried."""

_ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    " \n0123456789.,!?_#'\"/\\-:()",
)
_VERB, _META, _PREPOSITION, _NOUN = 0x01, 0x02, 0x08, 0x80
_ELEMENTARY, _WORD, _FILTER, _ATTRIBUTE = 1, 2, 3, 4
_SLOTS = {0: NOUN, 1: HELD, 2: NOUN, 3: HELD, 4: NOUN, 5: NOUN, 6: NOUN}
"""Inform's elementary tokens: noun, held, multi, multiheld, multiexcept, multiinside, creature."""
_END = 15
_MOST_LINES = 64


class Vocabulary(NamedTuple):
    """The words and commands that a story understands.

    Attributes:
        words: All words of the dictionary, cut to ``length``.
        nouns: Those that name things; empty if the story does not say.
        length: Letters that the parser distinguishes, 6 or 9.
        templates: Lines of the grammar as words and slots, one for each action and its slots;
            empty if the story was not made by Inform.
    """

    words: frozenset[str]
    nouns: frozenset[str]
    length: int
    templates: tuple[tuple[str, ...], ...]

    def knows(self, word: str) -> bool:
        """True if a word is in the dictionary."""
        return word.lower()[: self.length] in self.words

    def names(self, word: str) -> bool:
        """True if a word may be part of the name of a thing."""
        known = self.nouns or self.words
        return word.lower()[: self.length] in known


class _Word(NamedTuple):
    text: str
    flags: int
    verb: int
    address: int


def read_vocabulary(story: bytes, prefer: tuple[str, ...] = ()) -> Vocabulary:
    """Read dictionary and grammar of an intact story file.

    Args:
        story: The file's content.
        prefer: Preferred verbs among synonyms, the best first; else the shortest of three letters
            or more.
    """
    entries = list(_dictionary(story))
    inform = _made_by_inform(story)
    templates: dict[tuple[object, ...], tuple[str, ...]] = {}
    if inform:
        by_address = {entry.address: entry.text for entry in entries}
        verbs: dict[int, list[str]] = {}
        for entry in entries:
            if entry.flags & _VERB and not entry.flags & _META:
                verbs.setdefault(entry.verb, []).append(entry.text)
        best = {n: min(words, key=lambda word: _rank(word, prefer)) for n, words in verbs.items()}
        for number in sorted(best, key=lambda n: _rank(best[n], prefer)):
            for action, line in _lines(story, number, by_address):
                slots = (word for word in line if word in (NOUN, HELD))
                key, template = (action, *slots), (best[number], *line)
                if len(template) < len(templates.get(key, (*template, ""))):
                    templates[key] = template
    return Vocabulary(
        words=frozenset(entry.text for entry in entries),
        nouns=frozenset(entry.text for entry in entries if inform and entry.flags & _NOUN),
        length=6 if story[0] <= 3 else 9,
        templates=tuple(templates.values()),
    )


def _rank(word: str, prefer: tuple[str, ...]) -> tuple[int, int, str]:
    known = prefer.index(word) if word in prefer else len(prefer)
    return known, len(word) if len(word) > 2 else 99, word


def _made_by_inform(story: bytes) -> bool:
    """True if the header has the version of Inform 6, ``6.33``."""
    return story[0x3C] == ord("6") and story[0x3D] == ord(".")


def _at(story: bytes, address: int) -> int:
    return int.from_bytes(story[address : address + 2], "big")


def _dictionary(story: bytes) -> Iterator[_Word]:
    table = _at(story, 0x08)
    table += 1 + story[table]  # word separators
    size, count = (
        story[table],
        abs(int.from_bytes(story[table + 1 : table + 3], "big", signed=True)),
    )
    text = 4 if story[0] <= 3 else 6
    for address in range(table + 3, table + 3 + size * count, size):
        data = story[address : address + size]
        if len(data) < size or size < text + 2:
            return
        yield _Word(_decoded(story, data[:text]), data[text], data[text + 1], address)


def _decoded(story: bytes, data: bytes) -> str:
    """Decode a word (standard, section 3), without abbreviations."""
    codes = []
    for i in range(0, len(data), 2):
        packed = _at(data, i)
        codes += [packed >> 10 & 31, packed >> 5 & 31, packed & 31]
    own = _at(story, 0x34) if story[0] >= 5 else 0
    out, shift, i = "", 0, 0
    while i < len(codes):
        code = codes[i]
        i += 1
        if code in (4, 5):
            shift = code - 3
            continue
        if code == 0:
            out += " "
        elif code == 6 and shift == 2:  # a character by its number
            if i + 1 < len(codes):
                out += chr(codes[i] << 5 | codes[i + 1])
            i += 2
        elif code >= 6:
            place = code - 6
            out += chr(story[own + 26 * shift + place]) if own else _ALPHABETS[shift][place]
        shift = 0
    return out.rstrip()


def _lines(story: bytes, verb: int, words: dict[int, str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the action and grammar line of a verb, if it holds nothing but words and slots."""
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


def _token(kind: int, data: int, words: dict[int, str]) -> str:
    """Return a word or a slot; "" for a number, a topic or a routine's choice."""
    kind &= 0x0F
    if kind == _ELEMENTARY:
        return _SLOTS.get(data, "")
    if kind == _WORD:
        return words.get(data, "")
    return NOUN if kind in (_FILTER, _ATTRIBUTE) else ""


Bytes = NDArray[np.uint8]


class Region(NamedTuple):
    """Bytes ``start`` to ``end`` of dynamic memory: the object tree and its properties."""

    start: int
    end: int

    def of(self, memory: Bytes) -> Bytes:
        """Return these bytes of a memory."""
        return memory[self.start : self.end]


def object_region(story: bytes) -> Region:
    """Find the objects of a story.

    Their number is stored nowhere: they end where the first of their property tables begins.
    """
    old = story[0] <= 3
    defaults, size, pointer = (31, 9, 7) if old else (63, 14, 12)
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
    return Region(first, min(end, dynamic))


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


def steady(memories: Iterable[Bytes]) -> NDArray[np.bool_]:
    """Return which bytes are the same in all of ``memories``; shape of one of them."""
    stack = np.stack(list(memories))
    same: NDArray[np.bool_] = (stack == stack[0]).all(axis=0)
    return same
