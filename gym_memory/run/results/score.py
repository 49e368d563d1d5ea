"""Score rows: means with intervals, and differences between pairs.

A job with a failed episode scores 0 and counts in every mean of scores. Several seeds may play the
same task, so the unit of all intervals is the task (:mod:`~gym_memory.run.results.intervals`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.core.settings import check_name
from gym_memory.draw.page import table as html_table
from gym_memory.draw.svg import short_spec
from gym_memory.run import EpisodeResult
from gym_memory.run.config import EpisodeRow, Job, format_seeds
from gym_memory.run.protocols import make_protocol
from gym_memory.run.results import intervals
from gym_memory.run.results.intervals import Interval
from gym_memory.run.results.labels import models_of, step_limit

__all__ = ["ENGINE_MEMORY", "GAP_NUMBERS", "MOST_FALLBACKS", "SCALE", "Difference", "ScoreTable"]
__all__ += ["TableRow", "Unit", "combination", "differences", "estimate", "format_interval"]
__all__ += ["format_number", "format_p", "format_score", "grouped", "is_raw", "mean_counters"]
__all__ += ["score_by_trial", "score_cells", "score_lines", "seeds_go_round", "step_curve", "table"]
__all__ += ["format_cost", "notes_on", "stopped_jobs", "tasks", "total_cost", "units"]
__all__ += ["with_fallbacks"]

ENGINE_MEMORY = "oracle"
"""Control that sees all facts of the engine; comparisons of memories leave it out."""

Axis = Literal["memory", "policy"]
ALL_ENVS = "all"
SCALE = "Scores are normalized to [0, 1], or points where no best score is known"
"""Sentence about the numbers of a table."""
MOST_FALLBACKS = 0.05
"""Share of steps decided by fallbacks above which a reader is warned."""
_MOST_NOTES = 20
GAP_NUMBERS = ("n", "difference", "95 %", "p, corrected", "better", "equal", "worse")
"""Columns of numbers in a table of differences."""
_SCORES = ("n", "failed", "score", "95 %", "success", "steps")
_COSTS = ("memory ms/step", "memory tokens", "USD")


class Unit(NamedTuple):
    """A job, reduced to the values that statistics use.

    ``task_id`` is empty if it failed before the first reset, ``failed`` if it did not fail.
    ``score`` is the job's value, 0 when failed: normalized to [0, 1], or points if ``raw``, where
    no best score is known. ``memory_ms`` is per step, ``tokens`` per observation. ``curve`` has
    points ``(step, value)``, ``trials`` the value of each episode. ``fallbacks`` is the share of
    steps that a language agent left to chance or to a default. ``episodes`` has all results.
    """

    protocol: str
    env: str
    memory: str
    policy: str
    budget: int
    seed: int
    task_id: str
    failed: str
    score: float
    raw: bool
    success: bool | None
    steps: int
    memory_ms: float
    tokens: float
    cost_usd: float | None
    curve: tuple[tuple[int, float], ...]
    trials: tuple[float, ...]
    counters: dict[str, float]
    fallbacks: float = 0.0
    episodes: tuple[EpisodeResult, ...] = ()


def units(rows: Iterable[EpisodeRow]) -> list[Unit]:
    """Group the episodes by job, in order of first appearance; leave out the stopped jobs."""
    jobs = grouped(rows, lambda row: row.job).values()
    return [_unit(group) for group in jobs if not any(row.result.stopped for row in group)]


def stopped_jobs(rows: Iterable[EpisodeRow]) -> list[Job]:
    """Return the jobs that a spending limit stopped; they have no score yet."""
    return list(dict.fromkeys(row.job for row in rows if row.result.stopped))


def notes_on(all_units: Iterable[Unit]) -> list[str]:
    """Return the distinct notes on calls of language models."""
    results = (result for unit in all_units for result in unit.episodes)
    return list(dict.fromkeys(note for result in results for note in result.notes))[:_MOST_NOTES]


def _unit(rows: Sequence[EpisodeRow]) -> Unit:
    job, results = rows[0].job, [row.result for row in rows]
    failed = next((r.failed for r in results if r.failed), "")
    played = [r for r in results if not r.failed] or results
    weights = [r.steps + 1 for r in played]
    counters = _added(r.counters for r in results)
    unguided = counters.get("fallbacks", 0) + counters.get("invalid_actions", 0)
    summary = None if failed else make_protocol(job.protocol).summarize(results)
    return Unit(
        protocol=job.protocol,
        env=job.env,
        memory=job.memory,
        policy=job.policy,
        budget=job.budget,
        seed=job.seed,
        task_id=next((r.task_id for r in results if r.task_id), ""),
        failed=failed,
        score=summary.score if summary else 0.0,
        raw=any(r.normalized is None for r in results),
        success=summary.success if summary else False,
        steps=summary.steps if summary else sum(r.steps for r in results),
        memory_ms=float(np.average([r.memory_ms for r in played], weights=weights)),
        tokens=float(np.average([r.tokens for r in played], weights=weights)),
        cost_usd=total_cost(r.cost_usd if r.priced else None for r in results),
        curve=summary.curve if summary else ((0, 0.0),),
        trials=tuple(0.0 if r.failed else r.value for r in results),
        counters=counters,
        fallbacks=min(unguided / max(sum(r.steps for r in results), 1), 1.0),
        episodes=tuple(results),
    )


def _added(counts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for count in counts:
        for name, value in count.items():
            total[name] = total.get(name, 0) + value
    return total


def grouped(items: Iterable[Any], key: Any) -> dict[Any, list[Any]]:
    """Group items by key, in order of first appearance."""
    groups: dict[Any, list[Any]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def combination(of: Unit | TableRow | Job) -> tuple[str, str, str]:
    """Return environment, memory and policy."""
    return of.env, of.memory, of.policy


@dataclasses.dataclass(frozen=True)
class TableRow:
    """A line of a results table: a combination, averaged over its ``n`` jobs (seeds).

    ``score`` is the mean of normalized scores, or of points if ``raw``, a failed job counting 0;
    ``score_ci`` its 95 % interval over tasks, None for a single task and where a job failed.
    ``success`` is a share of the jobs, None if a win is undefined. ``steps``, ``memory_ms`` (per
    step) and ``tokens`` (per observation) are means of the jobs that did not fail, None if all
    did; ``cost_usd`` is a sum over all. ``n_tasks`` is less than ``n`` if seeds repeat tasks.
    ``fallbacks`` is the share of steps that a language agent left to chance or a default.
    ``models`` answered calls of policy or memory; ``max_steps`` is the limit that the environment's
    name sets, None for the game's own.
    """

    env: str
    memory: str
    policy: str
    n: int
    n_failed: int
    score: float
    score_ci: Interval | None
    success: float | None
    steps: float | None
    memory_ms: float | None
    tokens: float | None
    cost_usd: float | None
    protocol: str
    n_tasks: int
    budget: int
    raw: bool = False
    fallbacks: float | None = 0.0
    models: tuple[str, ...] = ()
    seeds: str = ""
    max_steps: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain values; the interval as a list of two."""
        record = {**dataclasses.asdict(self), "models": list(self.models)}
        for name, value in record.items():
            if isinstance(value, float):
                record[name] = round(value, 6)
        record["score_ci"] = [round(v, 6) for v in self.score_ci] if self.score_ci else None
        return record


class ScoreTable(list[TableRow]):
    """Rows of scores; a notebook shows them as a table."""

    def _repr_html_(self) -> str:
        return score_cells(self)


def table(all_units: Iterable[Unit]) -> ScoreTable:
    """Average over seeds; one row per combination, in order of first appearance."""
    groups = grouped(all_units, lambda u: (u.protocol, *combination(u), u.budget))
    return ScoreTable(_table_row(group) for group in groups.values())


def _table_row(group: Sequence[Unit]) -> TableRow:
    first = group[0]
    played = [u for u in group if not u.failed]

    def mean(name: str) -> float | None:
        return float(np.mean([getattr(u, name) for u in played])) if played else None

    scores = [u.score for u in group]
    won = [u.success for u in group]
    return TableRow(
        env=first.env,
        memory=first.memory,
        policy=first.policy,
        n=len(group),
        n_tasks=len(set(tasks(group))),
        n_failed=len(group) - len(played),
        score=float(np.mean(scores)),
        score_ci=None if len(played) < len(group) else estimate(scores, group).interval(),
        success=None if None in won else sum(map(bool, won)) / len(won),
        steps=mean("steps"),
        memory_ms=mean("memory_ms"),
        tokens=mean("tokens"),
        cost_usd=total_cost(u.cost_usd for u in group),
        protocol=first.protocol,
        budget=first.budget,
        raw=is_raw(group),
        fallbacks=mean("fallbacks"),
        models=models_of(result for unit in group for result in unit.episodes),
        seeds=format_seeds(sorted({unit.seed for unit in group})),
        max_steps=step_limit(first.env),
    )


def is_raw(group: Iterable[Unit]) -> bool:
    """True if the scores of jobs are points, not shares of a best score."""
    return any(unit.raw for unit in group)


def estimate(values: intervals.Values, group: Sequence[Unit]) -> intervals.Estimate:
    """Estimate the mean of a value of each job: in [0, 1], or without bounds if they are raw."""
    return (intervals.values if is_raw(group) else intervals.scores)(values, tasks(group))


def tasks(group: Iterable[Unit]) -> list[str]:
    """Return the task of each job, or its seed if it failed before the first reset."""
    return [u.task_id or f"seed {u.seed}" for u in group]


def mean_counters(group: Sequence[Unit]) -> dict[str, float]:
    """Return the mean of each counter over jobs, without counters that are 0."""
    total = _added(u.counters for u in group)
    return {name: value / len(group) for name, value in total.items() if value}


def score_by_trial(group: Sequence[Unit]) -> list[tuple[float, Interval | None]]:
    """Return the mean score of each trial over seeds, with its interval.

    A seed with fewer trials repeats the score of its last one, a win or the 0 of a failure.
    """
    length = max(len(u.trials) for u in group)
    played = [u.trials + u.trials[-1:] * (length - len(u.trials)) for u in group]
    estimates = [estimate(column, group) for column in zip(*played, strict=True)]
    return [(found.mean, found.interval()) for found in estimates]


@dataclasses.dataclass(frozen=True)
class Difference:
    """A gain of ``name`` over ``against``, paired by task and seed.

    ``env`` is ``all`` for all environments together; ``other`` is the policy (or memory) that both
    have. ``difference`` is the mean of ``n`` pairs, in [-1, 1] or in points; ``ci`` its 95 %
    interval over tasks, None for a single one. ``p`` is two-sided and corrected (Holm), separately
    for all environments together. Both are None if a job failed. ``better``, ``equal`` and
    ``worse`` count pairs.
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
    p: float | None
    better: int
    equal: int
    worse: int

    def cells(self) -> tuple[str, ...]:
        """Format the numbers in the columns that :data:`GAP_NUMBERS` names."""
        return (
            str(self.n), f"{self.difference:+.3f}", format_interval(self.ci, "+"),
            format_p(self.p), str(self.better), str(self.equal), str(self.worse),
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        record = dataclasses.asdict(self)
        record["difference"] = round(self.difference, 6)
        record["ci"] = [round(v, 6) for v in self.ci] if self.ci else None
        record["p"] = None if self.p is None else round(self.p, 6)
        return record


def differences(all_units: Sequence[Unit], axis: Axis, against: str = "") -> list[Difference]:
    """Compare every memory (or policy) with one of them, by default the control, else the first.

    Pairs share protocol, budget, environment, seed and task, and the policy (or memory). A failed
    job counts with score 0.
    """
    names = list(dict.fromkeys(getattr(u, axis) for u in all_units))
    if against:
        check_name(axis, against, names)
    control = {"memory": "none", "policy": "random"}[axis]
    base = against or (control if control in names else next(iter(names), ""))
    other: Axis = "policy" if axis == "memory" else "memory"
    found = []
    cells = grouped(all_units, lambda u: (u.protocol, getattr(u, other), u.budget))
    for (protocol, shared, _), cell in cells.items():
        by_name = grouped(cell, lambda u: getattr(u, axis))
        for name in [n for n in by_name if n != base and base in by_name]:
            pairs = _pairs(by_name[name], by_name[base])
            by_env = grouped(pairs, lambda pair: pair[0].env)
            shares = [p for own in by_env.values() if not _raw_pairs(own) for p in own]
            several = len({a.env for a, _ in shares}) > 1  # points of two games have no mean
            groups = [*by_env.items(), *([(ALL_ENVS, shares)] if several else [])]
            for env, group in groups:
                gaps = [a.score - b.score for a, b in group]
                of_gaps = intervals.values if _raw_pairs(group) else intervals.gaps
                gap_estimate = of_gaps(gaps, tasks(a for a, _ in group))
                whole = not any(unit.failed for pair in group for unit in pair)
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
                        ci=gap_estimate.interval() if whole else None,
                        p=gap_estimate.p_value() if whole else None,
                        better=sum(gap > 0 for gap in gaps),
                        equal=sum(gap == 0 for gap in gaps),
                        worse=sum(gap < 0 for gap in gaps),
                    )
                )
    return _corrected(found)


def _raw_pairs(pairs: Iterable[tuple[Unit, Unit]]) -> bool:
    return is_raw(unit for pair in pairs for unit in pair)


def _corrected(found: list[Difference]) -> list[Difference]:
    """Correct p-values for multiple tests; rows over all environments are a family of their own."""
    for over_all in (False, True):
        family = {
            i: gap.p
            for i, gap in enumerate(found)
            if (gap.env == ALL_ENVS) is over_all and gap.p is not None
        }
        for i, p in zip(family, intervals.holm([*family.values()]), strict=True):
            found[i] = dataclasses.replace(found[i], p=p)
    return found


def _pairs(left: Iterable[Unit], right: Iterable[Unit]) -> list[tuple[Unit, Unit]]:
    """Pair units of the same environment, seed and task."""
    partners = {(u.env, u.seed): u for u in right}
    pairs = [(u, partners[u.env, u.seed]) for u in left if (u.env, u.seed) in partners]
    # The task of a job that failed before its first reset is unknown, so its seed stands for it.
    return [(a, b) for a, b in pairs if a.task_id == b.task_id or not (a.task_id and b.task_id)]


def step_curve(
    group: Sequence[Unit], longest: int, points: int = 200
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return steps up to ``longest``, the mean score after each, and its interval ``(points, 2)``.

    A finished episode keeps its score. The interval of a single job is its score.
    """
    steps = np.unique(np.linspace(0, longest, points).round())
    scores = np.zeros((len(group), len(steps)))
    for row, unit in enumerate(group):
        for start, score in unit.curve:
            scores[row, steps >= start] = score
    band = [estimate(column, group).interval() or (column[0],) * 2 for column in scores.T]
    return steps, scores.mean(axis=0), np.array(band)


def seeds_go_round(row: TableRow) -> str:
    """Return a sentence about a row whose seeds play some tasks more than once."""
    return (
        f"the {row.n} seeds of {row.env} play {row.n_tasks} tasks. Intervals count tasks; take "
        "as many seeds as there are tasks, or a split that has more."
    )


def with_fallbacks(rows: Iterable[TableRow]) -> list[TableRow]:
    """Return the rows in which fallbacks decided more than 5 % of the steps."""
    return [row for row in rows if (row.fallbacks or 0) > MOST_FALLBACKS]


def format_p(p: float | None) -> str:
    """Format a p-value; None becomes a dash.

    >>> format_p(0.0301), format_p(1e-7)
    ('0.030', '< 0.001')
    """
    if p is None:
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def format_interval(interval: Interval | None, sign: str = "") -> str:
    """Format an interval.

    >>> format_interval((0.25, 0.5)), format_interval(None)
    ('[0.25, 0.50]', '–')
    """
    return "–" if interval is None else f"[{interval[0]:{sign}.2f}, {interval[1]:{sign}.2f}]"


def format_score(row: TableRow) -> str:
    """Format the score of a row; points are marked as such."""
    return f"{row.score:.2f} points" if row.raw else f"{row.score:.3f}"


def format_number(value: float | None, form: str) -> str:
    """Format a number; None becomes a dash."""
    return "–" if value is None else f"{value:{form}}"


def total_cost(costs: Iterable[float | None]) -> float | None:
    """Return the sum of costs; None if one of them is unknown."""
    listed = list(costs)
    return None if None in listed else sum(cost or 0.0 for cost in listed)


def format_cost(cost_usd: float | None) -> str:
    """Format US dollars; an unknown price becomes a question mark.

    >>> format_cost(0.126), format_cost(None)
    ('0.13', '?')
    """
    return "?" if cost_usd is None else f"{cost_usd:.2f}"


def score_lines(rows: Sequence[TableRow]) -> tuple[list[str], list[list[Any]]]:
    """Return the header and the cells of rows of scores; with budgets if there are several."""
    swept = len({row.budget for row in rows}) > 1
    unguided = ["fallbacks"] if with_fallbacks(rows) else []
    header = ["environment", "memory", "policy", *(["budget"] if swept else [])]
    header += [*_SCORES, *unguided, *_COSTS]
    return header, [
        [
            *map(short_spec, combination(row)),
            *([f"{row.budget:,}"] if swept else []),
            str(row.n), str(row.n_failed),
            format_score(row), format_interval(row.score_ci), format_number(row.success, ".2f"),
            format_number(row.steps, ".1f"),
            *(format_number(row.fallbacks, ".0%") for _ in unguided),
            format_number(row.memory_ms, ".3f"), format_number(row.tokens, ".0f"),
            format_cost(row.cost_usd),
        ]
        for row in rows
    ]  # fmt: skip


def score_cells(rows: Sequence[TableRow]) -> str:
    """Return rows of scores as an HTML table."""
    header, lines = score_lines(rows)
    return html_table(
        header,
        lines,
        caption=f"{SCALE}; 95 % intervals take tasks as their unit.",
        numbers=("budget", *_SCORES, "fallbacks", *_COSTS),
    )
