"""RAG: the past observations that are most similar to the present one and to the plan."""

from __future__ import annotations

import copy
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from gym_memory.checks import check_int
from gym_memory.errors import UnknownNameError
from gym_memory.memory.base import Lifetime, Memory, check_budget
from gym_memory.memory.encoders import make_encoder
from gym_memory.memory.records.stream import Record, Stream, fit_records
from gym_memory.tokens import CHARS_PER_TOKEN, count_tokens
from gym_memory.types import Cue, MemoryStats, Recall, Step, Task

__all__ = ["RAG"]

_ORDERS = ("time", "rank")


class RAG(Memory):
    """Retrieval-augmented generation, the baseline of the AriGraph paper.

    Recalls the ``k`` past observations with the highest cosine to the present observation and the
    plan (the mean of their unit vectors). Only what fits in the budget is recalled, the most
    similar first; the present observation is never recalled. Of observations that are the same
    word for word after the same action, the latest counts.

    It has no role that a language model could play: the LLM version of this memory is another
    ``encoder``.

    Args:
        k: Observations to recall, >= 1.
        recent: Latest observations, besides the present one, that are never recalled, >= 0. An
            agent that is shown its last observations anyway (Ariadne: 5) leaves them out here.
        encoder: See :mod:`gym_memory.memory.encoders`; the default needs no weights.
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

    def __init__(self, *, k: int = 5, recent: int = 0, encoder: str = "hash", order: str = "time"):
        for label, number, least in (("k", k, 1), ("recent", recent, 0)):
            check_int(label, number, least)
        if order not in _ORDERS:
            raise UnknownNameError("order", str(order), _ORDERS)
        self.k, self.recent, self.order = k, recent, order
        self._encoder = make_encoder(encoder)
        self._stream = Stream(self._encoder)
        self._tokens = 0

    def begin(self, task: Task, seed: int | None) -> None:
        """Forget the last episode."""
        self._stream = Stream(self._encoder)
        self._tokens = 0

    def observe(self, step: Step) -> None:
        """Keep the observation."""
        self._stream.add(Record(step.t, step.text, step.action))

    def recall(self, cue: Cue, budget: int) -> Recall:
        """The most similar observations; ``episodes`` has them by rank."""
        stream = self._stream
        left = check_budget(budget) * CHARS_PER_TOKEN + 1  # the last line needs no end
        similar = stream.similarities([cue.text, cue.focus])
        hidden = set(islice(stream.latest(), self.recent + 1 if self.recent else 0))
        ranked = []
        for row in np.lexsort((-stream.times, -similar)):
            record = stream.records[row]
            if row not in hidden and record.text != cue.text and record.text.strip():
                ranked.append(record)
                if len(ranked) == self.k:
                    break
        kept = fit_records(ranked, left)
        shown = sorted(kept, key=lambda pair: pair[0].t) if self.order == "time" else kept
        text = "\n".join([piece for _, piece in shown])
        self._tokens = count_tokens(text)
        return Recall(text, episodes=tuple([record.text for record, _ in kept]))

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
