"""Roles of the memories that learn over trials, played by a chat model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gym_memory.core.records import Outcome, Step, Task
from gym_memory.core.tokens import count_tokens
from gym_memory.memory.roles.base import (
    AbstractCauses,
    AdjustProcedure,
    CausalAbstraction,
    Classify,
    Cluster,
    Compare,
    EvaluateSubgoals,
    GeneralizeCauses,
    Importance,
    Insights,
    Learnings,
    Reflect,
    Subgoal,
    Summarize,
    WriteLesson,
)
from gym_memory.memory.roles.llm import GOAL_TOKENS, LLMRole
from gym_memory.memory.roles.text import (
    clip,
    clip_start,
    numbered,
    prose,
    read_items,
    read_number,
    score_in_words,
    some,
    trace_text,
)

__all__ = ["LLMAbstractCauses", "LLMAdjustProcedure", "LLMClassify", "LLMCluster", "LLMCompare"]
__all__ += ["LLMEvaluateSubgoals", "LLMGeneralizeCauses", "LLMImportance", "LLMInsights"]
__all__ += ["LLMReflect", "LLMSummarize", "LLMWriteLesson", "read_abstractions"]

_PAST_TOKENS = 4000
_TRACE_TOKENS = 16_000


class LLMSummarize(LLMRole[Summarize]):
    """A summary of the past, by the prompt ``summary``, ``belief`` (STMA) or ``past`` (LDM2)."""

    prompt = "summary"
    max_tokens = 1024

    def answer(self, previous: str, trace: Sequence[Step], task: Task) -> str:
        """Return the new summary."""
        text = self.ask_about(task, trace, previous=clip_start(previous, _PAST_TOKENS))
        return prose(re.sub(r"^\s*\**(?:new )?summary\**\s*:", "", text, flags=re.I))


class LLMImportance(LLMRole[Importance]):
    """Simulacra's rating of an observation."""

    prompt = "importance"
    max_tokens = 64

    def answer(self, text: str, task: Task) -> float:
        """Return a whole number in [1, 10]."""
        reply = self.ask(task=clip(task.goal, GOAL_TOKENS), memory=clip(text, _PAST_TOKENS))
        return float(read_number(reply.text, 1, 10))


class LLMInsights(LLMRole[Insights]):
    """Simulacra's general conclusions from single observations."""

    prompt = "insights"

    def answer(self, statements: Sequence[str], task: Task) -> list[str]:
        """Return conclusions, each one sentence."""
        shown = clip_start(numbered(statements), _TRACE_TOKENS)
        return read_items(self.ask(task=clip(task.goal, GOAL_TOKENS), statements=shown).text)


class LLMReflect(LLMRole[Reflect]):
    """A plan for the next trial, by the prompt ``reflect``, or ``advice`` for a numbered list."""

    prompt = "reflect"

    def answer(
        self, trace: Sequence[Step], outcome: Outcome, previous: Sequence[str], task: Task
    ) -> str:
        """Return the plan or the advice."""
        past = clip_start(numbered(previous), _PAST_TOKENS)
        return prose(self.ask_about(task, trace, outcome, previous=past))


class LLMWriteLesson(LLMRole[WriteLesson]):
    """A script of a success or a lesson of a failure (MemRL, RetroAgent), for other tasks.

    The prompts are ``lesson_success`` and ``lesson_failure``, and ``lesson_contrast`` if an attempt
    with the opposite outcome is known.
    """

    prompt = "lesson_success"

    def answer(
        self, trace: Sequence[Step], outcome: Outcome, task: Task, other: Sequence[str]
    ) -> str:
        """Return the script or lesson."""
        own = None if outcome.success else "lesson_failure"
        more = {"other": clip_start(numbered(other), _PAST_TOKENS)} if other else {}
        prompt = "lesson_contrast" if other else own
        return prose(self.ask_about(task, trace, outcome, prompt=prompt, **more))


class LLMAdjustProcedure(LLMRole[AdjustProcedure]):
    """Memp's repair of a procedure that failed."""

    prompt = "procedure"

    def answer(self, text: str, trace: Sequence[Step], outcome: Outcome, task: Task) -> str:
        """Return the procedure in its new form."""
        return prose(self.ask_about(task, trace, outcome, procedure=clip(text, _PAST_TOKENS)))


class LLMAbstractCauses(LLMRole[AbstractCauses]):
    """CLIN's memory generator (Figure 7)."""

    prompt = "causes"
    max_tokens = 1024

    def answer(
        self,
        trace: Sequence[Step],
        outcome: Outcome,
        previous: Sequence[Sequence[CausalAbstraction]],
        task: Task,
    ) -> list[CausalAbstraction]:
        """Return the rewritten memory."""
        memories = [
            f"LEARNINGS after trial {number} of the last {len(previous)}:\n{numbered(memory)}"
            for number, memory in enumerate(previous, 1)
        ]
        past = clip_start("\n".join(memories), _PAST_TOKENS) or "No learnings available"
        return read_abstractions(self.ask_about(task, trace, outcome, previous=past))


class LLMGeneralizeCauses(LLMRole[GeneralizeCauses]):
    """CLIN's meta-memory for a new environment (Figure 8) or a new task (Figure 9)."""

    prompt = "causes_environment"
    max_tokens = 1024

    def answer(
        self, archive: Sequence[Learnings], task: Task, same_task: bool
    ) -> list[CausalAbstraction]:
        """Return the memory to start a new episode with."""
        lists = [
            f"TASK: {clip(' '.join(entry.goal.split()), 200)}\nLEARNINGS:\n"
            f"{numbered(entry.abstractions)}\nEVALUATION REPORT: {score_in_words(entry.outcome)}"
            for entry in archive
        ]
        reply = self.ask(
            prompt=None if same_task else "causes_task",
            archive=clip("\n".join(lists), _TRACE_TOKENS) or "No learnings available",
            task=clip(task.goal, GOAL_TOKENS),
        )
        return read_abstractions(reply.text)


def read_abstractions(text: str) -> list[CausalAbstraction]:
    """Return the items of a list that have one of the four forms; raises ModelError without any."""
    parsed = (CausalAbstraction.parse(item) for item in read_items(text))
    found = list(dict.fromkeys(item for item in parsed if item is not None))
    return some(found, "sentences of the four forms", text)


_TEXT_TOKENS = 4000
_TEXTS_A_CALL = 50
_TOKENS_A_CALL = 16_000
"""Tokens of the texts of one call; of more there are several calls."""
_MOST_EXAMPLES = 3
_SUBGOAL = re.compile(
    r"^\W*sub-?goal\s*\d*\s*[:.]\s*(.{1,500}?)\s*[-–—:]\s*(in\W?complete|complete)d?\W*$",
    re.IGNORECASE | re.MULTILINE,
)
_TYPE = re.compile(
    r"^\W*(?:high-level\s+)?type\s*\d+\s*[:.]\s*(.{1,200}?)\s*\[([\d,\s]{1,2000})\]",
    re.IGNORECASE | re.MULTILINE,
)


class LLMEvaluateSubgoals(LLMRole[EvaluateSubgoals]):
    """LDM2's evaluation (Table 4)."""

    prompt = "subgoals"

    def answer(self, trace: Sequence[Step], task: Task) -> list[Subgoal]:
        """Return the subgoals, judged."""
        text = self.ask_about(task, trace)
        found = [Subgoal(f[1], f[2].lower() == "complete") for f in _SUBGOAL.finditer(text)]
        return some(found, "sub-goals", text)


class LLMCluster(LLMRole[Cluster]):
    """LDM2's clustering of goals or observations (Table 4), at most fifty a call."""

    prompt = "cluster"
    max_tokens = 1024

    def answer(self, texts: Sequence[str]) -> list[str]:
        """Return the name of each text's type, ``other`` for a text that the model left out."""
        names: list[str] = []
        for batch in _calls([clip(text, _TEXT_TOKENS) for text in texts]):
            answer = self.ask(texts=numbered(batch)).text
            labels: dict[int, str] = {}
            for found in _TYPE.finditer(answer):
                for number in re.findall(r"\d{1,6}", found[2]):
                    labels.setdefault(int(number), " ".join(found[1].lower().split()))
            numbers = range(1, len(batch) + 1)
            some(labels.keys() & set(numbers), "types with numbers", answer)
            names += [labels.get(number, "other") for number in numbers]
        return names


def _calls(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield texts in groups that one call can take."""
    batch: list[str] = []
    room = _TOKENS_A_CALL
    for text in texts:
        size = count_tokens(text)
        if batch and (size > room or len(batch) == _TEXTS_A_CALL):
            yield batch
            batch, room = [], _TOKENS_A_CALL
        batch.append(text)
        room -= size
    if batch:
        yield batch


class LLMClassify(LLMRole[Classify]):
    """LDM2's choice of the type of a new goal or observation (Table 4)."""

    prompt = "classify"
    max_tokens = 256

    def answer(self, text: str, types: Mapping[str, Sequence[str]]) -> str:
        """Return one key of ``types``."""
        names = list(types)
        shown = numbered(
            f"{name}. Examples: "
            + " / ".join(
                clip(" ".join(e.split()), _TEXT_TOKENS) for e in types[name][:_MOST_EXAMPLES]
            )
            for name in names
        )
        answer = self.ask(types=shown, text=clip(text, 4 * _TEXT_TOKENS)).text
        return names[read_number(answer, 1, len(names)) - 1]


class LLMCompare(LLMRole[Compare]):
    """LDM2's comparison of two processes (Table 4, Eq. 10)."""

    prompt = "compare"
    max_tokens = 256

    def answer(self, better: Sequence[Step], worse: Sequence[Step], task: Task) -> int:
        """Return an index into ``better``."""
        reply = self.ask(
            task=clip(task.goal, GOAL_TOKENS),
            first=trace_text(better, _TRACE_TOKENS, first=True),
            second=trace_text(worse, _TRACE_TOKENS, first=True),
        )
        return read_number(reply.text, 0, len(better) - 1)
