"""Print the imitator's scores by task and memory beside the rows of CLIN's paper.

    cd benchmarks/scienceworld/learner; python table.py episodes.jsonl.gz

A wrong *focus* ends a task with -100. It is counted in three ways, each the mean of the tasks:

* as 0: like ScienceWorld's own example agents, and ``normalized_score``;
* unchanged: the last score of the engine;
* as the score before it: like Lin et al. (2023), from whose Table 1 CLIN's paper takes its rows of
  DRRN, ReAct and Reflexion.

Tasks are counted as 0. Intervals are of 95 %: of a task by ``gym_memory.run.results.intervals``,
paired by variation where two memories are compared; of the mean by bootstrap over the variations
within the tasks. A failed episode counts 0.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from gym_memory.games.scienceworld.catalog import CLIN
from gym_memory.run.results import intervals

PUBLISHED = ("DRRN", "ReAct", "Reflexion", "CLIN base", "CLIN Gen+Adapt")
RESAMPLES = 10_000
USUAL = 100
"""The usual limit of steps."""

Scores = dict[str, list[float]]


def floored(row: dict[str, Any]) -> float:
    """Return the last score, a wrong focus as 0."""
    return max(0.0, row["score"])


def last(row: dict[str, Any]) -> float:
    """Return the last score, unchanged."""
    return float(row["score"])


def before(row: dict[str, Any]) -> float:
    """Return the highest score, which only a wrong focus lowers."""
    return 100 * max((value for _, value in row["curve"]), default=0.0)


def early(row: dict[str, Any]) -> float:
    """Return the last score within the usual limit of steps, a wrong focus as 0."""
    return 100 * [0.0, *(value for step, value in row["curve"] if step <= USUAL)][-1]


def by_task(rows: Sequence[dict[str, Any]], score: Callable[[dict[str, Any]], float]) -> Scores:
    """Return scores of a memory's episodes by their task."""
    found: Scores = defaultdict(list)
    for row in rows:
        found[row["task_id"].split("/")[1]].append(0.0 if row["failed"] else score(row))
    return found


def mean(scores: Scores) -> str:
    """Return the mean of the tasks with its interval."""
    rng = np.random.default_rng(0)
    parts = [np.array(part) for part in scores.values()]
    drawn = [part[rng.integers(len(part), size=(RESAMPLES, len(part)))].mean(1) for part in parts]
    low, high = np.quantile(np.mean(drawn, axis=0), (0.025, 0.975))
    return f"{np.mean([part.mean() for part in parts]):.1f} [{low:.1f}, {high:.1f}]"


def shown(mean: float, interval: tuple[float, float] | None, sign: str = "") -> str:
    """Return a mean in points with its interval."""
    ends = f" [{100 * interval[0]:.0f}, {100 * interval[1]:.0f}]" if interval else ""
    return f"{100 * mean:{sign}.1f}{ends}"


def cell(part: Sequence[float]) -> str:
    """Return the mean of a task with its interval."""
    if not part:
        return "–"
    return shown(fmean(part) / 100, intervals.scores([score / 100 for score in part]).interval())


def gain(rows: dict[str, list[dict[str, Any]]], task: str) -> str:
    """Return the mean with ``arigraph`` minus that with ``none``, by variation."""
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    for memory in ("arigraph", "none"):
        for row in rows[memory]:
            if row["task_id"].split("/")[1] == task:
                scores[row["task_id"]][memory] = 0.0 if row["failed"] else floored(row) / 100
    gaps = [both["arigraph"] - both["none"] for both in scores.values() if len(both) == 2]
    return shown(fmean(gaps), intervals.gaps(gaps).interval(), "+") if gaps else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("episodes", type=Path, help="episodes.jsonl or episodes.jsonl.gz")
    path = parser.parse_args().episodes
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            rows[row["memory"]].append(row)
    played = {name: by_task(part, floored) for name, part in rows.items()}
    print("| task | n |", " | ".join([*rows, "arigraph - none", *PUBLISHED]), "|")
    print("|---|--:|" + "--:|" * (len(rows) + 1 + len(PUBLISHED)))
    for task in CLIN:
        parts = [played[name][task.task] for name in rows]
        theirs = [f"{task.published[name]:.1f}" for name in PUBLISHED]
        counts = "–".join(map(str, sorted({len(part) for part in parts})))
        print(
            f"| {task.short} | {counts} |",
            " | ".join([*map(cell, parts), gain(rows, task.task), *theirs]),
            "|",
        )
    count = "–".join(map(str, sorted({len(part) for part in rows.values()})))
    for label, score in (
        ("mean, wrong focus as 0", floored),
        ("as it is, -100", last),
        ("as what was reached before", before),
        (f"as 0, after {USUAL} steps", early),
    ):
        theirs = [
            f"{fmean(task.published[name] for task in CLIN):.1f}" if score is floored else ""
            for name in PUBLISHED
        ]
        ours = [mean(by_task(part, score)) for part in rows.values()]
        print(f"| {label} | {count} |", " | ".join([*ours, "", *theirs]), "|")
    wrong = [f"{sum(row['score'] < 0 for row in part)}" for part in rows.values()]
    won = [f"{sum(row['success'] for row in part)}" for part in rows.values()]
    print(f"| episodes won | {count} |", " | ".join([*won, *[""] * (1 + len(PUBLISHED))]), "|")
    print(f"| wrong focus | {count} |", " | ".join([*wrong, *[""] * (1 + len(PUBLISHED))]), "|")


if __name__ == "__main__":
    main()
