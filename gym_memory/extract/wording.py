"""A text as others are written: not all in capitals, without emphasis, in the present tense."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from gym_memory.extract.base import Extraction

__all__ = ["Worded", "reworded"]

_EMPHASIS = re.compile(r"(?<![^ (\n])(\*\*?|__?|`)(?=\w)([^*_`\n]*\w)\1(?=[ ,.;:!?)])")
"""Marks around words inside of a line; around a whole line they make a title."""
_NARRATED = re.compile(
    r"(?:You|I|We) (?:were|was|stood|saw|came|went|walked|stepped|entered|could see|noticed)\b"
)
_PRESENT = re.compile(r"\b(?:is|are|am|can|see)\b|'(?:re|m)\b")
_TENSE = {
    "was": "is", "were": "are", "could": "can", "saw": "see", "stood": "stand", "lay": "lies",
    "noticed": "notice", "came": "go", "went": "go", "walked": "go", "stepped": "go",
    "entered": "enter", "arrived": "arrive", "returned": "return", "led": "lead", "ran": "run",
    "held": "hold", "carried": "carry", "had": "have", "picked": "pick", "took": "take",
    "dropped": "drop", "opened": "open", "closed": "close", "contained": "contains",
}  # fmt: skip
_PAST = re.compile(rf"\b(?:{'|'.join(_TENSE)})\b")


class Worded(NamedTuple):
    """A text, and where each of its characters is in the original; empty if unchanged."""

    text: str
    positions: Sequence[int] = ()

    def in_original(self, found: Extraction) -> Extraction:
        """Return an extraction whose spans point into the original text."""
        if not self.positions:
            return found
        at = self.positions
        mentions = (
            m if m.start < 0 else m._replace(start=at[m.start], end=at[m.end - 1] + 1)
            for m in found.mentions
        )
        return found._replace(mentions=tuple(mentions))


@lru_cache(maxsize=1024)
def reworded(text: str) -> Worded:
    """Return a text as others are written.

    >>> reworded("You came into the **hall**.").text
    'You go into the hall.'
    """
    worded = Worded(_in_sentence_case(text))
    if "*" in text or "_" in text or "`" in text:
        worded = _replaced(worded, _EMPHASIS, lambda found: found[2])
    if _NARRATED.search(text) and not _PRESENT.search(text):
        worded = _replaced(worded, _PAST, lambda found: _TENSE[found[0]])
    return worded


def _replaced(worded: Worded, pattern: re.Pattern[str], new: Callable[..., str]) -> Worded:
    text, positions = worded
    parts: list[str] = []
    places: list[int] = []
    end = 0
    for found in pattern.finditer(text):
        before, word = found.start(), new(found)
        first, last = found.start(found.lastindex or 0), found.end() - 1
        parts += [text[end:before], word]
        places += [*range(end, before), *(min(first + n, last) for n in range(len(word)))]
        end = found.end()
    if not parts:
        return worded
    places += range(end, len(text))
    return Worded(
        "".join((*parts, text[end:])), [positions[p] for p in places] if positions else places
    )


def _in_sentence_case(text: str) -> str:
    if not text.isupper():
        return text
    lower = text.lower()
    if len(lower) != len(text):
        return text
    lower = re.sub(r"(?:^|[.!?:]\s+|\n[^\S\n]*)[a-z]|\bi\b", lambda m: m.group().upper(), lower)
    return re.sub(r"^[^\n.!?:,]{1,40}$", lambda m: m.group().title(), lower, flags=re.MULTILINE)
