"""Words and names in the texts of a step, without a list of names and without extraction rules.

Names are the objects of actions (``insert red apple into oven``: ``red apple``, ``oven``), the
heading of a text (``-= Kitchen =-``) and lines of a list. Without valid actions, noun phrases with
an article are names as well. A phrase that ends in a known name is that name: *a raw carrot*.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from gym_memory.graph.schema import PLAYER

__all__ = [
    "ARTICLES",
    "LINKS",
    "MAX_NAME",
    "Mention",
    "Words",
    "find_names",
    "mentions",
    "names_in_action",
    "read",
]

MAX_NAME = 4
"""Words of a name, at most."""
_MAX_CHARS = 6000
"""Most characters of a text to read."""

_TOKEN = re.compile(r"[a-z0-9]+(?:['-][a-z0-9]+)*|[.!?;:\n]|-=|=-")
_LINE = re.compile(r"^ *([a-z0-9'-]+(?: [a-z0-9'-]+){0,3}) *$", re.MULTILINE)
_STOPS = frozenset(".!?;:\n")
ARTICLES = frozenset(("a", "an", "the", "some"))
LINKS = frozenset(
    ("about", "against", "and", "are", "at", "behind", "below", "by", "for", "from", "has", "in",
     "into", "is", "it", "its", "leading", "off", "on", "onto", "or", "out", "over", "that",
     "through", "to", "under", "up", "down", "was", "which", "with", "you", "here", "there")
)  # fmt: skip
"""Words at which a name ends."""


class Words(NamedTuple):
    """A text split into words, sentences and names.

    Attributes:
        words: Lower-case words; ``.`` where a sentence, line or clause ends.
        sentences: Number of the sentence of each word.
        heading: The text's ``-= heading =-``; empty without one.
        lines: Lines that may be names, ``dice the carrot`` as ``carrot``.
    """

    words: tuple[str, ...]
    sentences: tuple[int, ...]
    heading: str
    lines: tuple[str, ...]


class Mention(NamedTuple):
    """A known name in a text: its words are ``start`` to ``end``, one past the last."""

    name: str
    start: int
    end: int


@lru_cache(maxsize=4096)
def read(text: str, most: int) -> Words:
    r"""Split a text.

    Args:
        text: The text.
        most: Words to keep, the first ones.

    >>> read("-= Hall =-\nYou see a key.", 20).words
    ('hall', '.', 'you', 'see', 'a', 'key', '.')
    """
    text = text[:_MAX_CHARS].lower()
    words: list[str] = []
    sentences: list[int] = []
    begin, heading, sentence = -1, "", 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == "-=":
            begin = len(words)
        elif token == "=-":
            if 0 <= begin < len(words) <= begin + MAX_NAME:
                heading = " ".join(words[begin:])
            begin = -1
        elif token not in _STOPS:
            words.append(token)
            sentences.append(sentence)
        elif words and words[-1] != ".":
            words.append(".")
            sentences.append(sentence)
            sentence += 1
        if len(words) >= most:
            break
    lines = (_after_article(line.split()) for line in _LINE.findall(text))
    return Words(tuple(words), tuple(sentences), heading, tuple(line for line in lines if line))


def _after_article(line: list[str]) -> str:
    for i, word in enumerate(line):
        if word in ARTICLES:
            line = line[i + 1 :]
            break
    name = " ".join(line)
    return name if len(line) < MAX_NAME and name.strip("-") and not LINKS & {*line} else ""


@lru_cache(maxsize=16_384)
def names_in_action(action: str) -> tuple[str, ...]:
    """Return the names in a command, in their order.

    >>> names_in_action("insert the red apple into oven"), names_in_action("go east")
    (('red apple', 'oven'), ('east',))
    """
    names: list[list[str]] = [[]]
    for word in _TOKEN.findall(action[:200].lower())[1:]:
        if word in LINKS or word in _STOPS:
            names.append([])
        elif word not in ARTICLES:
            names[-1].append(word)
    return tuple(" ".join(name) for name in names if 0 < len(name) <= MAX_NAME)


def find_names(text: Words, known: Mapping[str, object], *, phrases: bool) -> Iterator[str]:
    """Yield the unknown names in a text; noun phrases only if ``phrases``."""
    if text.heading and text.heading not in known:
        yield text.heading
    for line in text.lines:
        if not _is_known(line.split(), known):
            yield line
    if not phrases:
        return
    words = text.words
    for i, word in enumerate(words):
        if word in ARTICLES:
            end = i + 1
            while end < len(words) and words[end] not in LINKS and words[end] != ".":
                end += 1
            phrase = list(words[i + 1 : end])
            if 0 < len(phrase) <= MAX_NAME and not _is_known(phrase, known):
                yield " ".join(phrase)


def _is_known(words: list[str], known: Mapping[str, object]) -> bool:
    return any(" ".join(words[i:]) in known for i in range(len(words)))


def mentions(text: Words, known: Mapping[str, object]) -> list[Mention]:
    """Return the known names in a text, and ``you``; the longest of those with one start."""
    words = text.words
    found: list[Mention] = []
    i = 0
    while i < len(words):
        for end in range(min(i + MAX_NAME, len(words)), i, -1):
            name = words[i] if end == i + 1 else " ".join(words[i:end])
            if name in known or name == PLAYER:
                found.append(Mention(name, i, end))
                i = end - 1
                break
        i += 1
    return found
