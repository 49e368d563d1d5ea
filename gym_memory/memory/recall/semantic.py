"""Search by meaning: facts (AriGraph, Algorithm 2) and entities (STMA, Algorithm 1) of a graph."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from gym_memory.core.records import Triple
from gym_memory.core.text import compounds
from gym_memory.graph import TemporalGraph
from gym_memory.graph.facts import Event
from gym_memory.graph.schema import EXIT, VERBATIM
from gym_memory.memory.encoders import Encoder, unit
from gym_memory.memory.encoders.vectors import VectorIndex
from gym_memory.memory.stores.episodes import Follower

__all__ = ["ATTRIBUTES", "EntityIndex", "Queries", "SemanticIndex"]

Queries = Sequence[tuple[str, int]]
"""Search texts of Algorithm 2 with their depths d >= 0."""
ATTRIBUTES = frozenset({"is", EXIT, "needs to be", "used for"}) | VERBATIM
"""Relations whose object is a value, not an entity: a hop over *closed* leads nowhere."""


class SemanticIndex(Follower[Event]):
    """Embeddings of the live facts of a graph, with cached answers to query texts.

    An answer is cached until a fact in it ends, or one begins that comes as close as its last.

    Args:
        graph: The graph to follow; may be restored, not replaced.
        encoder: Encoder of ``subject, relation, object`` and of the queries.
        width: Facts retrieved for one query text, the paper's w, >= 1.
        threshold: Least similarity of a retrieved fact; None for any, as in the paper.
    """

    def __init__(
        self, graph: TemporalGraph, encoder: Encoder, width: int = 6, threshold: float | None = None
    ):
        self.graph, self.encoder = graph, encoder
        self.width, self.threshold = width, threshold
        self._reset()

    def _reset(self) -> None:
        self._vectors = VectorIndex(self.encoder.dim)
        self._ids: dict[Triple, int] = {}  # the graph's own: equal histories, equal ids
        self._facts: dict[int, Triple] = {}
        # Cached answers: query texts have numbers, ``_queries`` holds those with an answer.
        self._numbers: dict[str, int] = {}
        self._answers: dict[int, list[tuple[int, float]]] = {}
        self._queries = VectorIndex(self.encoder.dim)
        self._least = np.empty(16, dtype=np.float32)
        self._answered_by: dict[int, set[int]] = {}

    def _sync(self) -> None:
        new: dict[Triple, None] = {}
        for event in self._advance(self.graph.events):
            triple, ended = event[1], bool(event[2])
            if not ended:
                new[triple] = None
                continue
            new.pop(triple, None)
            id = self._ids.get(triple, -1)
            if self._vectors.remove(id):
                for number in self._answered_by.pop(id, ()):
                    self._forget(number)
        if new:
            self._add(list(new))

    def _add(self, facts: list[Triple]) -> None:
        vectors = self.encoder.encode([str(fact) for fact in facts])
        ids = []
        for triple in facts:
            fact = self.graph.fact(triple)
            assert fact is not None
            self._ids[triple], self._facts[fact.id] = fact.id, triple
            ids.append(fact.id)
        self._vectors.add(ids, vectors)
        cached = self._queries.ids
        close = (self._queries.similarities(vectors) >= self._least[cached]).any(axis=0)
        for number in cached[close].tolist():
            self._forget(number)

    def _forget(self, number: int) -> None:
        self._queries.remove(number)
        self._answers.pop(number, None)

    def _retrieve(self, texts: Sequence[str]) -> list[list[tuple[int, float]]]:
        """Return for each text the ``width`` most similar facts as (id, similarity), best first."""
        numbers = [self._numbers.setdefault(text, len(self._numbers)) for text in texts]
        new = [at for at, number in enumerate(numbers) if number not in self._answers]
        if new:
            vectors = self.encoder.encode([texts[at] for at in new])
            found = self._vectors.search(vectors, self.width, self.threshold)
            while len(self._least) < len(self._numbers):
                self._least = np.concatenate([self._least, np.empty_like(self._least)])
            for at, edges in zip(new, found, strict=True):
                number = numbers[at]
                self._answers[number] = edges
                full = len(edges) == self.width
                floor = -1.0 if self.threshold is None else self.threshold
                self._least[number] = edges[-1][1] - 1e-6 if full else floor
                for id, _ in edges:
                    self._answered_by.setdefault(id, set()).add(number)
            self._queries.add([numbers[at] for at in new], vectors)
        return [self._answers[number] for number in numbers]

    def search(self, queries: Queries) -> list[tuple[Triple, float]]:
        """Return the union of Algorithm 2 over all queries, by highest similarity, best first.

        Queries a vertex once, at its largest depth: again, it would retrieve the same edges.
        """
        ranked = sorted([(-found[0], id) for id, found in self._trace(queries).items()])
        return [(self._facts[id], -negative) for negative, id in ranked]

    def paths(self, queries: Queries) -> dict[Triple, tuple[str, ...]]:
        """Return the texts through which :meth:`search` came to each fact, the query first."""
        return {self._facts[id]: path for id, (_, path) in self._trace(queries).items()}

    def _trace(self, queries: Queries) -> dict[int, tuple[float, tuple[str, ...]]]:
        self._sync()
        paths: dict[str, tuple[str, ...]] = {text: (text,) for text, _ in queries}
        left: dict[str, int] = {}
        for text, depth in queries:
            left[text] = max(left.get(text, 0), depth)
        found: dict[int, tuple[float, tuple[str, ...]]] = {}
        for depth in range(max(left.values(), default=0), 0, -1):
            texts = [text for text, remaining in left.items() if remaining == depth]
            for text, edges in zip(texts, self._retrieve(texts), strict=True):
                path = paths[text]
                for id, similarity in edges:
                    if id not in found or similarity > found[id][0]:
                        found[id] = similarity, path
                if depth == 1:
                    continue  # nothing is retrieved for what these facts name
                for id, _ in edges:
                    subject, relation, obj = self._facts[id]
                    for name in (subject,) if relation in VERBATIM else (subject, obj):
                        if left.get(name, -1) < depth - 1:
                            left[name] = depth - 1
                            if name not in paths:
                                paths[name] = (*path, name)
        return found

    def relevance(self, queries: Queries) -> dict[Triple, float]:
        """Return the relevance in (0, 1] of each fact that Algorithm 2 finds.

        The product of the similarities along the best path: a weak, long path counts little.
        """
        self._sync()
        entering: dict[int, list[str]] = {}
        for text, depth in queries:
            entering.setdefault(depth, []).append(text)
        found: dict[int, float] = {}
        weights: dict[str, float] = {}
        front: dict[str, float] = {}
        for depth in range(max(entering, default=0), 0, -1):
            front.update(dict.fromkeys(entering.get(depth, ()), 1.0))
            weights.update(front)
            reached: dict[str, float] = {}
            for edges, weight in zip(self._retrieve(list(front)), front.values(), strict=True):
                for id, similarity in edges:
                    value = min(weight * similarity, 1.0)
                    if value > found.get(id, 0.0):
                        found[id] = value
                    subject, relation, obj = self._facts[id]
                    for name in (subject,) if relation in VERBATIM else (subject, obj):
                        if value > max(weights.get(name, 0.0), reached.get(name, 0.0)):
                            reached[name] = value
            front = reached
        return {self._facts[id]: value for id, value in found.items()}


class EntityIndex(Follower[Event]):
    """Names of the entities of a graph, searched by cosine (STMA, Algorithm 1, lines 1 to 3).

    Without an encoder, the vector of a name marks the words in it. The graph may be restored.
    """

    def __init__(self, graph: TemporalGraph, encoder: Encoder | None):
        self.graph, self.encoder = graph, encoder
        self._reset()

    def _reset(self) -> None:
        self._ids: dict[str, int] = {}
        self._names: list[str] = []
        self._lengths: list[float] = []
        self._by_word: dict[str, list[int]] = {}
        self._vectors = VectorIndex(self.encoder.dim) if self.encoder else None

    def _sync(self) -> None:
        events = self._advance(self.graph.events)
        known = len(self._names)
        for event in events:
            subject, relation, obj = event[1]
            for name in (subject,) if relation in ATTRIBUTES else (subject, obj):
                if name not in self._ids:
                    self._ids[name] = len(self._names)
                    self._names.append(name)
                    words = set(compounds(name))
                    self._lengths.append(math.sqrt(len(words)))
                    for word in sorted(words):
                        self._by_word.setdefault(word, []).append(self._ids[name])
        new = self._names[known:]
        if self.encoder and self._vectors is not None and new:
            self._vectors.add(range(known, len(self._names)), self.encoder.encode(new))

    def nearest(self, texts: Sequence[str], n: int) -> list[str]:
        """Return the ``n`` entities with live facts most similar to the mean of ``texts``."""
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
        query: defaultdict[str, float] = defaultdict(float)
        for text in texts:
            words = dict.fromkeys(compounds(text))
            for word in words:
                query[word] += 1 / math.sqrt(len(words))
        similar: defaultdict[int, float] = defaultdict(float)
        for word, weight in query.items():
            for id in self._by_word.get(word, ()):
                similar[id] += weight
        lengths = self._lengths
        return {id: round(value / lengths[id], 5) for id, value in similar.items()}
