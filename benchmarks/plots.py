"""The learning curves of the runs that ``sweep.sh`` has finished; writes ``curves.png``.

Run in the root of the repository::

    python benchmarks/rl/curves.py
"""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).parent
LEVELS = ("rl-4", "rl-3")
ARMS = {
    "related-100-{}-arigraph": "arigraph, all features", "plain-100-{}-arigraph": "arigraph, bare",
    "plain-100-{}-present": "present", "plain-100-{}-shuffled": "shuffled",
    "plain-100-{}-history": "history", "plain-100-{}-none": "none",
    "rendered-100-{}-arigraph": "arigraph as text",
}  # fmt: skip
"""Folder of a run, but for its level and seed, to the label of its line."""


def main() -> None:
    levels = [level for level in LEVELS if any((HERE / "runs").glob(f"*-100-{level}-*"))]
    figure, axes = plt.subplots(
        1, len(levels), figsize=(5.5 * len(levels), 4), sharey=True, squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for axis, level in zip(axes[0], levels, strict=True):
        for number, (name, label) in enumerate(ARMS.items()):
            for folder in sorted((HERE / "runs").glob(f"{name.format(level)}-[0-9]")):
                lines = (folder / "curve.jsonl").read_text(encoding="utf-8").splitlines()
                curve = [json.loads(line) for line in lines]
                steps = [row["steps"] for row in curve]
                valid = [row["valid_score"] for row in curve]
                axis.plot(steps, valid, color=f"C{number}", marker=".", alpha=0.7, label=label)
                label = ""
        axis.set(title=f"Cooking {level}", xlabel="environment steps", ylim=(-0.03, 1.03))
        axis.grid(alpha=0.3)
    axes[0, 0].legend(fontsize="small")
    axes[0, 0].set_ylabel("normalized score, 20 valid games")
    figure.savefig(HERE / "curves.png", dpi=110)


if __name__ == "__main__":
    main()
