"""Compute the numbers of a table's cell: scores, gains, tokens, growth of a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gym_memory.core.trajectory import read_rows
from gym_memory.run.config import EpisodeRow
from gym_memory.run.results.score import Unit

__all__ = ["GAINS", "MEASURES", "TokensPerStep", "growth", "tokens_of"]

_BEST_RUNS = 3
_MIN_RUNS_FOR_SIGMA = 5
"""Least number of runs for a standard deviation."""


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _sigma(own: Sequence[Unit]) -> float | None:
    return float(np.std([unit.score for unit in own])) if len(own) >= _MIN_RUNS_FOR_SIGMA else None


MEASURES: Mapping[str, Callable[[Sequence[Unit]], float | None]] = {
    "score": lambda own: float(np.mean([unit.score for unit in own])),
    "success": lambda own: _mean([unit.success for unit in own if unit.success is not None]),
    "sigma": _sigma,
    "top3": lambda own: float(
        np.mean(sorted((unit.score for unit in own), reverse=True)[:_BEST_RUNS])
    ),
    "first": lambda own: _mean([unit.trials[0] for unit in own if unit.trials]),
    "trials": lambda own: _mean([len(unit.trials) for unit in own if unit.success]),
    "improved": lambda own: _mean(
        [unit.trials[-1] > unit.trials[0] for unit in own if unit.trials]
    ),
    "steps": lambda own: _mean([unit.steps for unit in own if not unit.failed]),
    "levels": lambda own: _mean(
        [unit.counters["max_depth"] - 1 for unit in own if "max_depth" in unit.counters]
    ),
}
"""Name to a number of one cell: mean, share won, standard deviation over five jobs or more (sigma),
mean of the best three (top3), first trial, trials to a win, share of jobs whose last trial beats
the first, steps of the last trial, dungeon levels completed, which
are one fewer than the deepest one reached."""

GAINS: Mapping[str, Callable[[Sequence[tuple[Unit, Unit]]], float | None]] = {
    "gain": lambda pairs: _mean([one.score - base.score for one, base in pairs]),
    "better": lambda pairs: _mean([one.score > base.score for one, base in pairs]),
    "worse": lambda pairs: _mean([one.score < base.score for one, base in pairs]),
}
"""Name to a number of a cell beside a base cell on the same seeds: mean gain, share of gains."""


class TokensPerStep(NamedTuple):
    """Prompt and completion tokens per step, over all calls of policy and memory."""

    prompt: float
    completion: float


def tokens_of(rows: Iterable[EpisodeRow], per: str = "step") -> TokensPerStep | None:
    """Return the tokens of all language models per step or ``task``; None without a model."""
    results = [row.result for row in rows]
    steps = max(sum(1 if per == "task" else result.steps for result in results), 1)
    prompt, completion = (
        sum(result.counters.get(f"llm_{kind}_tokens", 0) for result in results) / steps
        for kind in TokensPerStep._fields
    )
    return TokensPerStep(prompt, completion) if prompt else None


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
