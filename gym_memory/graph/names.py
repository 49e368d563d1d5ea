"""Find the names of known entities in text."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from functools import lru_cache

__all__ = ["NameIndex"]

_WORD = re.compile(r"[^\s.,;:!?\"()]+")
_MOST_TEXTS = 4096
"""Texts whose names are cached: the task and actions."""


@lru_cache(maxsize=_MOST_TEXTS)
def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


class NameIndex:
    """Find the names of known entities in text, in O(words).

    >>> names = NameIndex()
    >>> for name in ("apple", "red apple"):
    ...     names.learn(name)
    >>> names.find("Take the RED apple, then an apple (no pineapple).")
    ('red apple', 'apple')
    """

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._by_words: dict[str, str] = {}
        self._longest: dict[str, int] = {}  # first word to the most words of a name
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

    def find(self, text: str) -> tuple[str, ...]:
        """Return the names in ``text``, in its order, each once; of nested names the longest."""
        found = self._found.get(text)
        if found is None:
            if len(self._found) >= _MOST_TEXTS:
                self._found.clear()
            found = self._found[text] = tuple(dict.fromkeys(self._search(_words(text))))
        return found

    def _search(self, words: list[str]) -> Iterator[str]:
        position = 0
        while position < len(words):
            longest = self._longest.get(words[position], 0)
            position += 1
            for end in range(position + longest - 1, position - 1, -1):
                name = self._by_words.get(" ".join(words[position - 1 : end]))
                if name is not None:
                    yield name
                    position = end
                    break
