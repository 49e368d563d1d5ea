"""BM25: texts ranked by the words that they share with a query, rare words first.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
equations 3.15 and 3.16, without relevance judgements.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from gym_memory.core.settings import check_amount, check_share

__all__ = ["BM25"]


class BM25:
    """An index that grows by a text at a time; adding costs the text's words.

    Nothing but whole numbers is kept, so the scores depend on the texts that are held, bit by
    bit, and not on those that came and went. The weight of a word is ``log(1 + (N - n + .5) /
    (n + .5))``: with the 1, which the book leaves out, a word of more than half of the texts does
    not count against a text.

    Args:
        k1: How much further occurrences of a word count, >= 0; the book has 1.2 to 2.
        b: How far the length of a text is allowed for, in [0, 1]; the book has 0.5 to 0.8.

    Raises:
        InvalidArgumentError: A number is out of its range.

    >>> index = BM25()
    >>> index.extend(["a red door", "a blue door"])
    >>> index.similarities(["the blue door"]).argmax()
    np.int64(1)
    """

    def __init__(self, k1: float = 1.2, b: float = 0.75):
        self.k1, self.b = check_amount("k1", k1), check_share("b", b)
        self._texts: list[tuple[str, ...]] = []  # the different words of each
        self._lengths = array("q")
        self._postings: dict[str, tuple[array[int], array[int]]] = {}  # rows, and how often

    def __len__(self) -> int:
        """Number of texts."""
        return len(self._texts)

    def empty(self) -> BM25:
        """An index like this one, without texts."""
        return BM25(self.k1, self.b)

    def extend(self, texts: Iterable[str]) -> None:
        """Add texts; each has the next row."""
        for text in texts:
            words = _words(text)
            counts = Counter(words)
            for word, count in counts.items():
                rows, counted = self._postings.setdefault(word, (array("q"), array("q")))
                rows.append(len(self._texts))
                counted.append(count)
            self._texts.append(tuple(counts))
            self._lengths.append(len(words))

    def cut(self, count: int) -> None:
        """Keep the first ``count`` texts."""
        while len(self._texts) > count:
            for word in self._texts.pop():
                rows, counted = self._postings[word]
                rows.pop()
                counted.pop()
                if not rows:
                    del self._postings[word]
            self._lengths.pop()

    def similarities(self, queries: Sequence[str]) -> NDArray[np.float64]:
        """How well every text answers the queries, each as much as any other.

        The scores of a query are divided by the best of them: a long observation has a hundred
        words and a plan has five, and both are asked for.

        Returns:
            Shape (number of texts,), in [0, 1]; zeros where nothing is shared.
        """
        total = np.zeros(len(self))
        for query in queries:
            scores = self._scores(query)
            best = scores.max(initial=0.0)
            if best > 0:
                total += scores / best
        return total / max(len(queries), 1)

    def _scores(self, query: str) -> NDArray[np.float64]:
        scores = np.zeros(len(self))
        found = [(n, self._postings[w]) for w, n in Counter(_words(query)).items()
                 if w in self._postings]  # fmt: skip
        if not found:
            return scores
        lengths = np.array(self._lengths, dtype=np.float64)
        usual = self.k1 * (1 - self.b + self.b * lengths / (math.fsum(lengths) / len(self)))
        for number, (held, counted) in found:
            rows = np.array(held)
            often = np.array(counted, dtype=np.float64)
            rare = math.log1p((len(self) - len(rows) + 0.5) / (len(rows) + 0.5))
            scores[rows] += number * rare * often / (often + usual[rows])
        return scores


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
