"""Summaries, reflections and learnings that a chat model writes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gym_memory.core.errors import ModelError
from gym_memory.core.records import Outcome, Step, Task
from gym_memory.llm.base import ChatModel
from gym_memory.llm.prompts import load_prompt
from gym_memory.memory.roles import rules
from gym_memory.memory.roles.base import (
    AbstractCauses,
    CausalAbstraction,
    GeneralizeCauses,
    Importance,
    Insights,
    Learnings,
    Reflect,
    Summarize,
)
from gym_memory.memory.roles.llm import LLMRole
from gym_memory.memory.roles.text import (
    clip,
    clip_start,
    numbered,
    prose,
    read_items,
    read_number,
    score_in_words,
    trace_text,
)

__all__ = [
    "LLMAbstractCauses",
    "LLMGeneralizeCauses",
    "LLMImportance",
    "LLMInsights",
    "LLMReflect",
    "LLMSummarize",
]

_GOAL = 1000
_PAST = 1500
_TRACE = 4000


class LLMSummarize(LLMRole):
    """A summary of the past.

    Args:
        model: The chat model.
        rule: The rule-based summary.
        prompt: ``summary`` (the iterative summary that AriGraph compares with), ``belief``
            (STMA's temporal belief, D.1) or ``past`` (LDM2's agent history, Table 4).
    """

    prompt = "summary"
    max_tokens = 1024

    def __init__(self, model: ChatModel, rule: Summarize, prompt: str = "summary"):
        super().__init__(model, rule, prompt)

    def __call__(self, previous: str, trace: Sequence[Step], task: Task) -> str:
        """The new summary."""
        return self.or_rule(
            lambda: self._answer(previous, trace, task), lambda: self.rule(previous, trace, task)
        )

    def _answer(self, previous: str, trace: Sequence[Step], task: Task) -> str:
        answer = self.ask(
            task=clip(task.goal, _GOAL),
            previous=clip_start(previous, _PAST),
            trace=trace_text(trace, _TRACE),
        )
        return prose(re.sub(r"^\s*\**(?:new )?summary\**\s*:", "", answer.text, flags=re.I))


class LLMImportance(LLMRole):
    """How much an observation matters (Simulacra)."""

    prompt = "importance"
    max_tokens = 16

    def __init__(self, model: ChatModel, rule: Importance = rules.importance):
        super().__init__(model, rule)

    def __call__(self, text: str, task: Task) -> float:
        """A whole number in [1, 10]."""
        return self.or_rule(
            lambda: float(
                read_number(
                    self.ask(task=clip(task.goal, _GOAL), memory=clip(text, _PAST)).text, 1, 10
                )
            ),
            lambda: self.rule(text, task),
        )


class LLMInsights(LLMRole):
    """General conclusions from single observations (Simulacra's reflections)."""

    prompt = "insights"

    def __init__(self, model: ChatModel, rule: Insights):
        super().__init__(model, rule)

    def __call__(self, statements: Sequence[str], task: Task) -> list[str]:
        """Conclusions, each one sentence."""
        return self.or_rule(
            lambda: read_items(
                self.ask(
                    task=clip(task.goal, _GOAL), statements=clip_start(numbered(statements), _TRACE)
                ).text
            ),
            lambda: self.rule(statements, task),
        )


class LLMReflect(LLMRole):
    """What to do better in the next trial.

    Args:
        model: The chat model.
        rule: The rule-based reflection.
        prompt: ``reflect`` (Reflexion's plan) or ``advice`` (the free-form advice that CLIN's
            causal abstractions are compared with; a numbered list).
    """

    prompt = "reflect"

    def __init__(self, model: ChatModel, rule: Reflect, prompt: str = "reflect"):
        super().__init__(model, rule, prompt)

    def __call__(
        self, trace: Sequence[Step], outcome: Outcome, previous: Sequence[str], task: Task
    ) -> str:
        """The plan or the advice."""
        return self.or_rule(
            lambda: prose(
                self.ask(
                    task=clip(task.goal, _GOAL),
                    previous=clip_start(numbered(previous), _PAST),
                    trace=trace_text(trace, _TRACE),
                    evaluation=score_in_words(outcome),
                ).text
            ),
            lambda: self.rule(trace, outcome, previous, task),
        )


class LLMAbstractCauses(LLMRole):
    """CLIN's memory generator (Figure 7)."""

    prompt = "causes"
    max_tokens = 1024

    def __init__(self, model: ChatModel, rule: AbstractCauses):
        super().__init__(model, rule)

    def __call__(
        self,
        trace: Sequence[Step],
        outcome: Outcome,
        previous: Sequence[Sequence[CausalAbstraction]],
        task: Task,
    ) -> list[CausalAbstraction]:
        """The rewritten memory."""
        return self.or_rule(
            lambda: self._answer(trace, outcome, previous, task),
            lambda: self.rule(trace, outcome, previous, task),
        )

    def _answer(
        self,
        trace: Sequence[Step],
        outcome: Outcome,
        previous: Sequence[Sequence[CausalAbstraction]],
        task: Task,
    ) -> list[CausalAbstraction]:
        memories = [
            f"LEARNINGS after trial {number} of the last {len(previous)}:\n{numbered(memory)}"
            for number, memory in enumerate(previous, 1)
        ]
        answer = self.ask(
            task=clip(task.goal, _GOAL),
            previous=clip_start("\n".join(memories), _PAST) or "No learnings available",
            trace=trace_text(trace, _TRACE),
            evaluation=score_in_words(outcome),
        )
        return read_abstractions(answer.text)


class LLMGeneralizeCauses(LLMRole):
    """CLIN's meta-memory for a new environment (Figure 8) or a new task (Figure 9)."""

    prompt = "causes_environment"
    max_tokens = 1024

    def __init__(self, model: ChatModel, rule: GeneralizeCauses):
        super().__init__(model, rule)

    def __call__(
        self, archive: Sequence[Learnings], task: Task, same_task: bool
    ) -> list[CausalAbstraction]:
        """The memory to start a new episode with."""
        return self.or_rule(
            lambda: self._answer(archive, task, same_task),
            lambda: self.rule(archive, task, same_task),
        )

    def _answer(
        self, archive: Sequence[Learnings], task: Task, same_task: bool
    ) -> list[CausalAbstraction]:
        lists = [
            f"TASK: {clip(' '.join(entry.goal.split()), 200)}\nLEARNINGS:\n"
            f"{numbered(entry.abstractions)}\nEVALUATION REPORT: {score_in_words(entry.outcome)}"
            for entry in archive
        ]
        answer = self.ask(
            prompt=None if same_task else load_prompt("causes_task"),
            archive=clip_start("\n".join(lists), _TRACE) or "No learnings available",
            task=clip(task.goal, _GOAL),
        )
        return read_abstractions(answer.text)


def read_abstractions(text: str) -> list[CausalAbstraction]:
    """The items of a list that have one of the four forms, each once.

    Raises:
        ModelError: None has.
    """
    parsed = (CausalAbstraction.parse(item) for item in read_items(text))
    found = list(dict.fromkeys(item for item in parsed if item is not None))
    if not found:
        raise ModelError("answer", f"expected sentences of the four forms, got {text[:200]!r}")
    return found
