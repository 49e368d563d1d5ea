"""Memp (2508.06433): procedures, judged by their hits and repaired where they failed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import Annotated, Any, ClassVar, Literal

from gym_memory.core.records import Outcome, Step, Task
from gym_memory.core.settings import Help
from gym_memory.memory.experience.base import ExperienceMemory, ExperienceSettings, Trial
from gym_memory.memory.experience.items import Bank, Item, ScoredItem, script
from gym_memory.memory.lessons.causes import things_of, verb_of
from gym_memory.memory.roles.llm_lessons import LLMAdjustProcedure

__all__ = ["Memp", "MempSettings", "adjust_procedure", "facts_of"]

_STEP = re.compile(r'"([^"]*)"(?:, )?')


@dataclass(frozen=True)
class MempSettings(ExperienceSettings):
    """Settings of Memp."""

    k: Annotated[int, Help("Procedures to show at most; 10.", low=1)] = 10
    key: Annotated[
        Literal["query", "facts", "recent"],
        Help("Search by the goal, by the mean over its facts, or take the latest."),
    ] = "query"
    least: Annotated[
        float | None, Help("Least similarity; None for .5 by query, .4 by facts.", low=-1, high=1)
    ] = None
    update: Annotated[
        Literal["vanilla", "validation", "adjustment"],
        Help("Store all, only successes, or successes and repair what was used in a failure."),
    ] = "adjustment"
    hits: Annotated[int, Help("Uses from which an item is judged; 3.", low=1)] = 3
    rate: Annotated[
        float, Help("Rate of success below which it is deleted then; .5.", low=0, high=1)
    ] = 0.5


class Memp(ExperienceMemory):
    """Memp: a procedure from each episode, found by the goal or by the facts in it.

    Each item counts its uses and successes. After ``hits`` uses, an item with a rate of success
    below ``rate`` is deleted. ``adjustment`` rewrites the procedure that a failed episode used
    first. By facts, similarity is the mean cosine over the facts that two goals share.

    Differences from the paper: by default, rules build the procedure and repair it by cutting the
    step after which the score never rose again. The facts of a goal are its verb and its things.
    """

    name: ClassVar[str] = "memp"
    settings_class = MempSettings
    settings: MempSettings

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        self._adjust = LLMAdjustProcedure.or_rule(self._model, adjust_procedure)

    def _choose(self, step: Step) -> Sequence[Item]:
        chosen, bank = self.settings, self.bank
        if chosen.key == "recent":
            return list(bank.items.values())[: -chosen.k - 1 : -1]
        by_query = chosen.key == "query"
        least = (0.5 if by_query else 0.4) if chosen.least is None else chosen.least
        found = bank.nearest(self._task.goal) if by_query else self._by_facts(self._task.goal)
        return [near.item for near in found if near.similarity >= least][: chosen.k]

    def _by_facts(self, goal: str) -> list[ScoredItem]:
        """Return items by the mean cosine over the facts that both goals have."""
        encode, cosines = self.bank.encoder.encode, dict[int, list[float]]()
        facts = {item.id: facts_of(item.goal) for item in self.bank.items.values()}
        for name, fact in facts_of(goal).items():
            others = {id: theirs[name] for id, theirs in facts.items() if name in theirs}
            near = encode([fact]) @ encode(list(others.values())).T
            for id, cosine in zip(others, near[0].tolist(), strict=True):
                cosines.setdefault(id, []).append(cosine)
        found = [
            ScoredItem(self.bank.items[id], round(fmean(shared), 6))
            for id, shared in cosines.items()
        ]
        return sorted(found, key=lambda near: (-near.similarity, near.item.id))

    def _write(self, trial: Trial) -> Iterable[Item]:
        if trial.success or self.settings.update == "vanilla":
            yield trial.draft(self._lesson(trial.trace, trial.outcome, trial.task, ()))
        elif self.settings.update == "adjustment" and self._used:
            used = self.bank.items[next(iter(self._used))]
            yield used._replace(
                text=self._adjust(used.text, trial.trace, trial.outcome, trial.task)
            )

    def _credit(self, item: Item, trial: Trial) -> Item | None:
        bad = item.wins / item.uses < self.settings.rate
        return None if bad and item.uses >= self.settings.hits else item

    def _add(self, bank: Bank, draft: Item, trial: Trial) -> None:
        if not draft.id:
            bank.add(draft)
        elif draft.id in bank.items:
            bank.put(bank.items[draft.id]._replace(text=draft.text))


@lru_cache(maxsize=1 << 14)
def facts_of(goal: str) -> dict[str, str]:
    """Return the facts of a goal by name.

    >>> facts_of("put a clean mug in coffeemachine")
    {'verb': 'put', 'thing 1': 'clean mug', 'thing 2': 'coffeemachine'}
    """
    words = " ".join(goal.split()).rstrip(".")
    things = {f"thing {n}": thing for n, thing in enumerate(things_of(words), 1)}
    return {"verb": verb_of(words), **things}


def adjust_procedure(text: str, trace: Sequence[Step], outcome: Outcome, task: Task) -> str:
    """Cut the step of a procedure after which the score never rose again.

    This is its first step that was not done when the episode last scored.
    """
    scored = max((at + 1 for at, step in enumerate(trace) if step.reward > 0), default=0)
    done, at = script(step.action for step in trace[:scored] if step.action), 0
    for found in _STEP.finditer(text):
        if found[1] not in done[at:]:
            return (text[: found.start()] + text[found.end() :]).replace(", .", ".")
        at = done.index(found[1], at) + 1
    return text
