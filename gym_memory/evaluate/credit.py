"""Measure the worth of each remembered item, and compare published credit rules with it."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from gym_memory.baselines.base import Policy, make_policy
from gym_memory.memory.experience.base import ExperienceMemory
from gym_memory.memory.recall.features import FactFeatures
from gym_memory.run.loop import EpisodeResult, rollout
from gym_memory.run.replays import KINDS, Key, Kind, Lens, Replays, Worth, credit_exactly
from gym_memory.run.results.intervals import rank_correlation
from gym_memory.run.results.score import grouped

__all__ = ["RULES", "EpisodeCredit", "ItemCredit", "RuleError", "by_item", "credit"]
__all__ += ["export_rows", "rule_errors"]


class EpisodeCredit(NamedTuple):
    """An episode with the worth of its items; ``seconds`` are CPU time.

    ``features`` are those of each fact when it was first shown, if they were kept.
    """

    seed: int
    result: EpisodeResult
    items: int
    worths: tuple[Worth, ...]
    replays: int
    steps: int
    seconds: float
    features: Mapping[Key, FactFeatures]

    def to_json(self) -> dict[str, Any]:
        """Return JSON-able values without clock times, equal in every repetition."""
        worths = [{**w._asdict(), "key": list(w.key)} for w in self.worths]
        known = {"task": self.result.task_id, "seed": self.seed, "score": self.result.value}
        return {**known, "success": self.result.success, "steps": self.result.steps,
                "items": self.items, "replays": self.replays, "replayed_steps": self.steps,
                "worths": worths}  # fmt: skip


def credit(
    env: gym.Env[Any, Any],
    policy: Policy,
    seeds: Sequence[int],
    *,
    demonstrated: int = 0,
    step: int | None = None,
    kinds: Sequence[Kind] = KINDS,
    most: int | None = 20,
    alone: bool = False,
    samples: int = 0,
    describes: bool = False,
) -> Iterator[EpisodeCredit]:
    """Play a stream of episodes with one memory; measure the items of each episode before it.

    The memory continues to learn from the episodes, which are played with all items. What a recall
    showed gets its worth as a note, which a recorder around ``env`` keeps.

    Args:
        env: An environment with a memory.
        policy: The player; it must play the same way given the same seed.
        seeds: Seeds of the episodes.
        demonstrated: Episodes at the start that the walkthrough plays, without replays.
        step: Step of each episode whose recall is measured; None for all recalls.
        kinds: See :meth:`.Replays.worths`, as for ``most``, ``alone`` and ``samples``.
        most: Items of an episode at most.
        alone: True to also measure each item without all the others.
        samples: Orders for Shapley values.
        describes: True to keep the features of facts, for :func:`export_rows`.
    """
    for seed in seeds[:demonstrated]:
        guide = make_policy("walkthrough")
        credit_exactly(env, guide, seed)
        rollout(env, guide, seed)
    for seed in seeds[demonstrated:]:
        started = time.process_time()
        replays = Replays(env, policy, seed, step=step, describes=describes)
        worths = replays.worths(kinds, most, alone=alone, samples=samples)
        memory, holder = replays.holder.memory, replays.holder
        if isinstance(memory, ExperienceMemory) and memory.exact:
            memory.worths = replays.by_id()
        lens = Lens(memory, learns=True)
        lens.notes = {worth.key: _note(worth) for worth in worths}
        holder.memory = lens  # type: ignore[assignment]
        try:
            result = rollout(env, policy, seed)
            holder.finish()
        finally:
            holder.memory = memory
        seconds = time.process_time() - started
        yield EpisodeCredit(
            seed, result, len(replays.shown), tuple(worths),
            replays.replays, replays.steps, seconds,
            replays.features,
        )  # fmt: skip


def export_rows(episodes: Iterable[EpisodeCredit], **named: str) -> Iterator[dict[str, Any]]:
    """Yield one row per measured item: the episode, the worth, and the features of a fact.

    Items that are not facts, or were recalled without a graph, have None as features.
    """
    unknown = dict.fromkeys(FactFeatures._fields)
    for episode in episodes:
        for worth in episode.worths:
            features = episode.features.get(worth.key)
            yield {
                **named,
                "task": episode.result.task_id,
                "seed": episode.seed,
                "kind": worth.key.kind,
                "item": worth.text,
                "shown": worth.shown,
                "worth": worth.score,
                "steps": worth.steps,
                "alone": worth.alone,
                "shapley": worth.shapley,
                **(features._asdict() if features else unknown),
            }


def _note(worth: Worth) -> str:
    parts = [f"worth {worth.score:+.2f} in score, {worth.steps:+d} steps"]
    if worth.alone is not None:
        parts.append(f"alone {worth.alone:+.2f}")
    if worth.shapley is not None:
        parts.append(f"Shapley {worth.shapley:+.2f}")
    return "; ".join(parts)


class ItemCredit(NamedTuple):
    """Means of an item over the episodes that showed it."""

    key: Key
    text: str
    episodes: int
    score: float
    steps: float
    alone: float | None
    shapley: float | None


def by_item(episodes: Iterable[EpisodeCredit]) -> list[ItemCredit]:
    """Return the mean worth of each item, the most useful first."""
    worths = (worth for episode in episodes for worth in episode.worths)
    items = [
        ItemCredit(
            key, own[-1].text, len(own), statistics.fmean(w.score for w in own),
            statistics.fmean(w.steps for w in own), _mean(own, "alone"), _mean(own, "shapley"),
        )
        for key, own in grouped(worths, lambda worth: worth.key).items()
    ]  # fmt: skip
    return sorted(items, key=lambda item: (-item.score, item.steps))


def _mean(worths: Sequence[Worth], field: str) -> float | None:
    values = [value for worth in worths if (value := getattr(worth, field)) is not None]
    return statistics.fmean(values) if values else None


RULES: Mapping[str, float] = {
    "MemRL's Q": 0.0,
    "SimUtil's utility": 0.5,
    "SimUtil's utility with bonus": 0.5,
    "helpful less harmful": 0.0,
    "hit rate": 0.5,
}
"""Published rules, and the value below which an item counts as useless.

The bonus for rarely shown items is taken less its mean over the stream.
"""
_ALPHA, _BETA = 0.3, 0.05


class RuleError(NamedTuple):
    """A distance of a rule from the true worth of items.

    ``rank`` is Spearman's correlation with its 95 % interval, NaN where one of the two is constant
    (:func:`.rank_correlation`). ``harmful`` and ``useful`` count items of
    negative and positive worth; ``kept`` are harmful ones that the rule values, ``dropped`` useful
    ones that it does not.
    """

    rule: str
    items: int
    rank: float
    low: float
    high: float
    harmful: int
    kept: int
    useful: int
    dropped: int


def rule_errors(streams: Iterable[Sequence[EpisodeCredit]]) -> list[RuleError]:
    """Compare published rules with the mean worth of lessons, over the items of all streams.

    Each rule sees the outcome of every episode that showed an item, as its paper has it: MemRL's
    eq. with a rate of .3, RetroAgent's with .05 and its bonus, ACE's counts with every shown bullet
    tagged by the outcome, Memp's share of wins.
    """
    true: list[float] = []
    valued: dict[str, list[float]] = {rule: [] for rule in RULES}
    for episodes in streams:
        outcomes: dict[Key, list[EpisodeResult]] = {}
        for episode in episodes:
            for worth in episode.worths:
                if worth.key.kind == "lesson":
                    outcomes.setdefault(worth.key, []).append(episode.result)
        worths = {item.key: item.score for item in by_item(episodes)}
        total = sum(len(own) + 1 for own in outcomes.values())
        bonus = [math.sqrt(math.log(total) / (len(own) + 1)) for own in outcomes.values()]
        for (key, results), more in zip(outcomes.items(), bonus, strict=True):
            true.append(worths[key])
            values = _values(results, more - statistics.fmean(bonus))
            for rule, value in zip(RULES, values, strict=True):
                valued[rule].append(value)
    return [_error(rule, np.array(true), np.array(valued[rule]), RULES[rule]) for rule in RULES]


def _values(results: Sequence[EpisodeResult], bonus: float) -> tuple[float, ...]:
    """Return the value of an item under each rule, in the order of :data:`RULES`."""
    quality, utility = 0.0, 0.5
    wins = sum(bool(result.success) for result in results)
    for result in results:
        quality += _ALPHA * ((1.0 if result.success else -1.0) - quality)
        utility += _BETA * ((result.normalized or 0.0) - utility)
    shown = len(results)
    return quality, utility, utility + bonus, float(2 * wins - shown), wins / shown


def _error(rule: str, true: Any, valued: Any, least: float) -> RuleError:
    rank, (low, high) = rank_correlation(true, valued) or (math.nan, (math.nan, math.nan))
    harmful, useful = true < 0, true > 0
    counts = (harmful.sum(), (harmful & (valued >= least)).sum(), useful.sum(),
              (useful & (valued < least)).sum())  # fmt: skip
    return RuleError(rule, len(true), rank, low, high, *map(int, counts))
