"""SimUtil-UCB, the memory of RetroAgent (2603.08561)."""

from __future__ import annotations

import math
import random
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from gym_memory.core.records import Step
from gym_memory.core.settings import Help
from gym_memory.memory.experience.base import CreditSettings, ExperienceMemory, Trial
from gym_memory.memory.experience.items import Bank, Item, ScoredItem

__all__ = ["SimUtil", "SimUtilSettings"]

_DECAY = 0.9
_TEMPERATURE = 0.5


@dataclass(frozen=True)
class SimUtilSettings(CreditSettings):
    """Settings of SimUtil-UCB; values of paper and code are in the text of each."""

    least: Annotated[float, Help("Least similarity of a task; .4.", low=-1, high=1)] = 0.4
    weight: Annotated[float, Help("Share a of similarity; paper .7, code .6.", low=0, high=1)] = 0.7
    kappa: Annotated[float, Help("Weight of the bonus for rare items; 1.", low=0)] = 1.0
    beta: Annotated[float, Help("Rate of the utility; paper .05, code .1.", low=0, high=1)] = 0.05
    rank: Annotated[
        Literal["ucb", "utility", "relevance", "softmax"],
        Help("Rank by all three terms, without the bonus, by similarity, or draw by all three."),
    ] = "ucb"
    outcome: Annotated[
        Literal["any", "success", "failure"], Help("Outcome of the episodes to recall.")
    ] = "any"
    same: Annotated[float, Help("Similarity above which an equal lesson is the same; .85.")] = 0.85
    prune: Annotated[
        int, Help("Episodes between prunings, 0 for never; paper: a quarter of training.", low=0)
    ] = 0
    keep: Annotated[int, Help("Items of a task that a pruning keeps; 3.", low=1)] = 3
    exposure: Annotated[
        float, Help("Share of episodes that see the memory; paper .5 in training.", low=0, high=1)
    ] = 1.0


class SimUtil(ExperienceMemory):
    """SimUtil-UCB of RetroAgent: similarity, utility and a bonus for what was rarely shown.

    ``S = a sim + (1 - a)(u + kappa sqrt(ln(sum of counts) / n))`` over items with a similarity of
    at least ``least``. An episode moves the utility of what it showed by
    ``u <- (1 - beta) u + beta s``, with its score s in [0, 1]; u starts at .5 and n at 1.

    The lesson is the contrast with an attempt at the same task with the other outcome, if one is
    known. Differences from the paper: rules write it by default, and the progress reward is left
    to the trainer.
    """

    name: ClassVar[str] = "simutil"
    settings_class = SimUtilSettings
    settings: SimUtilSettings

    def _choose(self, step: Step) -> Sequence[Item]:
        chance = random.Random(zlib.crc32(f"{self._task.id}/{self.bank.episode}".encode()))
        if chance.random() >= self.settings.exposure:
            return []
        wanted = self.settings.outcome
        found = self.bank.nearest(
            self._task.goal, None, self.settings.least, lambda i: wanted in ("any", i.kind)
        )
        total = sum(item.uses for item in self.bank.items.values())
        scored = [(self.score(near, total), near.item) for near in found]
        if self.settings.rank == "softmax":  # drawn without replacement, by Gumbel noise
            scored = [(s / _TEMPERATURE + _gumbel(chance), i) for s, i in scored]
        return [item for _, item in sorted(scored, key=lambda pair: -pair[0])][: self.settings.k]

    def score(self, near: ScoredItem, total: int) -> float:
        """Return S of an item that a search found, given the sum of all counts."""
        similarity, item, chosen = near.similarity, near.item, self.settings
        if chosen.rank == "relevance":
            return similarity
        bonus = 0.0
        if chosen.rank != "utility":
            bonus = chosen.kappa * math.sqrt(math.log(total) / item.uses)
        return chosen.weight * similarity + (1 - chosen.weight) * (item.utility + bonus)

    def _write(self, trial: Trial) -> Iterable[Item]:
        others = [
            item.actions
            for item in self.bank.items.values()
            for origin in item.origins[:1]
            if origin.task == trial.task.id and origin.success != trial.success
        ]
        text = self._lesson(trial.trace, trial.outcome, trial.task, others[-1] if others else ())
        return [trial.draft(text, uses=1, utility=0.5)]

    def _credit(self, item: Item, trial: Trial) -> Item:
        beta, score = self.settings.beta, trial.origin.score
        if trial.worths is not None:
            score = (1 + trial.worths.get(item.id, 0.0)) / 2
        return item._replace(utility=(1 - beta) * item.utility + beta * score)

    def _add(self, bank: Bank, draft: Item, trial: Trial) -> None:
        alike = bank.nearest(draft.key, 1, self.settings.same, lambda i: i.text == draft.text)
        if alike and alike[0].similarity > self.settings.same:
            bank.merge(self._credit(alike[0].item, trial), draft)
        else:
            bank.add(draft)

    def _tidy(self, bank: Bank, trial: Trial) -> None:
        """Keep the best items of each task, and decay their utility."""
        if self.settings.prune and bank.episode % self.settings.prune == 0:
            tasks: dict[str, list[Item]] = {}
            for item in bank.items.values():
                tasks.setdefault(item.goal, []).append(item)
            for items in tasks.values():
                ranked = sorted(items, key=lambda i: (-i.utility, i.id))
                for item in ranked[: self.settings.keep]:
                    bank.put(item._replace(utility=_DECAY * item.utility, uses=1))
                for item in ranked[self.settings.keep :]:
                    bank.remove(item.id)
        super()._tidy(bank, trial)


def _gumbel(chance: random.Random) -> float:
    return -math.log(-math.log(max(chance.random(), 1e-12)))
