"""Write the table and the curves of a run of ``run.sh``: ``results.md`` and ``curves.png``.

Usage: ``python benchmarks/scienceworld/drrn/table.py results/scienceworld-drrn``
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from gym_memory.games.scienceworld.catalog import clin_task
from gym_memory.run.results import intervals, read_episodes
from gym_memory.run.results.score import units

HERE = Path(__file__).parent
TASKS = ("lifespan-longest-lived", "find-living-thing", "boil")
MEMORIES = ("none", "arigraph")


def tested(folder: Path) -> dict[str, Any]:
    """Test scores, negative ones as 0, with a 95 % interval."""
    rows = [row for job in read_episodes(folder) for row in job]
    scores = [100 * unit.score for unit in units(rows)]
    interval = intervals.values(scores).interval()
    return {
        "n": len(scores),
        "score": round(float(np.mean(scores)), 1),
        "interval": [round(bound, 1) for bound in interval] if interval else None,
        "the engine's, -100 to 100": round(float(np.mean([row.result.score for row in rows])), 1),
        "failed": sum(bool(row.result.failed) for row in rows),
    }


def main() -> None:
    """Read the folder of a run, write the files."""
    work = Path(sys.argv[1])
    tasks = [task for task in TASKS if (work / "test" / f"{task}-random").exists()]
    figure, row_of_axes = plt.subplots(
        1, len(tasks), figsize=(1 + 3 * len(tasks), 3), sharey=True, squeeze=False
    )
    axes = row_of_axes[0]
    lines = [
        "| task | memory | steps | updates | CPU min | best on dev | test | random | published |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for task, axis in zip(tasks, axes, strict=True):
        row = clin_task(task)
        assert row is not None
        published = row.published["DRRN"]
        axis.axhline(published, ls=":", color="black", label="published DRRN")
        axis.set(title=task, xlabel="environment steps", ylim=(-2, 102))
        chance = tested(work / "test" / f"{task}-random")
        for memory in MEMORIES:
            run = work / f"{task}-{memory}"
            result = json.loads((run / "result.json").read_text("utf-8"))
            curve = [json.loads(line) for line in (run / "curve.jsonl").read_text().splitlines()]
            test = tested(work / "test" / f"{task}-{memory}")
            best = max(point["valid_score"] for point in curve)
            low, high = test["interval"] or (None, None)
            cells = [task, memory, result["steps"], round(curve[-1].get("updates", 0))]
            cells += [round(result["cpu_seconds"] / 60, 1), f"{100 * best:.1f}"]
            cells += [f"{test['score']} [{low}, {high}]", chance["score"], published]
            lines.append("| " + " | ".join(map(str, cells)) + " |")
            steps = [point["steps"] for point in curve]
            axis.plot(steps, [100 * p["valid_score"] for p in curve], marker=".", label=memory)
        axis.axhline(chance["score"], ls="--", color="grey", label="random, test")
    axes[0].set_ylabel("score on dev variations")
    axes[0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(HERE / "curves.png", dpi=100)
    (HERE / "results.md").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
