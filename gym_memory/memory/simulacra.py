"""Simulacra (Park et al., generative agents): a memory stream, its retrieval, reflections."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from itertools import islice, takewhile
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gym_memory.core.files import typed
from gym_memory.core.records import Cue, MemoryStats, Recall, Step, Task, Triple
from gym_memory.core.settings import Help, checked
from gym_memory.llm.base import ChatModel
from gym_memory.memory.base import CHARS_PER_TOKEN, Lifetime, Memory, check_budget
from gym_memory.memory.encoders import make_encoder
from gym_memory.memory.reading import fact_lines, render_episode
from gym_memory.memory.roles.base import importance
from gym_memory.memory.roles.llm import chat_model, role_counts
from gym_memory.memory.roles.llm_lessons import LLMImportance, LLMInsights
from gym_memory.memory.roles.notes import SEEN, stated_facts
from gym_memory.memory.stores.stream import (
    LONGEST,
    ByMeaning,
    RecordStream,
    StreamRecord,
    fit_records,
)

__all__ = ["Simulacra", "rule_insights"]

_LATEST_STATEMENTS = 100
"""Most records that a reflection reads, as in Park et al."""
_MOST_INSIGHTS = 5


def rule_insights(statements: Sequence[str], task: Task) -> list[str]:
    """Return rule-based insights: at most five read or inferred sentences, latest first."""
    stated: dict[str, list[Triple]] = {}
    for fact in reversed(stated_facts("\n".join(statements), task)):
        if fact.relation not in SEEN:
            stated.setdefault(fact.subject, []).insert(0, fact)
    sentences = [line for name, facts in stated.items() for line in fact_lines(name, facts)]
    return sentences[:_MOST_INSIGHTS]


class Simulacra(Memory):
    """Memory of generative agents, a baseline of the AriGraph paper.

    Every observation enters a stream with its importance in [1, 10]. A recall shows the latest
    ``recent`` observations and, of all others, the ``k`` that score best::

        score = scaled(decay ** age) + scaled(importance) + scaled(cosine)

    each term min-max scaled to [0, 1] over the stream. If the importance of the records since the
    last reflection exceeds ``threshold``, a reflection on them adds insights to the stream.

    Differences from the paper: age counts steps since a record was last *observed*, because a
    recall must not change the next one; a reflection is one call; the threshold is 50 instead of
    150, for 50 to 150 steps. The query is the mean of observation and plan as unit vectors.
    """

    name: ClassVar[str] = "simulacra"
    lifetimes: Mapping[str, Lifetime] = {"records": "episode", "insights": "episode"}

    @checked
    def __init__(
        self,
        *,
        k: Annotated[int, Help("Records to retrieve.", low=0)] = 5,
        recent: Annotated[
            int, Help("Number of latest observations that are always shown.", low=0)
        ] = 5,
        decay: Annotated[
            float, Help("Recency of a record after one step.", above=0, high=1)
        ] = 0.99,
        threshold: Annotated[
            float | None,
            Help("Sum of importance that triggers a reflection; None for no reflections.", above=0),
        ] = 50,
        encoder: Annotated[str, Help("Encoder; the default needs no weights.")] = "hash",
        llm: Annotated[
            str | ChatModel | None, Help("Chat model, or its spec, that rates and reflects.")
        ] = None,
    ):
        self.k, self.recent, self.decay, self.threshold = k, recent, decay, threshold
        self._encoder = make_encoder(encoder)
        model = chat_model(llm)
        self._rate = LLMImportance.or_rule(model, importance)
        self._reflect = LLMInsights.or_rule(model, rule_insights)
        self._task = Task("", "")
        self._clear()

    def _clear(self) -> None:
        self._stream = RecordStream(ByMeaning(self._encoder))
        self._now = 0
        self._pending, self._reflected = 0.0, -1

    def begin(self, task: Task, seed: int | None) -> None:
        """Forget the last episode."""
        self._task = task
        self._clear()

    def observe(self, step: Step) -> None:
        """Rate and store the observation; reflect if enough importance has accumulated."""
        text = step.text[:LONGEST]
        known = self._stream.find(text, step.action)
        rated = known.importance if known else self._rate(text, self._task)
        self._stream.add(StreamRecord(step.t, text, step.action, rated))
        self._now = step.t
        self._pending += rated
        if self.threshold is not None and self._pending > self.threshold:
            statements = self._since(self._reflected)
            self._pending, self._reflected = 0.0, step.t
            for insight in self._reflect(statements, self._task):
                rated = self._rate(insight, self._task)
                self._stream.add(StreamRecord(step.t, insight, "", rated, insight=True))

    def _since(self, t: int) -> list[str]:
        """Return the observations after step ``t`` as a transcript shows them, oldest first."""
        latest = (
            self._stream.records[row] for row in islice(self._stream.latest(), _LATEST_STATEMENTS)
        )
        new = list(takewhile(lambda record: record.t > t, latest))
        return [render_episode(Step(r.t, r.text, r.action)) for r in reversed(new)]

    def scores(self, cue: Cue) -> NDArray[np.float64]:
        """Return the score of every record, in order; shape (records,)."""
        relevance = self._stream.similarities([cue.text, cue.focus]).astype(np.float64)
        recency = self.decay ** (self._now - self._stream.times)
        score = _scaled(recency) + _scaled(self._stream.importance) + _scaled(relevance)
        return np.round(score, 6)

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Return insights, then retrieved and latest observations in order of time.

        The latest may take half of the budget; ``episodes`` has them newest first, then by score.
        """
        left = check_budget(budget) * CHARS_PER_TOKEN + 1  # the last line has no break
        records = self._stream.records
        latest = list(islice(self._stream.latest(), self.recent + 1))
        newest = [records[row] for row in latest if records[row].text != cue.text]
        shown = fit_records(newest[: self.recent], left // 2)
        left -= sum(len(text) + 1 for _, text in shown)
        insights: list[str] = []
        found: list[StreamRecord] = []
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
        return Recall(
            text, episodes=tuple([record.text for record, _ in shown]), lessons=tuple(insights)
        )

    def state(self) -> dict[str, Any]:
        """Return the stream, the task, the clock and pending records."""
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
        """Return the present state; copies references."""
        return (tuple(self._stream.records), self._task, self._now, self._pending, self._reflected)

    def restore(self, snapshot: Any) -> None:
        """Return to a snapshot."""
        records, self._task, self._now, self._pending, self._reflected = snapshot
        self._stream.restore(records)

    def fork(self) -> Memory:
        """Return an independent copy."""
        twin = copy.copy(self)
        twin._stream = self._stream.fork()
        return twin

    def stats(self) -> MemoryStats:
        """Return numbers of observations and insights, size of the last recall."""
        insights = sum(record.insight for record in self._stream.records)
        return MemoryStats(
            episodes=len(self._stream) - insights,
            lessons=insights,
            fallbacks=role_counts(self._rate, self._reflect).fallbacks,
        )


def _scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale to [0, 1] by minimum and maximum; zeros if all values are equal."""
    if not len(values) or values.max() == values.min():
        return np.zeros_like(values)
    scaled: NDArray[np.float64] = (values - values.min()) / (values.max() - values.min())
    return scaled
