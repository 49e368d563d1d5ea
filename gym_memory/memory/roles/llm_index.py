"""Roles of LDM2 that a chat model plays: sub-goals, types, the step that made the difference."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from gym_memory.core.errors import ModelError
from gym_memory.core.records import Step, Task
from gym_memory.llm.base import ChatModel
from gym_memory.memory.roles import rules
from gym_memory.memory.roles.base import Classify, Cluster, Compare, EvaluateSubgoals, Subgoal
from gym_memory.memory.roles.llm import LLMRole
from gym_memory.memory.roles.text import clip, numbered, read_number, trace_text

__all__ = ["LLMClassify", "LLMCluster", "LLMCompare", "LLMEvaluateSubgoals"]

_GOAL = 1000
_TEXT = 150
_TRACE = 3000
_TEXTS_A_CALL = 50
_EXAMPLES = 3
_SUBGOAL = re.compile(
    r"^\W*sub-?goal\s*\d*\s*[:.]\s*(.{1,500}?)\s*[-–—:]\s*(in\W?complete|complete)d?\W*$",
    re.IGNORECASE | re.MULTILINE,
)
_TYPE = re.compile(
    r"^\W*(?:high-level\s+)?type\s*\d+\s*[:.]\s*(.{1,200}?)\s*\[([\d,\s]{1,2000})\]",
    re.IGNORECASE | re.MULTILINE,
)


class LLMEvaluateSubgoals(LLMRole):
    """LDM2's evaluation (Table 4)."""

    prompt = "subgoals"

    def __init__(self, model: ChatModel, rule: EvaluateSubgoals):
        super().__init__(model, rule)

    def __call__(self, trace: Sequence[Step], task: Task) -> list[Subgoal]:
        """The sub-goals, judged."""
        return self.or_rule(lambda: self._answer(trace, task), lambda: self.rule(trace, task))

    def _answer(self, trace: Sequence[Step], task: Task) -> list[Subgoal]:
        text = self.ask(task=clip(task.goal, _GOAL), trace=trace_text(trace, _TRACE)).text
        found = [Subgoal(f[1], f[2].lower() == "complete") for f in _SUBGOAL.finditer(text)]
        if not found:
            raise ModelError("answer", f"expected sub-goals, got {text[:200]!r}")
        return found


class LLMCluster(LLMRole):
    """LDM2's clustering of goals or observations (Table 4), fifty at a time."""

    prompt = "cluster"
    max_tokens = 1024

    def __init__(self, model: ChatModel, rule: Cluster):
        super().__init__(model, rule)

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """The name of each text's type; a text that the model left out gets type ``other``."""
        return self.or_rule(lambda: self._answer(texts), lambda: self.rule(texts))

    def _answer(self, texts: Sequence[str]) -> list[str]:
        names: list[str] = []
        for start in range(0, len(texts), _TEXTS_A_CALL):
            batch = [clip(text, _TEXT) for text in texts[start : start + _TEXTS_A_CALL]]
            answer = self.ask(texts=numbered(batch)).text
            labels: dict[int, str] = {}
            for found in _TYPE.finditer(answer):
                for number in re.findall(r"\d{1,6}", found[2]):
                    labels.setdefault(int(number), " ".join(found[1].lower().split()))
            if not any(1 <= number <= len(batch) for number in labels):
                raise ModelError("answer", f"expected types with numbers, got {answer[:200]!r}")
            names += [labels.get(number, "other") for number in range(1, len(batch) + 1)]
        return names


class LLMClassify(LLMRole):
    """LDM2's choice of the type of a new goal or observation (Table 4)."""

    prompt = "classify"
    max_tokens = 64

    def __init__(self, model: ChatModel, rule: Classify):
        super().__init__(model, rule)

    def __call__(self, text: str, types: Mapping[str, Sequence[str]]) -> str:
        """One key of ``types``."""
        return self.or_rule(lambda: self._answer(text, types), lambda: self.rule(text, types))

    def _answer(self, text: str, types: Mapping[str, Sequence[str]]) -> str:
        names = list(types)
        shown = numbered(
            f"{name}. Examples: "
            + " / ".join(clip(" ".join(e.split()), _TEXT) for e in types[name][:_EXAMPLES])
            for name in names
        )
        answer = self.ask(types=shown, text=clip(text, 4 * _TEXT)).text
        return names[read_number(answer, 1, len(names)) - 1]


class LLMCompare(LLMRole):
    """LDM2's comparison of two processes (Table 4, Eq. 10)."""

    prompt = "compare"
    max_tokens = 64

    def __init__(self, model: ChatModel, rule: Compare = rules.compare):
        super().__init__(model, rule)

    def __call__(self, better: Sequence[Step], worse: Sequence[Step], task: Task) -> int:
        """Index into ``better``."""
        return self.or_rule(
            lambda: read_number(
                self.ask(
                    task=clip(task.goal, _GOAL),
                    first=trace_text(better, _TRACE),
                    second=trace_text(worse, _TRACE),
                ).text,
                0,
                len(better) - 1,
            ),
            lambda: self.rule(better, worse, task),
        )
