"""Measure the worth of lessons: score by trial of a learner that fails at first.

Five trials of one task instance, the memory kept; 20 games of the test split a level. The
learner (``baselines/rules/learner.py``) acts on its observation alone, so gains from trial to
trial come from the lessons. All memories get the same tokens and show the present trial in the
same way (the full history), so they differ only in their lessons. ``placebo`` shows CLIN's
lessons with their actions exchanged at random. It plays worse than ``history``, because it
misleads the learner; so ``last - history`` in the table is the fair measure of the gain by
lessons.

Limits: rules wrote the lessons and a rule-based learner read them, so the paper's gap between
causal abstractions and free-form advice (6 points with GPT-4) need not appear, and does not. If
five random trials find little, there is little to learn: on TreasureHunt easy (8 games of the
train split) nothing changed in five trials, 0.14 to 0.18 with CLIN and 0.14 to 0.16 with
history. The rules were written on the train split; one game of the test split (rl-2, seed 2)
was inspected and showed a bug, which was fixed before this run.

Run in the root of the repository; an interrupted run goes on where it stopped::

    OMP_NUM_THREADS=1 python benchmarks/trials.py

It writes ``trials.md``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gym_memory.run.compare import compare
from gym_memory.run.config import EpisodeRow, RunConfig
from gym_memory.run.results import intervals
from gym_memory.run.results.score import score_by_trial, units

CONFIG = RunConfig(
    envs=tuple(
        f"Cooking?level={level}&max_steps=100"
        for level in ("rl-1", "rl-2", "rl-3", "rl-4", "stma-1")
    ),
    memories=(
        "none",
        "history",
        "clin?inner=history",
        "clin?inner=history&advice=true",
        "reflexion?inner=history",
        "placebo?of=clin%3Finner%3Dhistory",
    ),
    policies=("learner",),
    seeds=tuple(range(20)),
    protocol="trials?k=5",
    budgets=(2000,),
)
GAPS = ("last - first", "last - history", "last - placebo")
CONTROLS = ("none", "history", CONFIG.memories[-1])


def summarize(rows: Sequence[EpisodeRow], config: RunConfig = CONFIG) -> dict[str, Any]:
    """Score by trial, and how much the last trial gains over the first and over the controls.

    Every difference is paired on the game, with a 95 % interval.
    """
    played = units(rows)
    cells: list[dict[str, Any]] = []
    for env in (*config.envs, "all"):
        for memory in config.memories:
            group = [u for u in played if u.memory == memory and env in (u.env, "all")]
            scores = [
                {"score": round(mean, 4), "ci": _rounded(ci)} for mean, ci in score_by_trial(group)
            ]
            cell = {"env": env, "memory": memory, "n": len(group), "trials": scores}
            cell["failed"] = sum(bool(u.failed) for u in group)
            cell["won last"] = round(float(np.mean([u.success for u in group])), 4)
            cell["last - first"] = _gap([u.trials[-1] - u.trials[0] for u in group])
            for control in (c for c in CONTROLS if c in config.memories):
                if control != memory:
                    other = {(u.env, u.seed): u.trials[-1] for u in played if u.memory == control}
                    gaps = [u.trials[-1] - other[u.env, u.seed] for u in group]
                    cell[f"last - {control.partition('?')[0]}"] = _gap(gaps)
            cells.append(cell)
    return {"command": "python benchmarks/trials.py", "config": config.to_json(), "cells": cells}


def _gap(values: Sequence[float]) -> dict[str, Any]:
    return {
        "mean": round(float(np.mean(values)), 4),
        "ci": _rounded(intervals.gaps(values).interval()),
    }


def _rounded(ci: tuple[float, float] | None) -> list[float] | None:
    return [round(bound, 4) for bound in ci] if ci else None


def markdown(summary: dict[str, Any]) -> str:
    """Return the table of the summary."""
    k = len(summary["cells"][0]["trials"])
    heads = ["environment", "memory", *(f"trial {t + 1}" for t in range(k)), "won last"]
    heads += GAPS
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for cell in summary["cells"]:
        words = [cell["env"].replace("&max_steps=100", ""), f"`{cell['memory']}`"]
        words += [_number(t["score"], t["ci"]) for t in cell["trials"]]
        words.append(f"{cell['won last']:.0%}")
        for name in GAPS:
            gap = cell.get(name)
            words.append(_number(gap["mean"], gap["ci"], "+") if gap else "")
        lines.append("| " + " | ".join(words) + " |")
    return "\n".join(lines)


def page(summary: dict[str, Any]) -> str:
    """Return trials.md: this module's account, then the table."""
    about = (__doc__ or "").partition("\n\nRun in")[0]
    return f"# {about}\n\n{markdown(summary)}\n"


def _number(mean: float, ci: list[float] | None, sign: str = "") -> str:
    text = format(mean, f"{sign}.2f")
    return f"{text} [{', '.join(format(bound, f'{sign}.2f') for bound in ci)}]" if ci else text


def main() -> None:
    """Play what is missing, then write the summary."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--run", type=Path, default=Path("results/trials"), help="results folder")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".md"))
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    rows = compare(CONFIG, given.run, workers=given.workers)
    given.out.write_text(page(summarize(rows)), encoding="utf-8")


if __name__ == "__main__":
    main()
