"""Plot the learning curves of several trainings in one figure, over steps and over time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.core.errors import ResultsError
from gym_memory.core.files import parse_json, read_bytes, read_json, write_atomic
from gym_memory.core.records import LARGEST
from gym_memory.core.training_folder import CONFIG, CURVE
from gym_memory.draw.comparison import Section, TitledTable, comparison, comparison_page
from gym_memory.draw.page import table
from gym_memory.draw.svg import PALETTE, Figure, Line, line_figure, picture
from gym_memory.run.results.score import format_number

__all__ = ["LEARNING_HEADS", "TrainingRun", "is_training", "learning_page", "learning_table"]
__all__ += ["read_training", "write_learning"]

_MEASURES = {
    "valid_score": "Score on the valid games",
    "train_score": "Score of training, mean since the last measurement",
    "speed": "Environment steps per CPU second",
}
"""Measures that every learner records, and their titles."""
_COUNTS = ("steps", "episodes", "updates", "cpu_seconds", "valid_success", "valid_steps")
"""Columns of a curve file that are not plotted."""
LEARNING_HEADS = (
    "run",
    "learner",
    "environment",
    "memory",
    "steps",
    "CPU s",
    "valid score",
    "best",
    "at",
)


class TrainingRun(NamedTuple):
    """A training: the name of its folder, its labels, and one row per measurement."""

    name: str
    learner: str
    env: str
    memory: str
    rows: list[dict[str, Any]]

    @property
    def best(self) -> dict[str, Any]:
        """Return the measurement with the best valid score; empty before the first."""
        return max(self.rows, key=lambda row: row.get("valid_score") or 0.0, default={})


def is_training(folder: str | os.PathLike[str]) -> bool:
    """True if a folder has a training."""
    try:
        record = read_json(Path(folder) / CONFIG)
    except (OSError, ValueError):
        return False
    return isinstance(record, dict) and "baseline" in record and "format" not in record


def read_training(folder: str | os.PathLike[str]) -> TrainingRun:
    """Read a training, finished or not."""
    path = Path(folder)
    curve = path / CURVE
    try:
        config = read_json(path / CONFIG)
        lines = read_bytes(curve) if curve.is_file() else b""
        rows = [parse_json(line) for line in lines.splitlines() if line]
        for row in rows:
            if not all(
                isinstance(row[name], int | float) and abs(row[name]) <= LARGEST
                for name in ("steps", "cpu_seconds")
            ):
                raise ValueError("expected numbers")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ResultsError(f"expected a training in {str(path)!r}: {error!r}") from error
    before = {"steps": 0, "cpu_seconds": 0.0}
    for row in rows:
        took = row["cpu_seconds"] - before["cpu_seconds"]
        row["speed"] = (row["steps"] - before["steps"]) / took if took > 0 else None
        before = row
    learner, env, memory = (str(config.get(name, "")) for name in ("baseline", "env", "memory"))
    return TrainingRun(path.name, learner, env, memory, rows)


def learning_table(runs: Sequence[TrainingRun]) -> list[list[str]]:
    """Return the cells of a table with one row per training, under :data:`LEARNING_HEADS`."""
    lines = []
    for run in runs:
        last, best = (run.rows[-1] if run.rows else {}), run.best
        numbers = (last.get("steps"), last.get("cpu_seconds"), last.get("valid_score"))
        lines.append(
            [
                run.name, run.learner, run.env, run.memory,
                *map(format_number, numbers, (",", ",.0f", ".3f")),
                format_number(best.get("valid_score"), ".3f"),
                format_number(best.get("steps"), ","),
            ]
        )  # fmt: skip
    return lines


def _figures(runs: Sequence[TrainingRun], colour: dict[str, int]) -> list[Figure]:
    names = dict.fromkeys(name for run in runs for row in run.rows for name in row)
    more = {name: name.replace("_", " ").capitalize() for name in names if name not in _COUNTS}
    figures = []
    for name, title in (_MEASURES | {n: more[n] for n in more if n not in _MEASURES}).items():
        span = (0.0, 1.0) if name.endswith("_score") else None
        halves = [
            line_figure(name, title, [(f"against {words}", lines)], words, name, span)
            for along, words in (("steps", "environment steps"), ("cpu_seconds", "CPU seconds"))
            if (lines := _lines(runs, name, along, colour))
        ]
        if halves:
            panels = tuple(panel for half in halves for panel in half.panels)
            figures.append(Figure(name, title, panels, "\n".join(half.csv for half in halves)))
    return figures


def _lines(
    runs: Sequence[TrainingRun], name: str, along: str, colour: dict[str, int]
) -> list[Line]:
    lines = []
    for run in runs:
        points = [
            (float(row[along]), float(row[name]))
            for row in run.rows
            if isinstance(row.get(name), int | float) and abs(row[name]) <= LARGEST
        ]
        if points:
            names = (run.env, run.name, run.learner, f"{run.name}, {run.learner}")
            lines.append(Line(*names, colour[run.name], points))
    return lines


def _colours(runs: Sequence[TrainingRun]) -> dict[str, int]:
    return {run.name: (n + 1) % len(PALETTE) for n, run in enumerate(runs)}


def learning_page(runs: Sequence[TrainingRun]) -> str:
    """Return filters, learning curves and a table of trainings as HTML."""
    colour = _colours(runs)
    section = Section("Learning curves", "training", (), _figures(runs, colour))
    shown = table(LEARNING_HEADS, learning_table(runs), numbers=LEARNING_HEADS[4:])
    return comparison(
        [(run.env, run.name, run.learner) for run in runs],
        colour,
        [section],
        [TitledTable("Trainings", shown)],
        ("Environment", "Run", "Learner"),
    )


def write_learning(
    folders: Iterable[str | os.PathLike[str]], out: str | os.PathLike[str]
) -> list[TrainingRun]:
    """Write ``learning.html`` and a figure of the valid scores of trainings into ``out``."""
    runs, path = [read_training(folder) for folder in folders], Path(out)
    colour = _colours(runs)
    try:
        path.mkdir(parents=True, exist_ok=True)
        write_atomic(path / "learning.html", comparison_page(learning_page(runs)))
        for figure in _figures(runs, colour):
            write_atomic(path / f"{figure.name}.svg", picture(figure, colour))
    except OSError as error:
        raise ResultsError(f"cannot write a report to {str(path)!r}: {error}") from error
    return runs
