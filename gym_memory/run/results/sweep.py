"""Score a memory over token budgets: its curve, and the area under it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from gym_memory.run.results.intervals import Interval
from gym_memory.run.results.score import (
    ENGINE_MEMORY,
    TableRow,
    Unit,
    combination,
    estimate,
    grouped,
    table,
)

__all__ = ["NEARLY", "Curve", "area", "at_largest", "budgets", "comparable", "curves"]

NEARLY = 0.95
"""Share of the best score that a budget must reach to count as enough."""


class Curve(NamedTuple):
    """Scores of one memory by budget, the smallest first.

    ``area`` is in [0, 1] (points if raw), None if a budget is missing or exceeded; ``area_ci`` its
    95 % interval over tasks. ``enough`` is the mean tokens recalled at the least budget with
    :data:`NEARLY` the best score that any memory but ``oracle`` has; None if that is not reached.
    """

    env: str
    memory: str
    policy: str
    points: tuple[TableRow, ...]
    area: float | None
    area_ci: Interval | None
    enough: float | None


def budgets(all_units: Iterable[Unit]) -> list[int]:
    """Return the budgets that were played, the smallest first."""
    return sorted({unit.budget for unit in all_units})


def at_largest(all_units: Sequence[Unit]) -> list[Unit]:
    """Return the jobs of each combination under its largest budget."""
    groups = grouped(all_units, lambda u: (u.protocol, *combination(u)))
    most = {key: max(u.budget for u in group) for key, group in groups.items()}
    return [u for u in all_units if u.budget == most[u.protocol, *combination(u)]]


def comparable(all_units: Sequence[Unit]) -> list[Unit]:
    """Return jobs with comparable scores: the area for those of a sweep."""
    found: list[Unit] = []
    for own in grouped(all_units, lambda u: u.protocol).values():
        found += _areas(own) if len(budgets(own)) > 1 else own
    return found


def curves(own: Sequence[Unit]) -> list[Curve]:
    """Return the curve of every combination of one protocol, in order of first appearance."""
    by_combination = grouped(_areas(own), combination)
    cells = grouped(table(own), combination)
    best: dict[tuple[str, str], float] = {}
    for (env, memory, policy), rows in cells.items():
        if memory.partition("?")[0] != ENGINE_MEMORY:
            top = max(row.score for row in rows)
            best[env, policy] = max(best.get((env, policy), 0.0), top)
    found = []
    for (env, memory, policy), rows in cells.items():
        group = by_combination.get((env, memory, policy), [])
        of_area = estimate([u.score for u in group], group) if group else None
        points = tuple(sorted(rows, key=lambda row: row.budget))
        target = NEARLY * best.get((env, policy), 0.0)
        reached = [row.tokens for row in points if row.score >= target > 0]
        found.append(
            Curve(
                env, memory, policy, points,
                of_area.mean if of_area else None,
                of_area.interval() if of_area else None,
                reached[0] if reached else None,
            )
        )  # fmt: skip
    return found


def _areas(own: Sequence[Unit]) -> list[Unit]:
    """Join the jobs of all budgets into one, with the area as its score."""
    every = budgets(own)
    exceeding = {combination(row) for row in table(own) if (row.tokens or 0) > row.budget}
    found = []
    for group in grouped(own, lambda u: (*combination(u), u.seed)).values():
        by_budget = {unit.budget: unit for unit in group}
        if len(by_budget) == len(every) and combination(group[0]) not in exceeding:
            scores = [by_budget[budget].score for budget in every]
            found.append(by_budget[every[-1]]._replace(score=area(every, scores)))
    return found


def area(at: Sequence[int], scores: Sequence[float]) -> float:
    """Return the area under ``scores`` over the logarithm of ``at``, as a share of that under 1.

    >>> area([100, 1000, 10_000], [0.0, 0.5, 1.0])
    0.5
    """
    logs = [math.log(max(budget, 1)) for budget in at]
    return round(float(np.trapezoid(scores, logs)) / (logs[-1] - logs[0]), 12)
