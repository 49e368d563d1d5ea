"""Semantic search: AriGraph's Algorithm 2 over the embeddings of the live facts."""

from __future__ import annotations

from collections.abc import Sequence

from gym_memory.memory.encoders import Encoder
from gym_memory.memory.graph import TemporalGraph
from gym_memory.memory.schema import VERBATIM
from gym_memory.memory.timeline import Event
from gym_memory.memory.vectors import VectorIndex
from gym_memory.types import Triple

__all__ = ["SemanticIndex"]


class SemanticIndex:
    """Embeddings of the live facts of a graph, each fact encoded once.

    The index follows the graph's events; new facts are encoded in one batch when they are first
    searched for.

    Args:
        graph: The graph to follow; may be restored, not replaced.
        encoder: Encodes ``subject, relation, object`` and the queries.
    """

    def __init__(self, graph: TemporalGraph, encoder: Encoder):
        self.graph, self.encoder = graph, encoder
        self._reset()

    def _reset(self) -> None:
        self._taken = 0
        self._last: Event | None = None
        self._vectors = VectorIndex(self.encoder.dim)
        self._ids: dict[Triple, int] = {}
        self._facts: dict[int, Triple] = {}

    def sync(self) -> None:
        """Take in what the graph changed since the last call; start over if it went back."""
        events = self.graph.events
        if self._taken and (len(events) < self._taken or events[self._taken - 1] is not self._last):
            self._reset()
        if len(events) == self._taken:
            return
        new: dict[Triple, None] = {}
        for event in events[self._taken :]:
            triple, ended = event[1], bool(event[2])
            if ended:
                new.pop(triple, None)
                self._vectors.remove(self._ids.get(triple, -1))
            else:
                # By the order of events, however often and when it was searched in between.
                self._ids.setdefault(triple, len(self._ids))
                new[triple] = None
        self._taken, self._last = len(events), events[-1]
        ids = []
        for triple in new:
            id = self._ids[triple]
            self._facts[id] = triple
            ids.append(id)
        if ids:
            self._vectors.add(ids, self.encoder.encode([str(triple) for triple in new]))

    def search(
        self,
        queries: Sequence[tuple[str, int]],
        width: int,
        threshold: float | None = None,
    ) -> list[tuple[Triple, float]]:
        """The union of Algorithm 2 over all ``queries``.

        The searches run together, one matrix product a depth. A vertex is queried once, with
        the largest depth that any search leaves it: querying it again, as the paper's pseudo
        code may, retrieves the same edges and leads no further.

        Args:
            queries: Pairs of a search text and its depth d, >= 0.
            width: Edges retrieved for one query text, the paper's w, >= 1.
            threshold: Least similarity of a retrieved edge; None for any, as in the paper.

        Returns:
            Pairs (fact, its highest similarity to a text that retrieved it), best first; of
            equal ones the fact that was known first.
        """
        self.sync()
        left: dict[str, int] = {}
        for text, depth in queries:
            left[text] = max(left.get(text, 0), depth)
        found: dict[int, float] = {}
        for depth in range(max(left.values(), default=0), 0, -1):
            texts = [text for text, remaining in left.items() if remaining == depth]
            if not texts:
                continue
            retrieved = self._vectors.search(self.encoder.encode(texts), width, threshold)
            for edges in retrieved:
                for id, similarity in edges:
                    found[id] = max(found.get(id, similarity), similarity)
                    subject, relation, obj = self._facts[id]
                    for vertex in (subject,) if relation in VERBATIM else (subject, obj):
                        left[vertex] = max(left.get(vertex, 0), depth - 1)
        ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
        return [(self._facts[id], similarity) for id, similarity in ranked]
