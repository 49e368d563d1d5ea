"""MemRL (2601.03192): similarity finds candidates, a learnt value chooses among them."""

from __future__ import annotations

import random
import statistics
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from gym_memory.core.records import Step
from gym_memory.core.settings import Help
from gym_memory.memory.experience.base import CreditSettings, ExperienceMemory, Trial
from gym_memory.memory.experience.exprag import episode_text
from gym_memory.memory.experience.items import Bank, Item, ScoredItem

__all__ = ["MemRL", "MemRLSettings"]

_MOST_SD = 3.0
_MERGE_GAIN = 0.1


@dataclass(frozen=True)
class MemRLSettings(CreditSettings):
    """Settings of MemRL; the paper's values for households are in the text of each."""

    k1: Annotated[int, Help("Candidates by similarity; 5.", low=1)] = 5
    tau: Annotated[float, Help("Least similarity of a candidate; .62.", low=-1, high=1)] = 0.62
    weight: Annotated[float, Help("Share of similarity in the score; .5.", low=0, high=1)] = 0.5
    mean: Annotated[
        float, Help("Mean of similarities, measured once; .5187 for the paper's encoder.")
    ] = 0.5187
    sd: Annotated[
        float, Help("Their standard deviation; .1203 for the paper's encoder.", above=0)
    ] = 0.1203
    alpha: Annotated[float, Help("Rate of the value; .3.", low=0, high=1)] = 0.3
    floor: Annotated[float, Help("Least value; -10.")] = -10.0
    epsilon: Annotated[float, Help("Chance of a random choice; 0.", low=0, high=1)] = 0.0
    merge: Annotated[float, Help("Similarity from which items of one kind merge; .9.")] = 0.9
    trajectory: Annotated[bool, Help("Show the whole episode below its script.")] = False


class MemRL(ExperienceMemory):
    """MemRL: two-phase recall, then a value that each outcome moves.

    Phase A takes the ``k1`` nearest goals with a similarity of at least ``tau``, none if there is
    none. Phase B ranks them by ``weight zs + (1 - weight) zq``, both z-scores cut at +-3: ``zs`` of
    the similarity by a fixed mean and deviation, ``zq`` of the value among the candidates. After
    the episode ``Q <- (1 - alpha) Q + alpha r`` with r = +1 or -1 for every item shown.

    Differences from the paper: by default rules write the script and an item shows it without its
    episode, which would fill the budget. A failure is kept as its last actions and refusals. An
    item of the same kind with similarity ``merge`` takes a new one in, and a tenth of the gain.
    """

    name: ClassVar[str] = "memrl"
    settings_class = MemRLSettings
    settings: MemRLSettings

    def _choose(self, step: Step) -> Sequence[Item]:
        chosen = self.settings
        found = self.bank.nearest(self._task.goal, chosen.k1, chosen.tau)
        chance = random.Random(zlib.crc32(f"{self._task.id}/{self.bank.episode}".encode()))
        if chance.random() < chosen.epsilon:
            picked = chance.sample(found, min(chosen.k, len(found)))
            return [candidate.item for candidate in picked]
        return [item for _, item in self.ranked(found)][: chosen.k]

    def ranked(self, found: Sequence[ScoredItem]) -> list[tuple[float, Item]]:
        """Return phase B: candidates with their scores, best first; ties go to the nearer."""
        values = [candidate.item.utility for candidate in found]
        spread = statistics.pstdev(values) if len(values) > 1 else 0.0
        scored = []
        for near, value in zip(found, values, strict=True):
            by_similarity = _cut((near.similarity - self.settings.mean) / self.settings.sd)
            by_value = _cut((value - statistics.fmean(values)) / (spread or 1.0))
            weight = self.settings.weight
            score = weight * by_similarity + (1 - weight) * by_value
            scored.append((round(score, 9) + 0.0, near.item))
        return sorted(scored, key=lambda pair: -pair[0])

    def _write(self, trial: Trial) -> Iterable[Item]:
        text = self._lesson(trial.trace, trial.outcome, trial.task, ())
        if self.settings.trajectory:
            text += "\n" + episode_text(trial)
        return [trial.draft(text)]

    def _credit(self, item: Item, trial: Trial, share: float = 1.0) -> Item:
        reward = 1.0 if trial.success else -1.0
        if trial.worths is not None:
            reward = trial.worths.get(item.id, 0.0)
        gain = self.settings.alpha * (reward - item.utility)
        return item._replace(utility=max(item.utility + share * gain, self.settings.floor))

    def _add(self, bank: Bank, draft: Item, trial: Trial) -> None:
        near = bank.nearest(draft.key, 1, self.settings.merge, lambda i: i.kind == draft.kind)
        if near:
            bank.merge(self._credit(near[0].item, trial, _MERGE_GAIN), draft)
        else:
            bank.add(draft)


def _cut(score: float) -> float:
    return min(max(score, -_MOST_SD), _MOST_SD)
