"""Semantic search: AriGraph's Algorithm 2 over the embeddings of the live facts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gym_memory.core.records import Triple
from gym_memory.graph import TemporalGraph
from gym_memory.graph.facts import Event
from gym_memory.graph.schema import VERBATIM
from gym_memory.memory.encoders import Encoder
from gym_memory.memory.encoders.vectors import VectorIndex
from gym_memory.memory.recall.following import Follower

__all__ = ["SemanticIndex"]


class SemanticIndex:
    """Embeddings of the live facts of a graph, and the answers to what was asked of them.

    The index follows the graph's events. A fact is encoded once, new ones in one batch. The
    answer to a query text is kept until a fact in it ends, or one begins that comes as close as
    its last; so a step searches again only for what it changed.

    Args:
        graph: The graph to follow; may be restored, not replaced.
        encoder: Encodes ``subject, relation, object`` and the queries.
        width: Facts retrieved for one query text, the paper's w, >= 1.
        threshold: Least similarity of a retrieved fact; None for any, as in the paper.
    """

    def __init__(
        self,
        graph: TemporalGraph,
        encoder: Encoder,
        width: int = 6,
        threshold: float | None = None,
    ):
        self.graph, self.encoder = graph, encoder
        self.width, self.threshold = width, threshold
        self._follower: Follower[Event] = Follower()
        self._reset()

    def _reset(self) -> None:
        self._vectors = VectorIndex(self.encoder.dim)
        self._ids: dict[Triple, int] = {}  # the graph's own: equal histories, equal ids
        self._facts: dict[int, Triple] = {}
        # Kept answers: query texts have numbers, ``_asked`` holds those with an answer.
        self._numbers: dict[str, int] = {}
        self._answers: dict[int, list[tuple[int, float]]] = {}
        self._asked = VectorIndex(self.encoder.dim)
        self._least = np.empty(16, dtype=np.float32)
        self._answered_by: dict[int, set[int]] = {}

    # ------------------------------------------------------------ following the graph

    def _sync(self) -> None:
        """Take in what the graph changed since the last call; start over if it went back."""
        cut, events = self._follower.advance(self.graph.events)
        if cut:
            self._reset()
        new: dict[Triple, None] = {}
        for event in events:
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
        asked = self._asked.ids
        close = (self._asked.similarities(vectors) >= self._least[asked]).any(axis=0)
        for number in asked[close].tolist():
            self._forget(number)

    def _forget(self, number: int) -> None:
        self._asked.remove(number)
        self._answers.pop(number, None)

    # ------------------------------------------------------------ EmbedAndRetrieve

    def _retrieve(self, texts: Sequence[str]) -> list[list[tuple[int, float]]]:
        """For each text the ``width`` most similar facts as (id, similarity), best first."""
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
            self._asked.add([numbers[at] for at in new], vectors)
        return [self._answers[number] for number in numbers]

    # ------------------------------------------------------------ Algorithm 2

    def search(self, queries: Sequence[tuple[str, int]]) -> list[tuple[Triple, float]]:
        """The union of Algorithm 2 over all ``queries``.

        The searches run together. A vertex is queried once, with the largest depth that any
        search leaves it: querying it again, as the paper's pseudo code may, retrieves the same
        edges and leads no further.

        Args:
            queries: Pairs of a search text and its depth d, >= 0.

        Returns:
            Pairs (fact, its highest similarity to a text that retrieved it), best first; of
            equal ones the fact that was known first.
        """
        self._sync()
        left: dict[str, int] = {}
        for text, depth in queries:
            left[text] = max(left.get(text, 0), depth)
        found: dict[int, float] = {}
        for depth in range(max(left.values(), default=0), 0, -1):
            texts = [text for text, remaining in left.items() if remaining == depth]
            reached: dict[int, None] = {}
            for edges in self._retrieve(texts):
                for id, similarity in edges:
                    reached[id] = None
                    if similarity > found.get(id, -2.0):
                        found[id] = similarity
            for id in reached:
                subject, relation, obj = self._facts[id]
                if left.get(subject, -1) < depth - 1:
                    left[subject] = depth - 1
                if relation not in VERBATIM and left.get(obj, -1) < depth - 1:
                    left[obj] = depth - 1
        ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
        return [(self._facts[id], similarity) for id, similarity in ranked]

    def paths(self, queries: Sequence[tuple[str, int]]) -> dict[Triple, tuple[str, ...]]:
        """The texts through which :meth:`search` came to each fact, the query first."""
        self._sync()
        ways: dict[str, tuple[str, ...]] = {text: (text,) for text, _ in queries}
        left: dict[str, int] = {}
        for text, depth in queries:
            left[text] = max(left.get(text, 0), depth)
        found: dict[int, tuple[float, tuple[str, ...]]] = {}
        for depth in range(max(left.values(), default=0), 0, -1):
            texts = [text for text, remaining in left.items() if remaining == depth]
            for text, edges in zip(texts, self._retrieve(texts), strict=True):
                for id, similarity in edges:
                    if similarity > found.get(id, (-2.0, ()))[0]:
                        found[id] = similarity, ways[text]
                    subject, relation, obj = self._facts[id]
                    for name in (subject,) if relation in VERBATIM else (subject, obj):
                        if left.get(name, -1) < depth - 1:
                            left[name] = depth - 1
                            ways.setdefault(name, (*ways[text], name))
        return {self._facts[id]: way for id, (_, way) in found.items()}

    def relevance(self, queries: Sequence[tuple[str, int]]) -> dict[Triple, float]:
        """How relevant each fact is that Algorithm 2 finds.

        A fact is as relevant as it is similar to the text that retrieved it, times the relevance
        of the fact through which the search came to that text; of several ways to it the best
        counts. So a fact that only a far and faint way leads to counts little, where
        :meth:`search` takes every fact that is close to *some* vertex for a good one.

        Args:
            queries: As for :meth:`search`.

        Returns:
            Facts to values in (0, 1], in the order in which they were found.
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
