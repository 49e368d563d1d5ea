"""Draw the pictures of the learners: ``rl/curves.png`` and ``text/budgets.png``.

Run in the root of the repository, once ``rl/sweep.sh`` or ``text/run.py`` has come further; writes
``rl/curves.png`` and ``text/budgets.png``::

    python benchmarks/plots.py
"""

from __future__ import annotations

import re

import matplotlib

matplotlib.use("Agg")
from keep import read_rows
from matplotlib import pyplot as plt
from tables import HERE, LEARNT, learnt_worlds, otherwise

from gym_memory.run.results import sweep
from gym_memory.run.results.plots import plot_budgets

PANELS = {"rl-4": "100", "rl-3": "100", "hunt-easy": "100-cloned"}
"""Level to the protocol of which it is shown."""


def learning() -> None:
    """The valid score of every training of rl/sweep.sh by its steps."""
    runs = [*read_rows(HERE / "rl" / "runs.jsonl.gz")]
    figure, axes = plt.subplots(
        1, len(PANELS), figsize=(4.5 * len(PANELS), 4.5), sharey=True, layout="constrained"
    )
    color, labels = plt.get_cmap("tab20"), {}
    for axis, (level, protocol) in zip(axes, PANELS.items(), strict=True):
        for number, ((facts, memory), told) in enumerate(LEARNT.items()):
            arm = re.compile(rf"{facts}-{protocol}-{level}-{memory}-[0-9]")
            for run in (run for run in runs if arm.fullmatch(run["run"])):
                steps = [row["steps"] for row in run["curve"]]
                valid = [row["valid_score"] for row in run["curve"]]
                (line,) = axis.plot(steps, valid, color=color(number), marker=".", alpha=0.7)
                labels[f"{memory}, {told}"] = line
        axis.set(title=level + otherwise(protocol), xlabel="environment steps", ylim=(-0.03, 1.03))
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("normalized score, 20 valid games")
    figure.legend(labels.values(), labels.keys(), loc="outside lower center", ncols=4)
    figure.savefig(HERE / "rl" / "curves.png", dpi=110)


def main() -> None:
    learning()
    curves = [curve for world in learnt_worlds() for curve in sweep.curves(world)]
    plot_budgets(curves, HERE / "text" / "budgets.png")


if __name__ == "__main__":
    main()
