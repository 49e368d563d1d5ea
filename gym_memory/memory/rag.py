"""RAG: the past observations that answer the present one and the plan best."""

from __future__ import annotations

import copy
import math
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from gym_memory.core.records import Cue, MemoryStats, Reason, Reasons, Recall, Step, Task
from gym_memory.core.settings import Help, check_amount, check_share, checked
from gym_memory.memory.base import CHARS_PER_TOKEN, MEMORIES, Lifetime, Memory, check_budget
from gym_memory.memory.encoders import make_encoder
from gym_memory.memory.stores.stream import ByMeaning, Stream, StreamRecord, TextIndex, fit_records

__all__ = ["BM25", "RAG"]


class BM25:
    """Texts ranked by the words that they share with a query, rare words first.

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
        self._texts: list[tuple[str, ...]] = []  # the different words of each
        self._lengths = array("q")
        self._postings: dict[str, tuple[array[int], array[int]]] = {}  # rows, and how often

    def __len__(self) -> int:
        """Count the texts."""
        return len(self._texts)

    def empty(self) -> BM25:
        """Return an index with these parameters and no texts."""
        return BM25(self.k1, self.b)

    def extend(self, texts: Iterable[str]) -> None:
        """Add texts, each as the next row; O(their words)."""
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
        """Return how well every text answers the queries, each scaled to [0, 1]; shape (texts,)."""
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


@MEMORIES.register("rag")
class RAG(Memory):
    """Retrieval-augmented generation, the baseline of the AriGraph paper.

    Recalls the past observations most similar to the present one and the plan, which count equally,
    by words (BM25) or by the cosine with the mean of their unit vectors. Of observations repeated
    word for word after the same action, the latest counts.
    """

    name: ClassVar[str] = "rag"
    lifetimes: ClassVar[dict[str, Lifetime]] = {"records": "episode"}

    @checked
    def __init__(
        self,
        *,
        k: Annotated[
            int | None, Help("Observations to recall at most; None for all that fit.", low=1)
        ] = None,
        recent: Annotated[
            int,
            Help("Latest observations that are never recalled: the agent has them.", low=0),
        ] = 0,
        by: Annotated[str, Help("``bm25``, or an encoder such as ``all-MiniLM-L6-v2``.")] = "bm25",
        order: Annotated[
            Literal["time", "rank"], Help("Order of the text: time, or most similar first.")
        ] = "time",
    ):
        self.k, self.recent, self.order = k, recent, order
        self._index: TextIndex = BM25() if by == "bm25" else ByMeaning(make_encoder(by))
        self._stream = Stream(self._index.empty())

    def begin(self, task: Task, seed: int | None) -> None:
        """Forget the last episode."""
        self._stream = Stream(self._index.empty())

    def observe(self, step: Step) -> None:
        """Keep the observation."""
        self._stream.add(StreamRecord(step.t, step.text, step.action))

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Return the most similar observations; ``episodes`` has them by rank."""
        left = check_budget(budget) * CHARS_PER_TOKEN + 1  # the last line needs no end
        kept = fit_records((record for record, _ in self._ranked(cue)), left)
        shown = sorted(kept, key=lambda pair: pair[0].t) if self.order == "time" else kept
        text = "\n".join([piece for _, piece in shown])
        return Recall(text, episodes=tuple([record.text for record, _ in kept]))

    def _ranked(self, cue: Cue) -> Iterator[tuple[StreamRecord, float]]:
        stream = self._stream
        similar = stream.similarities([cue.text, cue.focus])
        hidden = set(islice(stream.latest(), self.recent + 1 if self.recent else 0))
        ranked = (
            (record, float(similar[row]))
            for row in np.lexsort((-stream.times, -similar))
            if row not in hidden
            and (record := stream.records[row]).text != cue.text
            and record.text.strip()
        )
        return islice(ranked, self.k)

    def reasons(self, cue: Cue, budget: int) -> Reasons:
        """Give the similarity of each observation to the present one and the plan."""
        shown = len(self.recall(cue, budget).episodes)
        return Reasons(
            episodes=tuple(
                Reason(f"step {record.t}, similar to what is seen or planned", round(score, 4))
                for record, score in islice(self._ranked(cue), shown)
            )
        )

    def state(self) -> dict[str, Any]:
        """Return the records."""
        return {"records": self._stream.state()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace the records."""
        self._stream.load_state(state["records"])

    def snapshot(self) -> Any:
        """Return the records; copies references."""
        return tuple(self._stream.records)

    def restore(self, snapshot: Any) -> None:
        """Return to the records of a snapshot."""
        self._stream.restore(snapshot)

    def fork(self) -> Memory:
        """Return an independent copy."""
        twin = copy.copy(self)
        twin._stream = self._stream.fork()
        return twin

    def stats(self) -> MemoryStats:
        """Return the number of observations."""
        return MemoryStats(episodes=len(self._stream))
