"""Write the tables of a run of ``run.sh``: ``results.md`` and ``trials.svg`` beside this file.

Usage: ``python benchmarks/agents/clin/summarize.py results/clin``
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gym_memory.core.names import Spec
from gym_memory.draw.figures import colours
from gym_memory.draw.svg import label_of, picture
from gym_memory.run.results import intervals, read_episodes
from gym_memory.run.results.pages import curve_figures
from gym_memory.run.results.score import Unit, score_by_trial, units

HERE = Path(__file__).parent


def rounded(mean: float, interval: Sequence[float] | None) -> dict[str, Any]:
    """Return a mean and its 95 % interval."""
    return {"mean": round(mean, 3), "interval": [round(bound, 3) for bound in interval or ()]}


def cells(played: Sequence[Unit], label: str = "") -> list[dict[str, Any]]:
    """Score by trial for each environment and memory; gaps are paired on the game."""
    found = []
    seeds = set.intersection(*({u.seed for u in played if u.env == env and u.memory == memory}
                               for env, memory in {(u.env, u.memory) for u in played}))  # fmt: skip
    played = [u for u in played if u.seed in seeds]  # of an interrupted run: whole seeds
    none = {(u.env, u.seed): u.trials[-1] for u in played if u.memory == "none"}
    for env in dict.fromkeys(u.env for u in played):
        for memory in dict.fromkeys(u.memory for u in played):
            group = [u for u in played if (u.env, u.memory) == (env, memory)]
            gains = [u.trials[-1] - u.trials[0] for u in group]
            cell = {
                "env": env,
                "memory": label or Spec(memory).name,
                "policy": group[0].policy.partition("?")[0],
                "n": len(group),
                "failed": sum(bool(u.failed) for u in group),
                "trials": [rounded(*trial) for trial in score_by_trial(group)],
                "last - first": rounded(float(np.mean(gains)), intervals.gaps(gains).interval()),
                "won last": round(float(np.mean([u.success for u in group])), 3),
                "steps of the last": round(float(np.mean([u.steps for u in group])), 1),
            }
            if none and memory != "none":
                gaps = [u.trials[-1] - none[env, u.seed] for u in group]
                cell["last - none"] = rounded(float(np.mean(gaps)), intervals.gaps(gaps).interval())
            found.append(cell)
    return found


def number(value: dict[str, Any] | None) -> str:
    """Return a mean with its interval, for a table."""
    return f"{value['mean']:.2f} {value['interval']}" if value else ""


def main() -> None:
    """Read the folder of a run, write the files."""
    work = Path(sys.argv[1])
    rows = [row for rows in read_episodes(work / "trials") for row in rows]
    found = cells(units(rows))
    for setup, label in (("adapt", "clin, empty"), ("gen-adapt", "clin, meta-memory")):
        more = [row for rows in read_episodes(work / setup / "test") for row in rows]
        found += cells(units(more), label)
    most = max(len(cell["trials"]) for cell in found)
    heads = ["environment", "policy", "memory", "n", *(f"trial {t + 1}" for t in range(most))]
    heads += ["last - first", "last - none", "won last"]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for cell in found:
        words = [f"`{cell['env']}`", cell["policy"], cell["memory"], str(cell["n"])]
        words += [number(trial) for trial in cell["trials"]]
        words += [""] * (most - len(cell["trials"]))
        words += [number(cell["last - first"]), number(cell.get("last - none"))]
        lines.append("| " + " | ".join([*words, f"{cell['won last']:.0%}"]) + " |")
    (HERE / "results.md").write_text("\n".join(lines) + "\n", "utf-8")
    played = units(rows)
    colour = colours(unit.memory for unit in played)
    _, by_trial = curve_figures(played, colour)
    legend = {label_of(memory): number for memory, number in colour.items()}
    (HERE / "trials.svg").write_text(picture(by_trial, legend), encoding="utf-8")


if __name__ == "__main__":
    main()
