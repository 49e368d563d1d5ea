"""Count tokens without a tokenizer."""

from __future__ import annotations

__all__ = ["CHARS_PER_TOKEN", "count_tokens", "truncate_tokens"]

CHARS_PER_TOKEN = 4
"""Characters that count as one token."""


def count_tokens(text: str) -> int:
    """Return the number of tokens of ``text``, rounded up.

    >>> count_tokens(""), count_tokens("abcd"), count_tokens("abcde")
    (0, 1, 2)
    """
    return -(-len(text) // CHARS_PER_TOKEN)


def truncate_tokens(text: str, budget: int) -> str:
    """Return the longest prefix of ``text`` that costs at most ``budget`` tokens.

    >>> truncate_tokens("abcdefgh", 1)
    'abcd'
    """
    return text[: max(budget, 0) * CHARS_PER_TOKEN]
