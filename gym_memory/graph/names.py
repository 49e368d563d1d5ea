"""Find the names of known entities in text, in full or in part."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache

__all__ = ["DETERMINERS", "NameIndex", "head_noun", "nouns"]

DETERMINERS = frozenset(
    "the a an my your his her its our their this that these those some any".split()  # noqa: SIM905
)
"""Words before a partial name."""

_WORD = re.compile(r"[^\s.,;:!?\"()]+")
_OF = re.compile(r"(?<=\w)\s+(?:of|to|for|from|with|in|on)\s")
_LABEL = re.compile(r"#?[a-z]?\d+|[a-z]|[ivx]+|no\.?|number|one|two|three|four|five|six")
_ONE = "one"
_INDEFINITE = ("a", "an", "any", "some")
_MOST_TEXTS = 4096
"""Texts whose names are cached: the task and actions."""
_MOST_WORDS = 4
_MOST_FITS = 8
"""Names that a partial name may share a word and a noun with; more are not looked through."""


@lru_cache(maxsize=1 << 14)
def head_noun(name: str) -> str:
    """Return the word of a name that says what it is, without a label or what it is of.

    >>> head_noun("brass key"), head_noun("Key 1"), head_noun("key to the vault")
    ('key', 'key', 'key')
    """
    words = _OF.split(name.lower(), maxsplit=1)[0].split()
    while len(words) > 1 and _LABEL.fullmatch(words[-1]):
        words.pop()
    return words[-1] if words else ""


@lru_cache(maxsize=1 << 14)
def nouns(name: str) -> tuple[str, ...]:
    """Return the words that can end a partial name: the head noun, and what it is *of*.

    >>> nouns("block of cheese"), nouns("brass key")
    (('block', 'cheese'), ('key',))
    """
    _, of, rest = name.lower().partition(" of ")
    return (head_noun(name), head_noun(rest)) if of and rest else (head_noun(name),)


@lru_cache(maxsize=_MOST_TEXTS)
def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


class NameIndex:
    """Find the names of known entities in text, in O(words).

    A partial name is a determiner and at most four words of a name, of which the last is one of its
    :func:`nouns`, or *one* as in *the red one*. It counts if it fits a single name; one that fits
    several names none.

    Args:
        partial: True to find partial names, too.

    >>> names = NameIndex(partial=True)
    >>> for name in ("apple", "red apple", "block of cheese", "brass key", "iron key"):
    ...     names.learn(name)
    >>> names.find("Take the RED apple, then an apple (no pineapple).")
    ('red apple', 'apple')
    >>> names.find("Where's the cheese? And the key, the iron one?")
    ('block of cheese', 'iron key')
    """

    def __init__(self, *, partial: bool = False) -> None:
        self._is_partial = partial
        self._names: set[str] = set()
        self._by_words: dict[str, str] = {}
        self._longest: dict[str, int] = {}  # first word to the most words of a name
        self._by_noun: dict[tuple[str, str], list[str]] = {}  # by a word and a noun of the name
        self._found: dict[str, tuple[str, ...]] = {}

    @property
    def all(self) -> Container[str]:
        """Return the names that were learnt."""
        return self._names

    def learn(self, name: str) -> None:
        """Add a name, in lower case as the graph keeps them."""
        if name in self._names:
            return
        self._names.add(name)
        self._found.clear()
        words = _words(name)
        if words:
            self._by_words[" ".join(words)] = name
            self._longest[words[0]] = max(self._longest.get(words[0], 0), len(words))
        for noun in (*nouns(name), _ONE) if self._is_partial else ():
            for word in dict.fromkeys(words):
                self._by_noun.setdefault((word, noun), []).append(name)

    def find(self, text: str) -> tuple[str, ...]:
        """Return the names in ``text``, in its order, each once; of nested names the longest."""
        found = self._found.get(text)
        if found is None:
            if len(self._found) >= _MOST_TEXTS:
                self._found.clear()
            found = self._found[text] = tuple(dict.fromkeys(self._search(_words(text))))
        return found

    def _search(self, words: Sequence[str]) -> Iterator[str]:
        position = 0
        while position < len(words):
            name, end = self._full(words, position)
            if self._is_partial and words[position] in DETERMINERS and name is None:
                name, end = max(
                    (self._full(words, position + 1), self._partial(words, position + 1)),
                    key=lambda found: found[1],
                )
            if name is not None:
                yield name
            position = position + 1 if name is None else end

    def _full(self, words: Sequence[str], start: int) -> tuple[str | None, int]:
        """Return the longest name that begins there, and the position after it."""
        longest = self._longest.get(words[start], 0) if start < len(words) else 0
        for end in range(start + longest, start, -1):
            name = self._by_words.get(" ".join(words[start:end]))
            if name is not None:
                return name, end
        return None, start

    def _partial(self, words: Sequence[str], start: int) -> tuple[str | None, int]:
        """Return the one name that the longest partial name there fits, as :meth:`_full` does."""
        for end in range(min(start + _MOST_WORDS, len(words)), start, -1):
            if words[end - 1] == _ONE and words[start - 1] in _INDEFINITE:
                continue
            fits = self._by_noun.get((words[start], words[end - 1]), ())
            if 0 < len(fits) <= _MOST_FITS:
                phrase = set(words[start:end]) - {_ONE}
                fits = [name for name in fits if phrase.issubset(_words(name))]
                if len(fits) == 1:
                    return fits[0], end
        return None, start
