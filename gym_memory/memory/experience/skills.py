"""D2Skill (2603.28716): skills for tasks and for steps, with utility from paired episodes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from gym_memory.core.records import Step
from gym_memory.core.settings import Help
from gym_memory.memory.experience.base import CreditSettings, ExperienceMemory, Trial
from gym_memory.memory.experience.items import Bank, Item
from gym_memory.memory.lessons.causes import read_acts

__all__ = ["Skills", "SkillsSettings"]

_TASK, _STEP, _WITH, _WITHOUT = "task", "step", "with", "without"
_LEAD_STEPS = 4
"""Steps before an error that a step skill is written from."""
_SEEN_CHARS = 1000


@dataclass(frozen=True)
class SkillsSettings(CreditSettings):
    """Settings of D2Skill."""

    k: Annotated[int, Help("Task skills, and step skills, to show at most.", low=1)] = 2
    least: Annotated[float, Help("Least similarity of a candidate.", low=-1, high=1)] = -1.0
    weight: Annotated[float, Help("Share a of similarity (ours).", low=0, high=1)] = 0.5
    bonus: Annotated[float, Help("Weight c of the bonus for rare skills; .5.", low=0)] = 0.5
    beta: Annotated[float, Help("Rate of the utility (ours).", low=0, high=1)] = 0.3
    threshold: Annotated[
        float, Help("Success of a group below which skills are written (ours).", low=0, high=1)
    ] = 0.5
    paired: Annotated[
        Literal["goal", "stream", "never"],
        Help(
            "Group whose episodes alternate between none and all skills: those of one goal, as in "
            "the paper, or all of a stream, where goals seldom repeat; ``never`` always shows them."
        ),
    ] = "stream"
    protect: Annotated[int, Help("Episodes in which a new skill is safe (ours).", low=0)] = 10


class Skills(ExperienceMemory):
    """D2Skill: task skills from the start, step skills where an error happened before.

    A recall shows the best k of the 2k nearest skills of a store, by
    ``a sim + (1 - a)(u + c sqrt(ln(1 + N) / (1 + n)))``, where N is the sum of the counts n. A
    skill's utility follows ``success(with) - mean success(without)`` by a moving average, from
    episodes of a group that alternate between none and all skills.

    New skills, at most one for the task and one for a step, are written only while the success of
    the group is below ``threshold``. Beyond the capacity, the skill with the lowest ``u + bonus``
    is deleted, never a young one. Differences from the paper: an episode is paired with the mean of
    its group. Rule-based skills hardly gain over ``none`` in a stream of households; with ``llm``,
    a model writes them.
    """

    name: ClassVar[str] = "skills"
    settings_class = SkillsSettings
    settings: SkillsSettings
    every_step = True

    def _choose(self, step: Step) -> Sequence[Item]:
        goal = self._task.goal
        if self.settings.paired != "never":
            counts = [self._count(self.bank, kind, goal).uses for kind in (_WITHOUT, _WITH)]
            if counts[0] <= counts[1]:
                return []
        return [*self._best(_TASK, goal), *self._best(_STEP, _key(goal, step.text))]

    def _best(self, kind: str, query: str) -> list[Item]:
        k, weight, total = self.settings.k, self.settings.weight, _uses(self.bank, kind)
        near = self.bank.nearest(query, 2 * k, self.settings.least, lambda i: i.kind == kind)
        scored = [
            (weight * found.similarity + (1 - weight) * self.value(found.item, total), found.item)
            for found in near
        ]
        return [item for _, item in sorted(scored, key=lambda pair: -pair[0])][:k]

    def value(self, item: Item, total: int) -> float:
        """Return utility and bonus of a skill, given the uses of all of its kind."""
        bonus = math.sqrt(math.log1p(total) / (1 + item.uses))
        return item.utility + self.settings.bonus * bonus

    def _worths(self, bank: Bank) -> dict[int, float]:
        totals = {kind: _uses(bank, kind) for kind in (_TASK, _STEP)}
        return {
            item.id: self.value(item, totals[item.kind])
            if item.kind in totals and bank.episode - item.born >= self.settings.protect
            else math.inf
            for item in bank.items.values()
        }

    def _count(self, bank: Bank, kind: str, goal: str) -> Item:
        """Return the record of a group's episodes with or without skills."""
        group = goal if self.settings.paired == "goal" else ""
        known = (item for item in bank.of_kind(kind) if item.goal == group)
        return next(known, Item("", "", kind, group))

    def _write(self, trial: Trial) -> Iterable[Item]:
        counts = [self._count(self.bank, kind, trial.task.goal) for kind in (_WITHOUT, _WITH)]
        plays = sum(count.uses for count in counts)
        if plays and sum(count.wins for count in counts) / plays >= self.settings.threshold:
            return
        yield trial.draft(self._lesson(trial.trace, trial.outcome, trial.task, ()), kind=_TASK)
        if not trial.success:
            at = _error(trial)
            part = trial.trace[max(at - _LEAD_STEPS, 0) : at + 1]
            text = self._lesson(part, trial.outcome, trial.task, ())
            key = _key(trial.task.goal, trial.trace[max(at - 1, 0)].text)
            yield trial.draft(text, key, _STEP, step=trial.trace[at].t)

    def _credit(self, item: Item, trial: Trial) -> Item:
        group, beta = self._count(self.bank, _WITHOUT, trial.task.goal), self.settings.beta
        signal = trial.success - (group.wins / group.uses if group.uses else 0.0)
        if trial.worths is not None:
            signal = trial.worths.get(item.id, 0.0)
        return item._replace(utility=(1 - beta) * item.utility + beta * signal)

    def _add(self, bank: Bank, draft: Item, trial: Trial) -> None:
        known = next((i for i in bank.of_kind(draft.kind) if i.text == draft.text), None)
        if known is None:
            bank.add(draft)
        else:
            bank.merge(known, draft)

    def _settle(self, bank: Bank, trial: Trial, drafts: Iterable[Item]) -> None:
        super()._settle(bank, trial, drafts)
        kind = _WITH if self._used else _WITHOUT
        count = trial.counted(self._count(bank, kind, trial.task.goal))
        if count.id:
            bank.put(count)
        else:
            bank.add(count)


def _uses(bank: Bank, kind: str) -> int:
    return sum(item.uses for item in bank.of_kind(kind))


def _key(goal: str, seen: str) -> str:
    return f"{goal}\n{seen[:_SEEN_CHARS]}"


def _error(trial: Trial) -> int:
    """Return the index of the step that went wrong: the last without effect, else the last."""
    acts = read_acts(trial.trace, trial.task)
    first = len(trial.trace) - len(acts)
    vain = [act.number for act in acts if not (act.changed or act.news)]
    return first + (vain[-1] if vain else len(acts) - 1)
