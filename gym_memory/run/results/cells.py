"""Format scores: numbers for a reader, and a table for a page and a notebook."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gym_memory.core.html import table
from gym_memory.run.results.intervals import Interval

__all__ = ["format_interval", "format_p", "score_cells", "seeds_go_round"]

_SCORES = ("n", "failed", "score", "95 %", "success", "steps")
_COSTS = ("memory ms/step", "memory tokens", "USD")


def seeds_go_round(row: Any) -> str:
    """Return a sentence about a row whose seeds play some tasks more than once."""
    return (
        f"the {row.n} seeds of {row.env} play {row.n_tasks} tasks. Intervals count tasks; take "
        "as many seeds as there are tasks, or a split that has more."
    )


def format_p(p: float) -> str:
    """Return a p-value for a reader.

    >>> format_p(0.0301), format_p(1e-7)
    ('0.030', '< 0.001')
    """
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def format_interval(interval: Interval | None, sign: str = "") -> str:
    """Return an interval for a reader.

    >>> format_interval((0.25, 0.5)), format_interval(None)
    ('[0.25, 0.50]', '–')
    """
    return "–" if interval is None else f"[{interval[0]:{sign}.2f}, {interval[1]:{sign}.2f}]"


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else f"{value:{form}}"


def score_cells(rows: Iterable[Any]) -> str:
    """Return rows of scores (:class:`gym_memory.run.results.score.TableRow`) as an HTML table."""
    rows = list(rows)
    swept = len({row.budget for row in rows}) > 1
    cells = [
        (
            *(row.env, row.memory, row.policy, *([f"{row.budget:,}"] if swept else [])),
            *(str(row.n), str(row.n_failed)),
            *(f"{row.score:.3f}", format_interval(row.score_ci), f"{row.success:.2f}"),
            *(_number(row.steps, ".1f"), _number(row.memory_ms, ".3f")),
            *(_number(row.tokens, ".0f"), f"{row.cost_usd:.2f}"),
        )
        for row in rows
    ]
    return table(
        ("environment", "memory", "policy", *(["budget"] if swept else []), *_SCORES, *_COSTS),
        cells,
        caption="Scores are normalized to [0, 1]; 95 % intervals take tasks as their unit.",
        numbers=("budget", *_SCORES, *_COSTS),
    )
