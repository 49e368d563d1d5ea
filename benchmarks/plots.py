"""Pictures of the benchmarks of learners, made from what they kept.

Run in the root of the repository, once ``rl/sweep.sh`` or ``text/run.py`` has come further; writes
``rl/curves.png`` and ``text/budgets.png``::

    python benchmarks/plots.py
"""

from __future__ import annotations

import json

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from tables import HERE, LEARNT, LEARNT_LEVELS, learnt_worlds

from gym_memory.results import sweep
from gym_memory.results.plots import plot_budgets


def learning() -> None:
    """The valid score of every training of rl/sweep.sh by its steps."""
    runs = HERE / "rl" / "runs"
    figure, axes = plt.subplots(
        1,
        len(LEARNT_LEVELS),
        figsize=(5.5 * len(LEARNT_LEVELS), 4),
        sharey=True,
        layout="constrained",
    )
    for axis, level in zip(axes, LEARNT_LEVELS, strict=True):
        for number, ((facts, memory), told) in enumerate(LEARNT.items()):
            label = f"{memory}, {told}"
            for folder in sorted(runs.glob(f"{facts}-100-{level}-{memory}-[0-9]")):
                lines = (folder / "curve.jsonl").read_text(encoding="utf-8").splitlines()
                curve = [json.loads(line) for line in lines]
                steps = [row["steps"] for row in curve]
                valid = [row["valid_score"] for row in curve]
                axis.plot(steps, valid, color=f"C{number}", marker=".", alpha=0.7, label=label)
                label = ""
        axis.set(title=level, xlabel="environment steps", ylim=(-0.03, 1.03))
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize="small")
    axes[0].set_ylabel("normalized score, 20 valid games")
    figure.savefig(runs.parent / "curves.png", dpi=110)


def main() -> None:
    learning()
    curves = [curve for world in learnt_worlds() for curve in sweep.curves(world)]
    plot_budgets(curves, HERE / "text" / "budgets.png")


if __name__ == "__main__":
    main()
