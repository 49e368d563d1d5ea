"""Estimates of tokens without a tokenizer, by a small table of scripts.

Four characters of English are about one token. Letters of other scripts take more, and so do many
marks, as in code. The result is an upper estimate for byte-pair vocabularies.
"""

from __future__ import annotations

import functools
from bisect import bisect_right

__all__ = ["CHARS_PER_TOKEN", "count_tokens", "fitting_chars", "letters_size", "size_of"]
__all__ += ["truncate_tokens"]

CHARS_PER_TOKEN = 4
"""English characters per token; sizes are in quarters of a token."""

_SCRIPTS = [
    (0x00, 1), (0x80, 2), (0x0250, 3), (0x0370, 2), (0x0590, 3), (0x0E00, 6), (0x10A0, 4),
    (0x1E00, 2), (0x1F00, 3), (0x2000, 4), (0xA000, 6), (0xAC00, 4), (0xFB50, 3), (0xFF00, 4),
    (0x10000, 12),
]  # fmt: skip
"""Quarters of a token that a character takes, from each code point on: ASCII, Latin with accents,
phonetic letters, Greek and Cyrillic, Hebrew to the Indic scripts, Thai to Burmese, Georgian and
Hangul, more Latin, more Greek, signs to Chinese, others of Asia, Hangul, Arabic, wide, emoji.
"""
_FROM = [start for start, _ in _SCRIPTS]
_MARKS = rb"{}()<=+*/\|&^%$#@~_"
_USUAL_SHARE, _USUAL_MARKS = 0.03, 8
"""Share of marks in prose, and their number in short texts, which cost nothing extra."""
_UNITS_A_MARK = 4


def size_of(text: str) -> int:
    """Return the size of a text in quarters of a token; plain English has its length.

    >>> size_of("a hall"), size_of("走廊"), size_of("ключ")
    (6, 8, 8)
    """
    plain = text.encode("ascii", "ignore")
    marks = len(plain) - len(plain.translate(None, _MARKS))
    extra = marks - int(_USUAL_SHARE * len(text)) - _USUAL_MARKS
    return letters_size(text) + max(extra, 0) * (_UNITS_A_MARK - 1)


def letters_size(text: str) -> int:
    """Return the size of a text without the cost of many marks, so that sizes of parts add up."""
    return len(text) if text.isascii() else sum(map(_units, text))


@functools.lru_cache(maxsize=1 << 14)
def _units(char: str) -> int:
    return _SCRIPTS[bisect_right(_FROM, ord(char)) - 1][1]


@functools.lru_cache(maxsize=8)  # a recall is counted several times
def count_tokens(text: str) -> int:
    """Return the number of tokens of ``text``, rounded up.

    >>> count_tokens(""), count_tokens("abcd"), count_tokens("abcde"), count_tokens("一个大厅")
    (0, 1, 2, 4)
    """
    return -(-size_of(text) // CHARS_PER_TOKEN)


def fitting_chars(text: str, budget: int) -> int:
    """Return the number of characters of ``text`` that fit into ``budget`` tokens."""
    room = max(budget, 0) * CHARS_PER_TOKEN
    if len(text) <= room and size_of(text) <= room:
        return len(text)
    low, high = 0, min(len(text), room)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if size_of(text[:middle]) <= room else (low, middle - 1)
    return low


def truncate_tokens(text: str, budget: int) -> str:
    """Return the longest prefix of ``text`` that costs at most ``budget`` tokens.

    >>> truncate_tokens("abcdefgh", 1), truncate_tokens("一个大厅", 2)
    ('abcd', '一个')
    """
    return text[: fitting_chars(text, budget)]
