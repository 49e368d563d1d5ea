"""BM25 over the passages of one question: the search action, and the retrieval baseline."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from gym_memory.core.optional import require

__all__ = ["PassageSearch"]

_WORD = re.compile(r"\w+")
_K1, _B = 1.5, 0.75
"""BM25's usual saturation of repeated words, and weight of a text's length."""


class PassageSearch:
    """Index a few texts.

    >>> PassageSearch(["a red door", "a blue key"]).ranked("Where is the key?")[0]
    1
    """

    def __init__(self, texts: Sequence[str]):
        bm25s: Any = require("bm25s", "qa", "search over passages")
        self._size = len(texts)
        self._index = bm25s.BM25(k1=_K1, b=_B)
        self._index.index([_words(text) for text in texts], show_progress=False)

    def ranked(self, query: str) -> list[int]:
        """Return the positions of all texts, best first; of equal ones the first."""
        words = [word for word in _words(query) if word in self._index.vocab_dict]
        scores = self._index.get_scores(words) if words else np.zeros(self._size)
        return [int(i) for i in np.argsort(-np.round(scores, 5), kind="stable")]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
