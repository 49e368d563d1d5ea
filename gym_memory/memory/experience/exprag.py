"""ExpRAG and ExpRecent (Evo-Memory, 2511.20857): past episodes as worked examples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from gym_memory.core.records import Step
from gym_memory.memory.experience.base import ExperienceMemory, Trial
from gym_memory.memory.experience.items import Bank, Item
from gym_memory.memory.roles.text import score_in_words

__all__ = ["ExpRAG", "ExpRecent"]

_MOST_STEPS = 60
_ANSWER_CHARS = 100


class ExpRAG(ExperienceMemory):
    """Past episodes with the most similar goals: input, output and feedback.

    Nothing is distilled, merged or judged: this is the raw-episode baseline of all memories of
    experience. The ``k`` of the paper is not stated.
    """

    name: ClassVar[str] = "exprag"

    def _choose(self, step: Step) -> Sequence[Item]:
        return [found.item for found in self.bank.nearest(self._task.goal, self.settings.k)]

    def _write(self, trial: Trial) -> Iterable[Item]:
        return [trial.draft(episode_text(trial))]

    def _worths(self, bank: Bank) -> dict[int, float]:
        return {id: id for id in bank.items}


class ExpRecent(ExpRAG):
    """Last ``k`` episodes, whatever their goals: a control, level with ``none`` in streams."""

    name: ClassVar[str] = "exprecent"

    def _choose(self, step: Step) -> Sequence[Item]:
        return list(self.bank.items.values())[: -self.settings.k - 1 : -1]


def episode_text(trial: Trial) -> str:
    """Return goal, actions with the first line of each answer, and result of an episode."""
    steps = [step for step in trial.trace if step.action][-_MOST_STEPS:]
    goal = " ".join(trial.task.goal.split()).replace('"', "'")
    answers = ["".join(step.text.strip().splitlines()[:1])[:_ANSWER_CHARS] for step in steps]
    lines = [
        f'"{step.action}": {answer}'.replace("\n", " ")
        for step, answer in zip(steps, answers, strict=True)
    ]
    return "\n".join([f"Goal: {goal}.", *lines, score_in_words(trial.outcome)])
