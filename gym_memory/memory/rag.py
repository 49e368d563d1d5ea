"""RAG: the past observations most similar to the present one and the plan."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from gym_memory.core.records import Cue, MemoryStats, Reason, Reasons, Recall, Step, Task
from gym_memory.core.settings import Help, checked
from gym_memory.memory.base import CHARS_PER_TOKEN, Lifetime, Memory, check_budget
from gym_memory.memory.encoders import make_encoder
from gym_memory.memory.stores.stream import BM25, ByMeaning, RecordStream, StreamRecord, fit_records

__all__ = ["BM25", "RAG"]


class RAG(Memory):
    """Retrieval-augmented generation, the baseline of the AriGraph paper.

    It recalls the past observations that are most similar to the present one and the plan, with
    equal weights, by words (BM25) or by the cosine with the mean of their unit vectors. If an
    action repeats an observation word for word, only the latest counts.
    """

    name: ClassVar[str] = "rag"
    lifetimes: Mapping[str, Lifetime] = {"records": "episode"}

    @checked
    def __init__(
        self,
        *,
        k: Annotated[
            int | None, Help("Most observations to recall; None for all that fit.", low=1)
        ] = None,
        recent: Annotated[
            int,
            Help(
                "Number of latest observations that are never recalled, since the agent has them.",
                low=0,
            ),
        ] = 0,
        by: Annotated[str, Help("``bm25``, or an encoder such as ``all-MiniLM-L6-v2``.")] = "bm25",
        order: Annotated[
            Literal["time", "rank"], Help("Order of the text: time, or most similar first.")
        ] = "time",
    ):
        self.k, self.recent, self.order = k, recent, order
        self._index: BM25 | ByMeaning = BM25() if by == "bm25" else ByMeaning(make_encoder(by))
        self._stream = RecordStream(self._index.empty())

    def begin(self, task: Task, seed: int | None) -> None:
        """Forget the last episode."""
        self._stream = RecordStream(self._index.empty())

    def observe(self, step: Step) -> None:
        """Keep the observation."""
        self._stream.add(StreamRecord(step.t, step.text, step.action))

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Return the most similar observations; ``episodes`` has them by rank."""
        left = check_budget(budget) * CHARS_PER_TOKEN + 1  # the last line has no break
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
        """Return the similarity of each recalled observation to the present one and the plan."""
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
