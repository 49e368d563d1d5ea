"""The table and the learning curves of the runs that ``sweep.sh`` has finished.

Run in the root of the repository; reads ``benchmarks/rl/runs``, writes ``table.md`` and
``curves.png`` beside this file::

    python benchmarks/rl/table.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from gym_memory.results.score import bootstrap_interval

matplotlib.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).parent
LEVELS = ("rl-1", "rl-2", "rl-3", "rl-4")
MEMORIES = ("arigraph", "none", "shuffled")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def load() -> dict[tuple[str, str, str, int], dict[str, Any]]:
    """(baseline, level, memory, seed) to what the run came to."""
    found = {}
    for folder in sorted((HERE / "runs").glob("*-rl-*")):
        if not (folder / "episodes.jsonl").exists():
            continue
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        level = config["env"].rpartition("level=")[2].partition("&")[0]
        key = (config["baseline"], level, config["memory"], config["training"]["seed"])
        found[key] = {
            "result": json.loads((folder / "result.json").read_text(encoding="utf-8")),
            "curve": lines(folder / "curve.jsonl"),
            "test": {row["task_id"]: row for row in lines(folder / "episodes.jsonl")},
        }
    return found


def interval(values: list[float]) -> str:
    found = bootstrap_interval(values)
    return f"[{found[0]:.2f}, {found[1]:.2f}]" if found else ""


def main() -> None:
    runs = load()
    cells: dict[tuple[str, str, str], dict[int, Any]] = {}
    for (baseline, level, memory, seed), run in runs.items():
        cells.setdefault((baseline, level, memory), {})[seed] = run
    out = [
        "| baseline | level | memory | seeds | valid | test score | 95 % | success | steps |"
        " training steps | updates | CPU min |",
        "|---|---|---|--:|--:|--:|---|--:|--:|--:|--:|--:|",
    ]
    order = sorted(cells, key=lambda c: (c[0], c[1], [*MEMORIES, c[2]].index(c[2])))
    for cell in order:
        group = cells[cell]
        episodes = [row for run in group.values() for row in run["test"].values()]
        scores = [row["normalized"] for row in episodes]
        best = [run["result"]["best"] for run in group.values()]
        mean = {
            "valid": np.mean([b["valid_score"] for b in best]),
            "steps": np.mean([run["result"]["steps"] for run in group.values()]),
            "updates": np.mean([run["curve"][-1].get("updates", 0) for run in group.values()]),
            "cpu": np.mean([run["result"]["cpu_seconds"] for run in group.values()]) / 60,
        }
        out.append(
            f"| {cell[0]} | {cell[1]} | {cell[2]} | {len(group)} | {mean['valid']:.2f} "
            f"| **{np.mean(scores):.2f}** | {interval(scores)} "
            f"| {np.mean([row['success'] for row in episodes]):.2f} "
            f"| {np.mean([row['steps'] for row in episodes]):.1f} | {mean['steps']:,.0f} "
            f"| {mean['updates']:,.0f} | {mean['cpu']:.1f} |"
        )
    out += ["", "| level | difference (same games, same seeds) | games x seeds | mean | 95 % |"]
    out += ["|---|---|--:|--:|---|"]
    for level in LEVELS:
        for other in MEMORIES[1:]:
            one, two = cells.get(("drrn", level, "arigraph")), cells.get(("drrn", level, other))
            both = sorted((one or {}).keys() & (two or {}).keys())
            gaps = [
                one[seed]["test"][task]["normalized"] - two[seed]["test"][task]["normalized"]
                for seed in both
                for task in sorted(one[seed]["test"])
            ]
            if gaps:
                out.append(
                    f"| {level} | arigraph - {other} | {len(gaps)} | {np.mean(gaps):+.2f} "
                    f"| {interval(gaps)} |"
                )
    (HERE / "table.md").write_text("\n".join(out) + "\n", encoding="utf-8")
    print("\n".join(out))
    plot(cells)


def plot(cells: dict[tuple[str, str, str], dict[int, Any]]) -> None:
    figure, axes = plt.subplots(1, 4, figsize=(16, 3.6), sharey=True, layout="constrained")
    for axis, level in zip(axes, LEVELS, strict=True):
        for color, memory in zip(("C0", "C7", "C1"), MEMORIES, strict=True):
            for number, run in enumerate(cells.get(("drrn", level, memory), {}).values()):
                steps = [row["steps"] for row in run["curve"]]
                valid = [row["valid_score"] for row in run["curve"]]
                label = memory if number == 0 else None
                axis.plot(steps, valid, color=color, marker=".", alpha=0.8, label=label)
        axis.set(title=f"Cooking {level}", xlabel="environment steps", ylim=(-0.03, 1.03))
        axis.grid(alpha=0.3)
        if axis.get_legend_handles_labels()[0]:
            axis.legend()
    axes[0].set_ylabel("normalized score, 20 valid games")
    figure.savefig(HERE / "curves.png", dpi=110)


if __name__ == "__main__":
    main()
