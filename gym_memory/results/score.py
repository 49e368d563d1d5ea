"""Scores over rows: means with intervals, and differences between what was paired.

The unit of all statistics is a job: one seed of one combination. Its score is what its protocol
makes of its episodes; a job with a failed episode scores 0 and stays in every mean of scores.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.errors import UnknownNameError
from gym_memory.experiment.jobs import EpisodeRow
from gym_memory.experiment.protocols import make_protocol

__all__ = [
    "Difference",
    "Interval",
    "TableRow",
    "Unit",
    "bootstrap_interval",
    "differences",
    "mean_counters",
    "score_by_trial",
    "step_curve",
    "table",
    "units",
]

LEVEL = 0.95
N_RESAMPLES = 10_000
_BLOCK = 2_000_000
Interval = tuple[float, float]
Axis = Literal["memory", "policy"]


class Unit(NamedTuple):
    """A job as statistics see it.

    Attributes:
        protocol: The protocol it was played under.
        env: Environment, with its parameters; likewise ``memory`` and ``policy``.
        seed: Its seed.
        task_id: The task instance; empty when it failed before the first reset.
        failed: Why it failed; empty when it did not.
        score: Normalized score in [0, 1]; 0 when it failed.
        success: Whether the task was won.
        steps: Environment steps that the score took.
        memory_ms: Wall milliseconds of the memory per step.
        tokens: Tokens of the recalled memory per observation.
        cost_usd: Money spent.
        curve: Points ``(step, normalized score)`` where the score changed.
        trials: Normalized score of each episode.
        counters: Further counts of the policy and the memory, over all episodes.
    """

    protocol: str
    env: str
    memory: str
    policy: str
    seed: int
    task_id: str
    failed: str
    score: float
    success: bool
    steps: int
    memory_ms: float
    tokens: float
    cost_usd: float
    curve: tuple[tuple[int, float], ...]
    trials: tuple[float, ...]
    counters: dict[str, float]


def units(rows: Iterable[EpisodeRow]) -> list[Unit]:
    """Bring the episodes of each job together, in order of first appearance."""
    return [_unit(group) for group in _grouped(rows, lambda row: row.job).values()]


def _unit(rows: Sequence[EpisodeRow]) -> Unit:
    job, results = rows[0].job, [row.result for row in rows]
    failed = next((r.failed for r in results if r.failed), "")
    played = [r for r in results if not r.failed] or results
    weights = [r.steps + 1 for r in played]
    summary = None if failed else make_protocol(job.protocol).summarize(results)
    return Unit(
        protocol=job.protocol,
        env=job.env,
        memory=job.memory,
        policy=job.policy,
        seed=job.seed,
        task_id=next((r.task_id for r in results if r.task_id), ""),
        failed=failed,
        score=summary.score if summary else 0.0,
        success=summary.success if summary else False,
        steps=summary.steps if summary else sum(r.steps for r in results),
        memory_ms=float(np.average([r.memory_ms for r in played], weights=weights)),
        tokens=float(np.average([r.tokens for r in played], weights=weights)),
        cost_usd=sum(r.cost_usd for r in results),
        curve=summary.curve if summary else ((0, 0.0),),
        trials=tuple(0.0 if r.failed else r.normalized for r in results),
        counters=_added(r.counters for r in results),
    )


def _added(counts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for count in counts:
        for name, value in count.items():
            total[name] = total.get(name, 0) + value
    return total


def _grouped(items: Iterable[Any], key: Any) -> dict[Any, list[Any]]:
    """Items by key, in order of first appearance."""
    groups: dict[Any, list[Any]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


# ---------------------------------------------------------------- intervals


def bootstrap_interval(
    values: Sequence[float] | NDArray[np.float64],
    *,
    level: float = LEVEL,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> Interval | None:
    """Percentile bootstrap interval of the mean.

    Args:
        values: Independent values, any order; the order does not change the answer.
        level: Share of the resampled means inside, in (0, 1).
        n_resamples: Number of resamples.
        seed: Seed of the resampling.

    Returns:
        ``(low, high)``, or None for fewer than two values: one value says nothing about how
        values vary.
    """
    # Sorted, so that the answer depends on the values and not on who finished first.
    data = np.sort(np.asarray(values, dtype=np.float64))
    n = len(data)
    if n < 2:
        return None
    rng = np.random.default_rng(seed)
    block = max(1, _BLOCK // n)
    means = np.concatenate(
        [
            data[rng.integers(n, size=(min(block, n_resamples - start), n))].mean(axis=1)
            for start in range(0, n_resamples, block)
        ]
    )
    tail = (1.0 - level) / 2
    # A mean of equal values may differ from them in the last bit: keep it among them.
    low, high = np.clip(np.quantile(means, [tail, 1.0 - tail]), data[0], data[-1])
    return float(low), float(high)


# ---------------------------------------------------------------- the table


@dataclasses.dataclass(frozen=True)
class TableRow:
    """One line of a results table: a combination, averaged over its seeds.

    Attributes:
        env: Environment; likewise ``memory`` and ``policy``.
        n: Jobs (seeds), the failed ones included.
        n_failed: Failed jobs; each scores 0.
        score: Mean normalized score in [0, 1].
        score_ci: Its 95 % bootstrap interval; None for a single seed.
        success: Share of the tasks that were won.
        steps: Mean environment steps of the jobs that did not fail; None if all did. Likewise
            ``memory_ms`` (a step) and ``tokens`` (an observation).
        memory_ms: See ``steps``.
        tokens: See ``steps``.
        cost_usd: Money spent in all, on failed jobs too.
        protocol: The protocol; rows of different ones never share a table.
    """

    env: str
    memory: str
    policy: str
    n: int
    n_failed: int
    score: float
    score_ci: Interval | None
    success: float
    steps: float | None
    memory_ms: float | None
    tokens: float | None
    cost_usd: float
    protocol: str

    def to_json(self) -> dict[str, Any]:
        """Plain values; the interval as a list of two."""
        record = dataclasses.asdict(self)
        for name, value in record.items():
            if isinstance(value, float):
                record[name] = round(value, 6)
        record["score_ci"] = [round(v, 6) for v in self.score_ci] if self.score_ci else None
        return record


def table(all_units: Iterable[Unit]) -> list[TableRow]:
    """Average over seeds; one row a combination, in order of first appearance."""
    groups = _grouped(all_units, lambda u: (u.protocol, u.env, u.memory, u.policy))
    return [_table_row(group) for group in groups.values()]


def _table_row(group: Sequence[Unit]) -> TableRow:
    first = group[0]
    played = [u for u in group if not u.failed]

    def mean(name: str) -> float | None:
        return float(np.mean([getattr(u, name) for u in played])) if played else None

    scores = [u.score for u in group]
    return TableRow(
        env=first.env,
        memory=first.memory,
        policy=first.policy,
        n=len(group),
        n_failed=len(group) - len(played),
        score=float(np.mean(scores)),
        score_ci=bootstrap_interval(scores),
        success=float(np.mean([u.success for u in group])),
        steps=mean("steps"),
        memory_ms=mean("memory_ms"),
        tokens=mean("tokens"),
        cost_usd=sum(u.cost_usd for u in group),
        protocol=first.protocol,
    )


def mean_counters(group: Sequence[Unit]) -> dict[str, float]:
    """Mean of each counter over jobs, without those that never counted anything."""
    total = _added(u.counters for u in group)
    return {name: value / len(group) for name, value in total.items() if value}


def score_by_trial(group: Sequence[Unit]) -> list[tuple[float, Interval | None]]:
    """Mean score of each trial over seeds.

    Behind the last trial of a seed its score goes on: the win that ended the trials, or the 0 of
    a failure.
    """
    length = max(len(u.trials) for u in group)
    played = [u.trials + u.trials[-1:] * (length - len(u.trials)) for u in group]
    columns = zip(*played, strict=True)
    return [(float(np.mean(column)), bootstrap_interval(column)) for column in columns]


# ---------------------------------------------------------------- differences


@dataclasses.dataclass(frozen=True)
class Difference:
    """How much better ``name`` scores than ``against``, paired on task and seed.

    Attributes:
        protocol: The protocol.
        axis: What is compared, ``memory`` or ``policy``.
        name: The compared value of it.
        against: The value it is compared with.
        env: Environment; ``all`` for the pairs of all environments together.
        other: What both sides share on the other axis.
        n: Pairs.
        difference: Mean difference of the normalized scores, in [-1, 1].
        ci: Its 95 % bootstrap interval; None for a single pair.
        better: Pairs in which ``name`` scores higher; likewise ``equal`` and ``worse``.
        equal: See ``better``.
        worse: See ``better``.
    """

    protocol: str
    axis: Axis
    name: str
    against: str
    env: str
    other: str
    n: int
    difference: float
    ci: Interval | None
    better: int
    equal: int
    worse: int

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        record = dataclasses.asdict(self)
        record["difference"] = round(self.difference, 6)
        record["ci"] = [round(v, 6) for v in self.ci] if self.ci else None
        return record


def differences(all_units: Sequence[Unit], axis: Axis, against: str = "") -> list[Difference]:
    """Compare every memory (or policy) with one of them.

    Pairs are jobs of the same protocol, environment, seed and task, and of the same policy (or
    memory). A failed job takes part with score 0.

    Args:
        all_units: Jobs, possibly of several protocols.
        axis: What to compare.
        against: What to compare with; empty takes the control (``none``, ``random``) where it
            was played, else the first that was.

    Raises:
        UnknownNameError: ``against`` was not played.
    """
    names = list(dict.fromkeys(getattr(u, axis) for u in all_units))
    if against and against not in names:
        raise UnknownNameError(axis, against, names)
    control = {"memory": "none", "policy": "random"}[axis]
    base = against or (control if control in names else next(iter(names), ""))
    other: Axis = "policy" if axis == "memory" else "memory"
    found = []
    cells = _grouped(all_units, lambda u: (u.protocol, getattr(u, other)))
    for (protocol, shared), cell in cells.items():
        by_name = _grouped(cell, lambda u: getattr(u, axis))
        for name in [n for n in by_name if n != base and base in by_name]:
            pairs = _pairs(by_name[name], by_name[base])
            by_env = _grouped(pairs, lambda pair: pair[0].env)
            groups = [*by_env.items(), *([("all", pairs)] if len(by_env) > 1 else [])]
            for env, group in groups:
                gaps = [a.score - b.score for a, b in group]
                found.append(
                    Difference(
                        protocol=protocol,
                        axis=axis,
                        name=name,
                        against=base,
                        env=env,
                        other=shared,
                        n=len(gaps),
                        difference=float(np.mean(gaps)),
                        ci=bootstrap_interval(gaps),
                        better=sum(gap > 0 for gap in gaps),
                        equal=sum(gap == 0 for gap in gaps),
                        worse=sum(gap < 0 for gap in gaps),
                    )
                )
    return found


def _pairs(left: Iterable[Unit], right: Iterable[Unit]) -> list[tuple[Unit, Unit]]:
    """Units of the same environment, seed and task."""
    partners = {(u.env, u.seed): u for u in right}
    pairs = [(u, partners[u.env, u.seed]) for u in left if (u.env, u.seed) in partners]
    # A job that failed before its first reset does not know its task; the seed names it.
    return [(a, b) for a, b in pairs if a.task_id == b.task_id or not (a.task_id and b.task_id)]


def step_curve(
    group: Sequence[Unit], longest: int, points: int = 200
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Mean score after each number of steps, with its interval.

    A finished episode keeps its score. Of a single job the interval is the score itself.

    Args:
        group: Jobs to average over.
        longest: Number of steps to go to, >= 1.
        points: Numbers of steps to look at, at most.

    Returns:
        Steps ``(points,)``, means ``(points,)`` and intervals ``(points, 2)``.
    """
    steps = np.unique(np.linspace(0, longest, points).round())
    scores = np.zeros((len(group), len(steps)))
    for row, unit in enumerate(group):
        for start, score in unit.curve:
            scores[row, steps >= start] = score
    n = len(group)
    # A resample is how often it draws each job: all steps at once by one product.
    draws = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=1000) / n
    tail = (1.0 - LEVEL) / 2
    band = np.quantile(draws @ scores, [tail, 1.0 - tail], axis=0).T
    return steps, scores.mean(axis=0), np.clip(band, 0.0, 1.0)
