"""The shop's search: BM25 over titles, descriptions, first features and options."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from gym_memory.core.optional import require
from gym_memory.games.webshop.catalogue import Catalogue, Product
from gym_memory.games.webshop.rules import split_words

__all__ = ["MOST_RESULTS", "Search"]

MOST_RESULTS = 50
_K1, _B = 0.9, 0.4
"""Pyserini's values, which the official engine leaves as they are."""
_DECIMALS = 4
_KEPT_QUERIES = 4096
_STOP_WORDS = frozenset((
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is",
    "it", "no", "not", "of", "on", "or", "some", "such", "that", "the", "their", "then",
    "there", "these", "they", "this", "to", "was", "will", "with",
))  # fmt: skip


class Search:
    """Index a catalogue.

    The official engine searches with Lucene, which also reduces words to their Porter stem; here
    a plural's *s* is dropped. Of equally good products the first of the catalogue comes first.
    """

    def __init__(self, catalogue: Catalogue):
        bm25s: Any = require("bm25s", "webshop", "the search of WebShop")
        self._products = catalogue.products
        self._index = bm25s.BM25(k1=_K1, b=_B, method="lucene")
        self._index.index([_words(_document(p)) for p in self._products], show_progress=False)
        self.find = lru_cache(maxsize=_KEPT_QUERIES)(self._find)

    def _find(self, query: str) -> tuple[Product, ...]:
        """Return the best products for a query, at most 50, each with a word of it."""
        words = [word for word in _words(query) if word in self._index.vocab_dict]
        if not words:
            return ()
        scores = np.round(self._index.get_scores(words), _DECIMALS)
        if len(scores) > MOST_RESULTS:
            least = max(np.partition(scores, -MOST_RESULTS)[-MOST_RESULTS], 10.0**-_DECIMALS)
        else:
            least = 10.0**-_DECIMALS
        found = np.flatnonzero(scores >= least)
        order = np.argsort(-scores[found], kind="stable")[:MOST_RESULTS]
        return tuple(self._products[i] for i in found[order])


def _document(product: Product) -> str:
    options = ", and ".join(f"{name}: {', '.join(v)}" for name, v in product.options)
    parts: Iterable[str] = (product.title, product.description, *product.bullets[:1], options)
    return " ".join(parts)


def _words(text: str) -> list[str]:
    return [word.stem for word in split_words(text) if word.stem not in _STOP_WORDS]
