"""Summary: one text that is rewritten at every step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from gym_memory.core.files import typed
from gym_memory.core.records import Cue, MemoryStats, Recall, Step, Task
from gym_memory.core.settings import Help, check_text, checked
from gym_memory.llm.base import ChatModel
from gym_memory.memory.base import CHARS_PER_TOKEN, Lifetime, Memory, check_budget
from gym_memory.memory.reading import read_line
from gym_memory.memory.roles.llm import chat_model, role_counts
from gym_memory.memory.roles.llm_lessons import LLMSummarize
from gym_memory.memory.roles.notes import Notes, fit_lines

__all__ = ["FactNotes", "Summary"]


class FactNotes:
    """A rule-based summary in ``size`` tokens: texts read, and the latest facts of every thing."""

    def __init__(self, size: int):
        self._room = size * CHARS_PER_TOKEN

    def __call__(self, previous: str, trace: Sequence[Step], task: Task) -> str:
        """Return the new summary; O(length of the summary), O(1) in the length of the episode."""
        notes = Notes(previous)
        for step in trace:
            notes.take(step, task)
        return notes.text(self._room)


class Summary(Memory):
    r"""Iterative summarisation, the baseline of the AriGraph paper.

    After every step ``summary = summarise(summary, step)``; nothing else is kept. The rule keeps
    facts (:class:`FactNotes`); a language model writes prose.
    """

    name: ClassVar[str] = "summary"
    lifetimes: Mapping[str, Lifetime] = {"summary": "episode"}

    @checked
    def __init__(
        self,
        *,
        size: Annotated[
            int, Help("Tokens of the rule-based summary; a model writes short ones.", low=16)
        ] = 1000,
        llm: Annotated[
            str | ChatModel | None, Help("Chat model that writes, or its spec; None for the rule.")
        ] = None,
    ):
        self.size = size
        self._summarize = LLMSummarize.or_rule(chat_model(llm), FactNotes(size))
        self._task = Task("", "")
        self._clear()

    def _clear(self) -> None:
        self._text = ""
        self._steps = 0

    def begin(self, task: Task, seed: int | None) -> None:
        """Forget the last episode."""
        self._task = task
        self._clear()

    def observe(self, step: Step) -> None:
        """Write the next summary."""
        self._steps += 1
        self._text = self._summarize(self._text, (step,), self._task)

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Return the summary, its first lines if it does not fit."""
        lines = fit_lines(self._text.split("\n"), check_budget(budget) * CHARS_PER_TOKEN + 1)
        text = "\n".join(lines)
        facts = dict.fromkeys(fact for line in lines for fact in read_line(line))
        return Recall(text, tuple(facts))

    def state(self) -> dict[str, Any]:
        """Return the summary, the task and the number of steps."""
        return {"summary": self._text, "task": list(self._task), "steps": self._steps}

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace everything by what :meth:`state` returned."""
        self._task = typed(Task, state["task"])
        self._text, self._steps = check_text("summary", state["summary"]), int(state["steps"])

    def stats(self) -> MemoryStats:
        """Return facts in the summary, size of the last recall, calls of the summary role."""
        facts = sum(len(read_line(line)) for line in self._text.split("\n"))
        return MemoryStats(
            facts=facts,
            live_facts=facts,
            extraction_calls=self._steps,
            fallbacks=role_counts(self._summarize).fallbacks,
        )
