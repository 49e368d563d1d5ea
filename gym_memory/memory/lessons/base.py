"""Lessons: the base of memories that learn from trial to trial.

Such a memory keeps the trace of the present trial and turns it into lessons when the trial ends. It
shows them at every step of later trials, above an inner memory of the trial.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.files import typed
from gym_memory.core.records import Cue, MemoryStats, Outcome, Recall, Step, Task
from gym_memory.core.settings import check_text
from gym_memory.memory.base import CHARS_PER_TOKEN, Lifetime, Memory, check_budget, make_memory
from gym_memory.memory.roles.llm import role_counts

__all__ = ["WORTH_SHOWING", "LessonMemory"]

_TRACE_STEPS = 1000
"""Latest steps of a trial that lessons are made of."""
_TEXT_CHARS = 4000
"""Characters of an observation that are kept for it."""
_INNER_SHARE = 4
"""A quarter of the budget is kept free for the inner memory."""
WORTH_SHOWING = 40
"""Fewest characters of a lesson that are worth showing."""


class LessonMemory(Memory):
    """Base of the memories that learn over trials.

    A subclass makes the lessons (:meth:`_learn`), says which live on (:meth:`_start`), ranks
    them (:meth:`_rank`) and gives its own state (:meth:`_learnt`, :meth:`_relearn`).

    Args:
        inner: Memory of the present trial, a name with parameters; ``none`` for lessons alone.
        **own: Lifetimes of the subclass's layers.
    """

    heading: str = "Learnt in earlier trials:"
    cut: bool = False
    """True if the beginning of a lesson is worth showing where the whole does not fit."""

    def __init__(self, inner: str, **own: Lifetime):
        self.lifetimes = {"trace": "episode", "inner": "episode", **own}
        self.inner = make_memory(inner)
        self.keeps_budget = self.inner.keeps_budget
        self.share_settings(self.inner)
        lasting = set(self.inner.lifetimes.values()) - {"step", "episode"}
        if lasting or self.inner.uses_oracle:
            raise InvalidArgumentError(
                f"expected inner as a memory of one episode, such as 'history?window=5', "
                f"got {inner!r}"
            )
        self._task = Task("", "")
        self._trace: deque[Step] = deque(maxlen=_TRACE_STEPS)

    @abstractmethod
    def _lessons(self) -> Sequence[str]:
        """Return the lessons that hold now; their places in this list are their ids, from 1."""

    @abstractmethod
    def _start(self, task: Task, last: Task) -> None:
        """Keep, replace or clear the lessons for the episode that begins."""

    @abstractmethod
    def _learn(self, trace: Sequence[Step], outcome: Outcome) -> None:
        """Make lessons of a trial that ended."""

    @abstractmethod
    def _rank(self, cue: Cue) -> Iterable[int]:
        """Return indices of the lessons, most relevant first."""

    @abstractmethod
    def _learnt(self) -> dict[str, Any]:
        """Return a fresh copy of the subclass's state as JSON-able values."""

    @abstractmethod
    def _relearn(self, state: dict[str, Any]) -> None:
        """Replace the subclass's state; keep no reference into ``state``."""

    def begin(self, task: Task, seed: int | None) -> None:
        """Start a trial."""
        last, self._task = self._task, task
        self._trace.clear()
        self.inner.begin(task, seed)
        self._start(task, last)

    def observe(self, step: Step) -> None:
        """Note a step; lessons are made when the trial is over."""
        self._trace.append(
            step._replace(text=step.text[:_TEXT_CHARS], inventory=step.inventory[:_TEXT_CHARS])
        )
        self.inner.observe(step)

    def end(self, outcome: Outcome) -> None:
        """Make lessons of the trial."""
        self.inner.end(outcome)
        if any(step.action for step in self._trace):
            self._learn(tuple(self._trace), outcome)

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Recall ranked ``lessons`` (in the text by id), then what the inner memory recalls."""
        room = check_budget(budget) * CHARS_PER_TOKEN
        kept = room // _INNER_SHARE if self.inner.lifetimes else 0
        chosen = self._fit(cue, room - kept)
        text = "\n".join([self.heading, *[chosen[index] for index in sorted(chosen)], ""])
        text = text if chosen else ""
        below = self.inner.recall(cue, (room - len(text)) // CHARS_PER_TOKEN)
        text = (text + below.text).rstrip("\n")
        return below._replace(text=text, lessons=(*chosen.values(), *below.lessons))

    def _fit(self, cue: Cue, room: int) -> dict[int, str]:
        lessons = self._lessons()
        chosen: dict[int, str] = {}
        room -= len(self.heading) + 1
        for index in self._rank(cue):
            line = f"{index + 1}. {lessons[index]}"
            if len(line) < room:
                chosen[index] = line
                room -= len(line) + 1
            elif self.cut and room > WORTH_SHOWING:
                chosen[index] = line[: room - 1]
                break
        return chosen

    def state(self) -> dict[str, Any]:
        """Return task, trace, inner memory and lessons."""
        actions: dict[str, int] = {}
        steps = []
        for step in self._trace:
            valid = [actions.setdefault(action, len(actions)) for action in step.valid_actions]
            steps.append([*step._replace(valid_actions=()), valid])
        return {
            "task": list(self._task),
            "trace": {"actions": list(actions), "steps": steps},
            "inner": self.inner.state(),
            **self._learnt(),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace everything by what :meth:`state` returned."""
        actions = [check_text("an action", action) for action in state["trace"]["actions"]]
        trace = [
            typed(Step, step)._replace(valid_actions=tuple(actions[n] for n in valid))
            for *step, valid in state["trace"]["steps"]
        ]
        self._task = typed(Task, state["task"])
        self._trace = deque(trace, _TRACE_STEPS)
        self.inner.load_state(state["inner"])
        self._relearn(state)

    def snapshot(self) -> Any:
        """Return the present state; copies references to steps, not their text."""
        return self._task, tuple(self._trace), self.inner.snapshot(), self._learnt()

    def restore(self, snapshot: Any) -> None:
        """Return to a snapshot."""
        self._task, trace, inner, learnt = snapshot
        self._trace = deque(trace, _TRACE_STEPS)
        self.inner.restore(inner)
        self._relearn(learnt)

    def fork(self) -> LessonMemory:
        """Return an independent copy; it writes to the same store, if there is one."""
        twin = self._twin()
        twin.inner = self.inner.fork()
        twin._relearn(self._learnt())
        return twin

    def stats(self) -> MemoryStats:
        """Return the inner memory's, with the lessons, and the calls and fallbacks of a model."""
        below, counts = self.inner.stats(), role_counts(*vars(self).values())
        return dataclasses.replace(
            below,
            lessons=len(self._lessons()),
            extraction_calls=below.extraction_calls + counts.calls,
            fallbacks=below.fallbacks + counts.fallbacks,
        )
