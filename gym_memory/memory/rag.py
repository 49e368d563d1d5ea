"""RAG: the past observations that answer the present one and the plan best."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from gym_memory.core.errors import UnknownNameError
from gym_memory.core.records import Cue, MemoryStats, Reason, Reasons, Recall, Step, Task
from gym_memory.core.settings import check_int
from gym_memory.core.tokens import CHARS_PER_TOKEN, count_tokens
from gym_memory.memory.base import Lifetime, Memory, check_budget
from gym_memory.memory.encoders import make_encoder
from gym_memory.memory.recall.bm25 import BM25
from gym_memory.memory.registry import MEMORIES
from gym_memory.memory.stores.stream import ByMeaning, Record, Stream, TextIndex, fit_records

__all__ = ["RAG"]

_ORDERS = ("time", "rank")


@MEMORIES.register("rag")
class RAG(Memory):
    """Retrieval-augmented generation, the baseline of the AriGraph paper.

    Recalls the past observations that are most similar to the present observation and the plan,
    both counting alike: by their words (BM25), or by meaning, the cosine with the mean of the
    unit vectors of the two. It fills the budget, the most similar first, unless ``k`` says how
    many; the present observation is never recalled. Of observations that are the same word for
    word after the same action, the latest counts.

    It has no role that a language model could play: the LLM version of this memory is another
    encoder.

    Args:
        k: Observations to recall at most, >= 1; None for as many as the budget holds.
        recent: Latest observations, besides the present one, that are never recalled, >= 0. An
            agent that is shown its last observations anyway (Ariadne: 5) leaves them out here.
        by: What similar means: ``bm25``, or an encoder (:mod:`gym_memory.memory.encoders`), such
            as ``all-MiniLM-L6-v2``. The default needs no weights.
        order: How the text goes: in order of ``time``, or by ``rank``, the most similar first.

    Raises:
        InvalidArgumentError: A number is not of that kind.
        UnknownNameError: ``order`` is none of these.
        MissingDependencyError: The encoder is not on this machine.

    Example:
        >>> memory = RAG(k=1)
        >>> memory.begin(Task("house/0", "Find the key."), seed=0)
        >>> for t, text in enumerate(["A red door.", "A blue door.", "A wall."]):
        ...     memory.observe(Step(t, text, "look" if t else ""))
        >>> print(memory.recall(Cue("A wall.", focus="go through the blue door"), 100).text)
        [step 1] > look
        A blue door.
    """

    name: ClassVar[str] = "rag"
    lifetimes: ClassVar[dict[str, Lifetime]] = {"records": "episode"}

    def __init__(
        self, *, k: int | None = None, recent: int = 0, by: str = "bm25", order: str = "time"
    ):
        if k is not None:
            check_int("k", k, 1)
        check_int("recent", recent, 0)
        if order not in _ORDERS:
            raise UnknownNameError("order", str(order), _ORDERS)
        self.k, self.recent, self.order = k, recent, order
        self._index: TextIndex = BM25() if by == "bm25" else ByMeaning(make_encoder(by))
        self._stream = Stream(self._index.empty())
        self._tokens = 0

    def begin(self, task: Task, seed: int | None) -> None:
        """Forget the last episode."""
        self._stream = Stream(self._index.empty())
        self._tokens = 0

    def observe(self, step: Step) -> None:
        """Keep the observation."""
        self._stream.add(Record(step.t, step.text, step.action))

    def recall(self, cue: Cue, budget: int) -> Recall:
        """The most similar observations; ``episodes`` has them by rank."""
        left = check_budget(budget) * CHARS_PER_TOKEN + 1  # the last line needs no end
        kept = fit_records((record for record, _ in self._ranked(cue)), left)
        shown = sorted(kept, key=lambda pair: pair[0].t) if self.order == "time" else kept
        text = "\n".join([piece for _, piece in shown])
        self._tokens = count_tokens(text)
        return Recall(text, episodes=tuple([record.text for record, _ in kept]))

    def _ranked(self, cue: Cue) -> Iterator[tuple[Record, float]]:
        """The records that are most similar to a cue, best first, with the similarity."""
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
        """The similarity of each observation to what is seen and to the plan."""
        shown = len(self.recall(cue, budget).episodes)
        return Reasons(
            episodes=tuple(
                Reason(f"step {record.t}, similar to what is seen or planned", round(score, 4))
                for record, score in islice(self._ranked(cue), shown)
            )
        )

    def state(self) -> dict[str, Any]:
        """The records."""
        return {"records": self._stream.state()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace the records."""
        self._stream.load_state(state["records"])

    def snapshot(self) -> Any:
        """The records; copies references."""
        return tuple(self._stream.records)

    def restore(self, snapshot: Any) -> None:
        """Return to the records of a snapshot."""
        self._stream.restore(snapshot)

    def fork(self) -> Memory:
        """An independent copy."""
        twin = copy.copy(self)
        twin._stream = self._stream.fork()
        return twin

    def stats(self) -> MemoryStats:
        """Observations held and the size of the last recall."""
        return MemoryStats(episodes=len(self._stream), tokens=self._tokens)
