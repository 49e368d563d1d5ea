"""Numbers of a cell that papers report besides the mean score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from gym_memory.core.trajectory import read_rows
from gym_memory.run.results.score import Unit

__all__ = ["GAINS", "MEASURES", "growth"]

_BEST = 3

MEASURES: Mapping[str, Callable[[Sequence[Unit]], float | None]] = {
    "score": lambda own: float(np.mean([unit.score for unit in own])),
    "success": lambda own: _mean([unit.success for unit in own if unit.success is not None]),
    "sigma": lambda own: float(np.std([unit.score for unit in own])),
    "top3": lambda own: float(np.mean(sorted((unit.score for unit in own), reverse=True)[:_BEST])),
    "first": lambda own: _mean([unit.trials[0] for unit in own if unit.trials]),
    "trials": lambda own: _mean([len(unit.trials) for unit in own if unit.success]),
    "improved": lambda own: _mean(
        [unit.trials[-1] > unit.trials[0] for unit in own if unit.trials]
    ),
}
"""Name to a number of one cell: mean, share won, standard deviation over jobs (sigma), mean of the
best three (top3), first trial, trials to a win, share of jobs whose last trial beats the first."""

GAINS: Mapping[str, Callable[[Sequence[tuple[Unit, Unit]]], float | None]] = {
    "gain": lambda pairs: _mean([one.score - base.score for one, base in pairs]),
    "better": lambda pairs: _mean([one.score > base.score for one, base in pairs]),
    "worse": lambda pairs: _mean([one.score < base.score for one, base in pairs]),
}
"""Name to a number of a cell beside a base cell on the same seeds: mean gain, share of gains."""


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def growth(paths: Iterable[str]) -> dict[str, list[tuple[float, float]]]:
    """Return curves by name over the steps of recorded episodes, means of the first of each file.

    ``facts``: all facts of the graph; ``updates``: facts that a step replaced or ended, summed.
    """
    facts: dict[int, list[float]] = {}
    updates: dict[int, list[float]] = {}
    for path in paths:
        ended = 0
        for row in (row for row in read_rows(path) if row["episode"] == 0):
            ended += len(row.get("went", ()))
            facts.setdefault(row["t"], []).append(row.get("stats", {}).get("facts", 0))
            updates.setdefault(row["t"], []).append(ended)
    curves = {"facts": facts, "updates": updates}
    return {
        name: [(float(t), float(np.mean(values))) for t, values in sorted(of.items())]
        for name, of in curves.items()
    }
