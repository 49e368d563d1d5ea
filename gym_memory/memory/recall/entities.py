"""Entities of a graph, searched by the cosine of their names with a query (STMA, Algorithm 1)."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence

from gym_memory.graph import TemporalGraph
from gym_memory.graph.facts import Event
from gym_memory.graph.schema import EXIT, VERBATIM
from gym_memory.memory.encoders import Encoder, unit
from gym_memory.memory.encoders.vectors import VectorIndex
from gym_memory.memory.recall.following import Follower

__all__ = ["ATTRIBUTES", "EntityIndex"]

ATTRIBUTES = frozenset({"is", EXIT, "needs to be", "used for"}) | VERBATIM
"""Relations whose object is a value, not an entity: a hop over *closed* leads nowhere."""


class EntityIndex:
    """Names of the entities of a graph, to be searched by cosine (Algorithm 1, lines 1 to 3).

    Follows the graph's events. Without an encoder a text is the vector of the words that
    are in it, however often, and only names that share one with the query are looked at.

    Args:
        graph: The graph to follow; may be restored, not replaced.
        encoder: Encodes names and query; None for words.
    """

    def __init__(self, graph: TemporalGraph, encoder: Encoder | None):
        self.graph, self.encoder = graph, encoder
        self._follower: Follower[Event] = Follower()
        self._reset()

    def _reset(self) -> None:
        self._ids: dict[str, int] = {}
        self._names: list[str] = []
        self._lengths: list[float] = []
        self._by_word: dict[str, list[int]] = {}
        self._vectors = VectorIndex(self.encoder.dim) if self.encoder else None

    def _sync(self) -> None:
        """Learn the names in events since the last call; start over if the graph went back."""
        cut, events = self._follower.advance(self.graph.events)
        if cut:
            self._reset()
        known = len(self._names)
        for event in events:
            subject, relation, obj = event[1]
            for name in (subject,) if relation in ATTRIBUTES else (subject, obj):
                if name not in self._ids:
                    self._ids[name] = len(self._names)
                    self._names.append(name)
                    words = set(name.split())
                    self._lengths.append(math.sqrt(len(words)))
                    for word in sorted(words):
                        self._by_word.setdefault(word, []).append(self._ids[name])
        new = self._names[known:]
        if self.encoder and self._vectors is not None and new:
            self._vectors.add(range(known, len(self._names)), self.encoder.encode(new))

    def nearest(self, texts: Sequence[str], n: int) -> list[str]:
        """The ``n`` entities with live facts most similar to the mean vector of ``texts``."""
        self._sync()
        texts = [text for text in texts if text.strip()]
        if not texts or not self._names:
            return []
        similar = self._by_meaning(texts) if self.encoder else self._by_words(texts)
        live = [
            (-value, id)
            for id, value in similar.items()
            if self.graph.outgoing(self._names[id]) or self.graph.incoming(self._names[id])
        ]
        return [self._names[id] for _, id in heapq.nsmallest(n, live)]

    def _by_meaning(self, texts: Sequence[str]) -> dict[int, float]:
        assert self.encoder is not None
        assert self._vectors is not None
        query = unit(self.encoder.encode(texts).mean(axis=0, keepdims=True))
        return dict(enumerate(self._vectors.similarities(query)[0].tolist()))

    def _by_words(self, texts: Sequence[str]) -> dict[int, float]:
        query: dict[str, float] = {}
        for text in texts:
            words = dict.fromkeys(_words(text))
            for word in words:
                query[word] = query.get(word, 0.0) + 1 / math.sqrt(len(words))
        similar: dict[int, float] = {}
        for word, weight in query.items():
            for id in self._by_word.get(word, ()):
                similar[id] = similar.get(id, 0.0) + weight
        lengths = self._lengths
        return {id: round(value / lengths[id], 5) for id, value in similar.items()}


def _words(text: str) -> list[str]:
    """Words in lower case without the punctuation around them."""
    return [word for part in text.lower().split() if (word := part.strip(".,;:!?\"'()[]=-"))]
