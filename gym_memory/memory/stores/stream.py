"""A stream of observations, searched by meaning or by words, for RAG and Simulacra.

An observation that recurs verbatim after the same action is one record.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.core.files import typed
from gym_memory.core.settings import check_amount, check_share
from gym_memory.core.text import words as words_of
from gym_memory.memory.encoders import Encoder, unit
from gym_memory.memory.encoders.vectors import VectorIndex
from gym_memory.memory.reading import fit_episodes
from gym_memory.memory.stores.episodes import Episode

__all__ = ["BM25", "LONGEST", "ByMeaning", "RecordStream", "StreamRecord", "fit_records"]

LONGEST = 20_000
"""Most characters of a text that are stored."""
_MAX_ENCODED_CHARS = 4_000


class StreamRecord(NamedTuple):
    """An observation or insight, last observed at step ``t``; ``importance`` in [1, 10], else 0."""

    t: int
    text: str
    action: str = ""
    importance: float = 0.0
    insight: bool = False


class ByMeaning:
    """Texts by the cosine of their vectors with the mean of the queries' unit vectors."""

    def __init__(self, encoder: Encoder):
        self.encoder = encoder
        self._vectors = VectorIndex(encoder.dim)

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self._vectors)

    def empty(self) -> ByMeaning:
        """Return an empty index with the same encoder."""
        return ByMeaning(self.encoder)

    def extend(self, texts: Sequence[str]) -> None:
        """Add texts, each as the next row."""
        new = [text[:_MAX_ENCODED_CHARS] for text in texts]
        known = len(self)
        self._vectors.add(range(known, known + len(new)), self.encoder.encode(new))

    def cut(self, count: int) -> None:
        """Keep the first ``count`` texts."""
        for row in range(count, len(self)):
            self._vectors.remove(row)

    def similarities(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """Return the cosine of every text with the mean of the queries' unit vectors."""
        texts = [query[:_MAX_ENCODED_CHARS] for query in queries]
        query = unit(self.encoder.encode(texts).mean(axis=0, keepdims=True))
        return self._vectors.similarities(query)[0]


class BM25:
    """Texts ranked by the words that they share with a query, weighted by rarity.

    Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), 3.15
    and 3.16, without relevance judgements. With the 1, not in the book, of ``log(1 + (N - n + .5)
    / (n + .5))`` a common word does not count against a text.

    Args:
        k1: Weight of further occurrences of a word, >= 0; the book has 1.2 to 2.
        b: Weight of the length of a text, in [0, 1]; the book has 0.5 to 0.8.

    >>> index = BM25()
    >>> index.extend(["a red door", "a blue door"])
    >>> index.similarities(["the blue door"]).argmax()
    np.int64(1)
    """

    def __init__(self, k1: float = 1.2, b: float = 0.75):
        self.k1, self.b = check_amount("k1", k1), check_share("b", b)
        self._texts: list[tuple[str, ...]] = []  # the distinct words of each text
        self._lengths = array("q")
        self._postings: dict[str, tuple[array[int], array[int]]] = {}  # rows, occurrences

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self._texts)

    def empty(self) -> BM25:
        """Return an empty index with the same parameters."""
        return BM25(self.k1, self.b)

    def extend(self, texts: Iterable[str]) -> None:
        """Add texts, each as the next row; O(their words)."""
        for text in texts:
            words = words_of(text)
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
        """Return the scores of all texts for the queries, scaled to [0, 1]; shape (texts,)."""
        total = np.zeros(len(self))
        for query in queries:
            scores = self._scores(query)
            best = scores.max(initial=0.0)
            if best > 0:
                total += scores / best
        return total / max(len(queries), 1)

    def _scores(self, query: str) -> NDArray[np.float64]:
        scores = np.zeros(len(self))
        found = [(n, self._postings[w]) for w, n in Counter(words_of(query)).items()
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


class RecordStream:
    """Records in order of first observation, with an index over their texts."""

    def __init__(self, index: ByMeaning | BM25):
        self.records: list[StreamRecord] = []
        self._row: dict[tuple[str, str, bool], int] = {}
        self._by_time: dict[int, None] = {}  # rows, the one seen last at the end
        self._numbers = np.zeros((16, 2))
        self._index = index

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.records)

    def find(self, text: str, action: str) -> StreamRecord | None:
        """Return the record of an observation, if it occurred before."""
        row = self._row.get((action, text[:LONGEST], False))
        return None if row is None else self.records[row]

    def add(self, record: StreamRecord) -> None:
        """Add a record, or update the time of a known one."""
        record = record._replace(text=record.text[:LONGEST])
        key = (record.action, record.text, record.insight)
        row = self._row.setdefault(key, len(self.records))
        if row == len(self.records):
            self.records.append(record)
            if row == len(self._numbers):
                self._numbers = np.concatenate([self._numbers, np.zeros_like(self._numbers)])
        else:
            self.records[row] = record
            del self._by_time[row]
        self._by_time[row] = None
        self._numbers[row] = record.t, record.importance

    @property
    def times(self) -> NDArray[np.float64]:
        """Return the last step of each record; shape (records,), read-only."""
        times: NDArray[np.float64] = self._numbers[: len(self.records), 0]
        return times

    @property
    def importance(self) -> NDArray[np.float64]:
        """Return the importance of each record; shape (records,), read-only."""
        importance: NDArray[np.float64] = self._numbers[: len(self.records), 1]
        return importance

    def similarities(self, texts: Sequence[str]) -> NDArray[Any]:
        """Return the similarity of each record to ``texts``; zeros if all are blank."""
        texts = [text for text in texts if text.strip()]
        if not texts or not self.records:
            return np.zeros(len(self.records), dtype=np.float32)
        known = len(self._index)
        if known < len(self.records):
            self._index.extend([record.text for record in self.records[known:]])
        return self._index.similarities(texts)

    def latest(self) -> Iterator[int]:
        """Yield the rows of the observations, latest first."""
        return (row for row in reversed(self._by_time) if not self.records[row].insight)

    def fork(self) -> RecordStream:
        """Return an independent copy."""
        twin = RecordStream(self._index.empty())
        twin.restore(self.records)
        return twin

    def state(self) -> list[list[Any]]:
        """Return the records as JSON-able values."""
        return [list(record) for record in self.records]

    def load_state(self, state: Iterable[Sequence[Any]]) -> None:
        """Replace the records."""
        self.restore([typed(StreamRecord, row) for row in state])

    def restore(self, records: Sequence[StreamRecord]) -> None:
        """Restore a copy of earlier records, and keep the index as far as it applies."""
        same = 0
        for old, new in zip(self.records, records, strict=False):
            if old.text is not new.text and old.text != new.text:
                break
            same += 1
        self._index.cut(same)
        self.records = list(records)
        self._row = {(r.action, r.text, r.insight): row for row, r in enumerate(self.records)}
        rows = sorted(range(len(self.records)), key=lambda row: (self.records[row].t, row))
        self._by_time = dict.fromkeys(rows)
        numbers = [(record.t, record.importance) for record in self.records]
        self._numbers = np.array([*numbers, (0, 0)], dtype=np.float64)


def fit_records(records: Iterable[StreamRecord], left: int) -> list[tuple[StreamRecord, str]]:
    """Return the first of ``records`` that fit ``left`` characters; the last may be cut."""
    kept = []
    for record in records:
        episode = Episode(0, record.t, record.text, record.action)
        text, _ = fit_episodes([episode], left - 1)
        if not text:
            break
        kept.append((record, text))
        left -= len(text) + 1
    return kept
