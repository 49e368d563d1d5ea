"""Rewriting of a text by patterns, with the offset of each character in the original."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from gym_memory.extract import Extraction, Mention

__all__ = ["MappedText", "MarkedRewrites", "Rewrite", "Rewriter", "nothing", "signs_in"]

Rewrite = tuple[tuple[str, ...], re.Pattern[str], Callable[[re.Match[str]], str]]
"""Required parts, of which the text must have any; a pattern; its replacement."""
MarkedRewrites = tuple[str, Sequence[Rewrite]]
"""A mark that the text must have, and the rewrites for it."""


class MappedText(NamedTuple):
    """A text with the offset of each character in the original; no offsets if unchanged."""

    text: str
    positions: Sequence[int] = ()

    def in_original(self, found: Extraction) -> Extraction:
        """Return the extraction with spans in the original text."""
        if not self.positions:
            return found
        at = self.positions
        mentions = (
            m if m.start < 0 else Mention(m.triple, at[m.start], at[m.end - 1] + 1)
            for m in found.mentions
        )
        return found._replace(mentions=tuple(mentions))

    def replaced(self, pattern: re.Pattern[str], new: Callable[[re.Match[str]], str]) -> MappedText:
        """Return the text with the matches of a pattern replaced."""
        text, positions = self
        changes = [(*found.span(), new(found)) for found in pattern.finditer(text)]
        if not changes:
            return self
        parts: list[str] = []
        end = 0
        for begin, after, word in changes:
            parts += [text[end:begin], word]
            end = after
        changed = "".join((*parts, text[end:]))
        if all(len(word) == after - begin for begin, after, word in changes):
            return MappedText(changed, positions)
        places: list[int] = []
        end = 0
        for begin, after, word in changes:
            places += range(end, begin)
            places += _align(word, text, begin, after)
            end = after
        places += range(end, len(text))
        return MappedText(changed, [positions[p] for p in places] if positions else places)

    def rewritten(self, rewrites: Sequence[Rewrite]) -> MappedText:
        """Return the text after some rewrites."""
        worded = self
        for needles, pattern, new in rewrites:
            if not needles or any(map(worded.text.__contains__, needles)):
                worded = worded.replaced(pattern, new)
        return worded


def _align(word: str, text: str, begin: int, end: int) -> Iterable[int]:
    """Return an offset in the replaced part of the text for each character of a word."""
    return range(begin, end) if len(word) == end - begin else _offsets(word, text, begin, end)


def _offsets(word: str, text: str, begin: int, end: int) -> Iterator[int]:
    at = begin
    for character in word:
        found = text.find(character, at, end)
        at = found if found >= 0 else at
        yield min(at, end - 1)
        at += found >= 0


_SIGNS_OF_PROSE = frozenset(f"{string.ascii_letters},.")
_COMMON_CHARACTER = re.compile(r"[\w\s,.]")
_MAX_CHOICES = 256


def signs_in(text: str) -> frozenset[str]:
    """Return the characters of a text that are rare in prose: digits, brackets, dashes."""
    return frozenset(c for c in set(text) - _SIGNS_OF_PROSE if not c.isspace())


class Rewriter:
    """A sequence of rewrites, with a fast test by signs for those that may apply to a text."""

    def __init__(self, *marked: MarkedRewrites):
        self.marked = marked
        self._rarest = [_COMMON_CHARACTER.sub("", mark)[-1:] for mark, _ in marked]
        self._signs = frozenset(self._rarest)
        self._chosen: dict[frozenset[str], list[tuple[int, MarkedRewrites]]] = {}

    def apply(self, worded: MappedText, signs: frozenset[str]) -> MappedText:
        """Apply the rewrites whose marks are in a text with these signs.

        Each line of the text follows a line break.
        """
        text = worded.text
        lines = f"\n{text}"
        for at, (mark, rewrites) in self._fitting(signs):
            if mark in lines:
                worded = worded.rewritten(rewrites)
                if worded.text != text:  # the new text may have other marks
                    for mark, rewrites in self.marked[at + 1 :]:
                        if mark in f"\n{worded.text}":
                            worded = worded.rewritten(rewrites)
                    return worded
        return worded

    def _fitting(self, signs: frozenset[str]) -> list[tuple[int, MarkedRewrites]]:
        """Return the rewrites whose rarest character is a sign or common, with their positions."""
        present = self._signs.intersection(signs)
        chosen = self._chosen.get(present)
        if chosen is None:
            if len(self._chosen) >= _MAX_CHOICES:
                self._chosen.clear()
            has = {"", *present}
            chosen = [(n, self.marked[n]) for n, c in enumerate(self._rarest) if c in has]
            self._chosen[present] = chosen
        return chosen


def nothing(found: re.Match[str]) -> str:
    """Return the replacement of a match that is deleted."""
    return ""
