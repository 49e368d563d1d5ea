"""Write the tables of a run of ``run.sh``: ``results.md`` beside this file.

Usage: ``python benchmarks/scienceworld/clin/table.py results/scienceworld-clin``
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gym_memory.games.scienceworld.catalog import CLIN
from gym_memory.run.results import intervals, read_episodes
from gym_memory.run.results.score import Unit, score_by_trial, units

HERE = Path(__file__).parent
PARTS = {
    "base, no memory": ("base", None),
    "Adapt": ("adapt/test", "CLIN Adapt"),
    "Gen-Env": ("gen-env/test", "CLIN Gen-Env"),
    "Gen-Env, then trials (G+A)": ("gen-adapt/test", "CLIN Gen+Adapt"),
    "Gen-Task": ("task-gen-task/*/test", None),
    "Gen-Task, then trials (G+A)": ("task-gen-adapt/*/test", None),
}
"""Name to folders, and the column of the paper's tables."""


def task_of(unit: Unit) -> str:
    """Return ScienceWorld's name of the task."""
    return unit.task_id.split("/")[1]


def summary(group: Sequence[Unit], base: dict[str, float]) -> dict[str, Any]:
    """Return scores by trial, and the gain of the last one over the base on the same instances."""
    gains = [unit.trials[-1] - base[unit.task_id] for unit in group]
    low, high = intervals.gaps(gains).interval() or (None, None)
    tasks = dict.fromkeys(task_of(unit) for unit in group)
    return {
        "n": len(group),
        "failed": sum(bool(unit.failed) for unit in group),
        "trials": [round(mean, 3) for mean, _ in score_by_trial(group)],
        "won": sum(unit.success for unit in group),
        "trials played": round(float(np.mean([len(unit.trials) for unit in group])), 2),
        "steps of the last": round(float(np.mean([unit.steps for unit in group])), 1),
        "last - base": [round(float(np.mean(gains)), 3), low, high],
        "by task": {
            task: round(float(np.mean([u.trials[-1] for u in group if task_of(u) == task])), 3)
            for task in tasks
        },
    }


def main() -> None:
    """Read the folder of a run, write the files."""
    work = Path(sys.argv[1])
    found: dict[str, dict[str, Any]] = {}
    base: dict[str, float] = {}
    kept: list[dict[str, Any]] = []
    for name, (where, _) in PARTS.items():
        rows = [
            r for folder in sorted(work.glob(where)) for rs in read_episodes(folder) for r in rs
        ]
        group = units(rows)
        base = base or {unit.task_id: unit.trials[-1] for unit in group}
        found[name] = summary(group, base)
        kept += [{"part": name, **row.to_json()} for row in rows]
    most = max(len(part["trials"]) for part in found.values())
    heads = ["protocol", "n", *(f"trial {t + 1}" for t in range(most)), "won", "trials", "steps"]
    lines = [f"| {' | '.join([*heads, 'last - base'])} |", "|---|" + "--:|" * len(heads)]
    for name, part in found.items():
        scores = [f"{100 * score:.1f}" for score in part["trials"]]
        gain, low, high = part["last - base"]
        gained = f"{100 * gain:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]" if gain else ""
        cells = [name, part["n"], *scores, *[""] * (most - len(scores)), part["won"]]
        cells += [part["trials played"], part["steps of the last"], gained]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += ["", f"| task | {' | '.join(found)} |", "|---|" + "--:|" * len(found)]
    for row in CLIN:
        if row.task in found["Adapt"]["by task"]:
            cells = [f"{100 * part['by task'][row.task]:.1f}" for part in found.values()]
            lines.append(f"| {row.task} | {' | '.join(cells)} |")
            paper = [row.published[column] if column else None for _, column in PARTS.values()]
            paper[0] = row.published["CLIN base"]
            cells = ["" if value is None else f"{value:.1f}" for value in paper]
            lines.append(f"| its row in the paper, GPT-4 | {' | '.join(cells)} |")
    (HERE / "results.md").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
