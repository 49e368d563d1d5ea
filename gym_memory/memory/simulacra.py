"""Simulacra (Park et al., generative agents): a memory stream, what matters of it, reflections."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import islice, takewhile
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.files import typed
from gym_memory.core.records import Cue, MemoryStats, Recall, Step, Task, Triple
from gym_memory.core.settings import check_int
from gym_memory.core.tokens import CHARS_PER_TOKEN, count_tokens
from gym_memory.graph.schema import DIRECTIONS, LOCATIONS, door_relation, way_relation
from gym_memory.llm.base import ChatModel
from gym_memory.memory.base import MEMORIES, Lifetime, Memory, check_budget
from gym_memory.memory.encoders import make_encoder
from gym_memory.memory.reading import fact_lines
from gym_memory.memory.recall.render import render_episode
from gym_memory.memory.roles import (
    Importance,
    Insights,
    LLMImportance,
    LLMInsights,
    chat_model,
    role_counts,
    rules,
)
from gym_memory.memory.roles.notes import stated_facts
from gym_memory.memory.stores.episodes import Episode
from gym_memory.memory.stores.stream import LONGEST, ByMeaning, Record, Stream, fit_records

__all__ = ["Simulacra", "told_insights"]

_STATEMENTS = 100
"""Most records that a reflection looks at, as in Park et al."""
_MOST_INSIGHTS = 5
_SEEN = frozenset(
    {"is", "has exit", *LOCATIONS, *map(way_relation, DIRECTIONS), *map(door_relation, DIRECTIONS)}
)


def told_insights(statements: Sequence[str], task: Task) -> list[str]:
    """The rule-based reflection: what the statements tell that does not meet the eye.

    That is what was read or worked out (what a recipe requires, what opens what), one sentence
    for each thing, the thing told of last first, at most five.

    Args:
        statements: Observations as a transcript shows them, oldest first.
        task: The task.
    """
    told: dict[str, list[Triple]] = {}
    for fact in reversed(stated_facts("\n".join(statements), task)):
        if fact.relation not in _SEEN:
            told.setdefault(fact.subject, []).insert(0, fact)
    sentences = [line for name, facts in told.items() for line in fact_lines(name, facts)]
    return sentences[:_MOST_INSIGHTS]


@MEMORIES.register("simulacra")
class Simulacra(Memory):
    """The memory of generative agents, a baseline of the AriGraph paper.

    Everything observed goes into a stream with its importance in [1, 10]. A recall shows the
    latest ``recent`` observations and, of all others, the ``k`` that score best::

        score = scaled(decay ** age) + scaled(importance) + scaled(cosine)

    each term min-max scaled to [0, 1] over the stream. When the importance of what came in since
    the last reflection sums up to more than ``threshold``, these records are reflected on, and the
    insights join the stream.

    What differs from the paper: age counts environment steps since a record was last *observed*,
    not retrieved, for a recall must not change what the next one answers; a reflection is one
    call from records to insights, without questions in between; the threshold is 50 instead of
    150, for an episode here has 50 to 150 steps and not days. The query is the mean of the unit
    vectors of the observation and the plan.

    Args:
        k: Records to retrieve, >= 0.
        recent: Latest observations that are always shown, besides the present one, >= 0.
        decay: Recency of a record that is one step old, in (0, 1].
        threshold: Sum of importance that sets off a reflection, > 0; None for no reflections.
        encoder: See :mod:`gym_memory.memory.encoders`; the default needs no weights.
        llm: A chat model that rates importance and reflects, or its spec (see
            :func:`gym_memory.memory.roles.chat_model`); None for the rules.

    Raises:
        InvalidArgumentError: An argument has the wrong value.
        MissingDependencyError: The encoder is not on this machine.
    """

    name: ClassVar[str] = "simulacra"
    lifetimes: ClassVar[dict[str, Lifetime]] = {"records": "episode", "insights": "episode"}

    def __init__(
        self,
        *,
        k: int = 5,
        recent: int = 5,
        decay: float = 0.99,
        threshold: float | None = 50,
        encoder: str = "hash",
        llm: str | ChatModel | None = None,
    ):
        for label, number in (("k", k), ("recent", recent)):
            check_int(label, number, 0)
        if isinstance(decay, bool) or not isinstance(decay, int | float) or not 0 < decay <= 1:
            raise InvalidArgumentError(f"expected decay as a number in (0, 1], got {decay!r}")
        if threshold is not None and (
            isinstance(threshold, bool)
            or not isinstance(threshold, int | float)
            or not threshold > 0
        ):
            raise InvalidArgumentError(f"expected threshold > 0 or None, got {threshold!r}")
        self.k, self.recent, self.decay, self.threshold = k, recent, decay, threshold
        self._encoder = make_encoder(encoder)
        model = chat_model(llm)
        self._rate: Importance = LLMImportance(model) if model else rules.importance
        self._reflect: Insights = LLMInsights(model, told_insights) if model else told_insights
        self._task = Task("", "")
        self._clear()

    def _clear(self) -> None:
        self._stream = Stream(ByMeaning(self._encoder))
        self._now = self._tokens = 0
        self._pending, self._reflected = 0.0, -1

    def begin(self, task: Task, seed: int | None) -> None:
        """Forget the last episode."""
        self._task = task
        self._clear()

    def observe(self, step: Step) -> None:
        """Rate and keep the observation; reflect when enough has come in."""
        text = step.text[:LONGEST]
        known = self._stream.find(text, step.action)
        rated = known.importance if known else self._rate(text, self._task)
        self._stream.add(Record(step.t, text, step.action, rated))
        self._now = step.t
        self._pending += rated
        if self.threshold is not None and self._pending > self.threshold:
            statements = self._since(self._reflected)
            self._pending, self._reflected = 0.0, step.t
            for insight in self._reflect(statements, self._task):
                rated = self._rate(insight, self._task)
                self._stream.add(Record(step.t, insight, "", rated, insight=True))

    def _since(self, t: int) -> list[str]:
        """Observations made after step ``t`` as a transcript shows them, oldest first."""
        latest = (self._stream.records[row] for row in islice(self._stream.latest(), _STATEMENTS))
        new = list(takewhile(lambda record: record.t > t, latest))
        return [render_episode(Episode(0, r.t, r.text, r.action)) for r in reversed(new)]

    # ------------------------------------------------------------ retrieval

    def scores(self, cue: Cue) -> NDArray[np.float64]:
        """The score of every record, in the order in which they came; shape (records,)."""
        relevance = self._stream.similarities([cue.text, cue.focus]).astype(np.float64)
        recency = self.decay ** (self._now - self._stream.times)
        score = _scaled(recency) + _scaled(self._stream.importance) + _scaled(relevance)
        return np.round(score, 6)

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Insights, then retrieved and latest observations in order of time.

        The latest observations may take half of the budget; ``episodes`` has the newest first,
        then the retrieved ones by score; ``lessons`` are the retrieved insights.
        """
        left = check_budget(budget) * CHARS_PER_TOKEN + 1  # the last line needs no end
        records = self._stream.records
        latest = list(islice(self._stream.latest(), self.recent + 1))
        newest = [records[row] for row in latest if records[row].text != cue.text]
        shown = fit_records(newest[: self.recent], left // 2)
        left -= sum(len(text) + 1 for _, text in shown)
        insights: list[str] = []
        found: list[Record] = []
        hidden = set(latest)
        for row in np.argsort(-self.scores(cue), kind="stable"):
            if len(insights) + len(found) == self.k:
                break
            record = records[row]
            if row in hidden or record.text == cue.text or not record.text.strip():
                continue
            if not record.insight:
                found.append(record)
            elif len(record.text) + 3 <= left:
                insights.append(record.text)
                left -= len(record.text) + 3
        shown += fit_records(found, left)
        shown_in_time = sorted(shown, key=lambda pair: pair[0].t)
        text = "\n".join([*(f"- {i}" for i in insights), *(piece for _, piece in shown_in_time)])
        self._tokens = count_tokens(text)
        return Recall(
            text,
            episodes=tuple([record.text for record, _ in shown]),
            lessons=tuple(insights),
        )

    # ------------------------------------------------------------ state

    def state(self) -> dict[str, Any]:
        """The stream, the task, the clock and what is pending."""
        return {
            "records": self._stream.state(),
            "task": list(self._task),
            "now": self._now,
            "pending": self._pending,
            "reflected": self._reflected,
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace everything by what :meth:`state` returned."""
        self._task = typed(Task, state["task"])
        self._now, self._pending = int(state["now"]), float(state["pending"])
        self._reflected = int(state["reflected"])
        self._stream.load_state(state["records"])

    def snapshot(self) -> Any:
        """The present state; copies references."""
        return (
            tuple(self._stream.records), self._task, self._now, self._pending, self._reflected
        )  # fmt: skip

    def restore(self, snapshot: Any) -> None:
        """Return to a snapshot."""
        records, self._task, self._now, self._pending, self._reflected = snapshot
        self._stream.restore(records)

    def fork(self) -> Memory:
        """An independent copy."""
        twin = copy.copy(self)
        twin._stream = self._stream.fork()
        return twin

    def stats(self) -> MemoryStats:
        """Observations and insights held, size of the last recall."""
        insights = sum(record.insight for record in self._stream.records)
        return MemoryStats(
            episodes=len(self._stream) - insights,
            lessons=insights,
            tokens=self._tokens,
            fallbacks=role_counts(self._rate, self._reflect).fallbacks,
        )


def _scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Min-max scaled to [0, 1]; zeros where all values are equal."""
    if not len(values) or values.max() == values.min():
        return np.zeros_like(values)
    scaled: NDArray[np.float64] = (values - values.min()) / (values.max() - values.min())
    return scaled
