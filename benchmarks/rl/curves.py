"""The table and the learning curves of the runs that ``one.sh`` has finished.

Run in the root of the repository; reads ``benchmarks/rl/runs``, writes ``table.md`` and
``curves.png`` beside this file::

    python benchmarks/rl/table.py
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from numpy.typing import NDArray

from gym_memory.results import intervals

matplotlib.use("Agg")
from matplotlib import pyplot as plt

HERE = Path(__file__).parent
GOALS = {"rl-1": 0.95, "rl-2": 0.9, "rl-3": 0.9, "rl-4": 0.6}
"""Level to the mean test score that is wanted with ``arigraph``."""
MEMORIES = ("arigraph", "none", "shuffled", "history", "oracle", "belief", "present")
COMPARED = MEMORIES[:3]


class Cell(NamedTuple):
    """What is trained; its runs differ by their seed.

    Attributes:
        kind: A baseline, or what ``one.sh`` was told to call it.
        level: Level of Cooking.
        memory: The memory.
    """

    kind: str
    level: str
    memory: str


Runs = dict[Cell, dict[int, dict[str, Any]]]
"""Cell to seed to what the run came to."""


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def by_game(path: Path) -> list[dict[str, Any]]:
    """In the order of their games."""
    return sorted(lines(path), key=lambda row: row["task_id"])


def load() -> Runs:
    found: Runs = {}
    for folder in sorted((HERE / "runs").glob("*-rl-*")):
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        level = config["env"].rpartition("level=")[2].partition("&")[0]
        cell = Cell(folder.name.partition("-rl-")[0], level, config["memory"])
        found.setdefault(cell, {})[config["training"]["seed"]] = {
            "result": json.loads((folder / "result.json").read_text(encoding="utf-8")),
            "curve": lines(folder / "curve.jsonl"),
            "test": by_game(folder / "episodes.jsonl"),
            "elsewhere": {
                path.stem.removeprefix("episodes-"): by_game(path)
                for path in sorted(folder.glob("episodes-*.jsonl"))
            },
        }
    return found


def scores(
    runs: dict[int, dict[str, Any]], seeds: Sequence[int], elsewhere: str = ""
) -> NDArray[np.float64]:
    """Normalized test scores, on another level if one is named; shape (seeds, games)."""
    played = [
        runs[seed]["elsewhere"][elsewhere] if elsewhere else runs[seed]["test"] for seed in seeds
    ]
    return np.array([[row["normalized"] for row in rows] for rows in played])


def crossed(values: NDArray[np.float64]) -> dict[str, Any]:
    """Labels for values (seeds, games): those of a game, and of a training, vary as one."""
    rows, columns = np.indices(values.shape)
    tasks = {"tasks": columns.ravel().tolist()}
    return {**tasks, "runs": rows.ravel().tolist()} if len(values) > 1 else tasks


def shown(interval: tuple[float, float] | None, *, signed: bool = False) -> str:
    sign = "+" if signed else ""
    return f"[{interval[0]:{sign}.2f}, {interval[1]:{sign}.2f}]" if interval else ""


def excludes_zero(interval: tuple[float, float] | None) -> str:
    if interval is None:
        return "-"
    return "yes" if interval[0] > 0 or interval[1] < 0 else "no"


def row_of(cell: Cell, runs: dict[int, dict[str, Any]]) -> str:
    """A line of the table: means over the cell's runs."""
    tested = scores(runs, sorted(runs))
    episodes = [row for run in runs.values() for row in run["test"]]
    results = [run["result"] for run in runs.values()]
    updates = [run["curve"][-1].get("updates", 0) for run in runs.values()]
    interval = intervals.scores(tested.ravel(), **crossed(tested)).interval()
    by_seed = ", ".join(f"{mean:.2f}" for mean in tested.mean(axis=1))
    return (
        f"| {cell.kind} | {cell.memory} | {len(runs)} "
        f"| {np.mean([result['best']['valid_score'] for result in results]):.2f} "
        f"| **{tested.mean():.2f}** | {shown(interval)} | {by_seed} "
        f"| {np.mean([row['success'] for row in episodes]):.2f} "
        f"| {np.mean([row['steps'] for row in episodes]):.1f} "
        f"| {np.mean([result['steps'] for result in results]):,.0f} "
        f"| {np.mean(updates):,.0f} "
        f"| {np.mean([result['cpu_seconds'] for result in results]) / 60:.1f} |"
    )


def level_table(runs: Runs, level: str) -> list[str]:
    """All cells of a level: those of the main comparison, cloning with RL, the rest."""

    def place(cell: Cell) -> tuple[Any, ...]:
        main = cell.kind == "drrn" and cell.memory in COMPARED
        cloned = cell.kind == "bc+rl"
        return not main, not cloned, cell.kind, MEMORIES.index(cell.memory)

    out = [
        f"## Cooking {level}",
        "",
        "| learner | memory | seeds | valid | test | 95 % | by seed | success | steps "
        "| training steps | updates | CPU min |",
        "|---|---|--:|--:|--:|---|---|--:|--:|--:|--:|--:|",
    ]
    cells = sorted((cell for cell in runs if cell.level == level), key=place)
    return [*out, *(row_of(cell, runs[cell]) for cell in cells), ""]


def goals(runs: Runs) -> list[str]:
    """Each level's goal, and whether the best row with ``arigraph`` reaches it."""
    out = ["## Goals", "", "| level | goal | DRRN | cloning + RL |", "|---|--:|---|---|"]
    for level, goal in GOALS.items():
        told = []
        for kind in ("drrn", "bc+rl"):
            group = runs.get(Cell(kind, level, "arigraph"))
            mean = scores(group, sorted(group)).mean() if group else None
            verdict = "reached" if mean is not None and mean >= goal else "not reached"
            told.append("not run" if mean is None else f"{mean:.3f}, {verdict}")
        out.append(f"| {level} | {goal} | {' | '.join(told)} |")
    return [*out, ""]


def differences(runs: Runs) -> list[str]:
    """``arigraph`` against the others, the same games under the same seeds."""
    out = [
        "## What the memory adds",
        "",
        "| level | learner | memories | seeds x games | mean | 95 %, over seeds and games "
        "| excludes 0 |",
        "|---|---|---|--:|--:|---|---|",
    ]
    pairs = [("drrn", other) for other in COMPARED[1:]]
    pairs += [
        (kind, other)
        for kind in ("drrn-plain", "plain-100")
        for other in ("present", "history", "none", "shuffled")
    ]
    for level in GOALS:
        for kind, other in pairs:
            one = runs.get(Cell(kind, level, "arigraph"), {})
            two = runs.get(Cell(kind, level, other), {})
            both = sorted(one.keys() & two.keys())
            if not both:
                continue
            gaps = scores(one, both) - scores(two, both)
            interval = intervals.gaps(gaps.ravel(), **crossed(gaps)).interval()
            out.append(
                f"| {level} | {kind} | arigraph - {other} | {gaps.shape[0]} x {gaps.shape[1]} "
                f"| {gaps.mean():+.2f} | {shown(interval, signed=True)} "
                f"| {excludes_zero(interval)} |"
            )
    return [*out, ""]


def transfer(runs: Runs) -> list[str]:
    """What was trained on one level, played on others."""
    out = [
        "## Other levels than the trained one",
        "",
        "| trained on | played on | learner | memory | seeds x games | test | 95 % | by seed |",
        "|---|---|---|---|--:|--:|---|---|",
    ]
    for cell, group in sorted(runs.items()):
        for level in sorted({name for run in group.values() for name in run["elsewhere"]}):
            seeds = [seed for seed in sorted(group) if level in group[seed]["elsewhere"]]
            played = scores(group, seeds, level)
            interval = intervals.scores(played.ravel(), **crossed(played)).interval()
            out.append(
                f"| {cell.level} | {level} | {cell.kind} | {cell.memory} "
                f"| {played.shape[0]} x {played.shape[1]} | **{played.mean():.2f}** "
                f"| {shown(interval)} | {', '.join(f'{m:.2f}' for m in played.mean(axis=1))} |"
            )
    return [*out, ""]


def plot(runs: Runs) -> None:
    figure, axes = plt.subplots(1, 4, figsize=(16, 3.6), sharey=True, layout="constrained")
    for axis, level in zip(axes, GOALS, strict=True):
        for color, memory in zip(("C0", "C7", "C1"), COMPARED, strict=True):
            for number, run in enumerate(runs.get(Cell("drrn", level, memory), {}).values()):
                steps = [row["steps"] for row in run["curve"]]
                valid = [row["valid_score"] for row in run["curve"]]
                label = memory if number == 0 else None
                axis.plot(steps, valid, color=color, marker=".", alpha=0.7, label=label)
        axis.set(title=f"Cooking {level}", xlabel="environment steps", ylim=(-0.03, 1.03))
        axis.grid(alpha=0.3)
    axes[2].legend(loc="lower right")
    axes[0].set_ylabel("normalized score, 20 valid games")
    figure.savefig(HERE / "curves.png", dpi=110)


def main() -> None:
    runs = load()
    out = [*goals(runs), *differences(runs), *transfer(runs)]
    for level in GOALS:
        out += level_table(runs, level)
    text = "\n".join(out)
    (HERE / "table.md").write_text(text, encoding="utf-8")
    print(text)
    plot(runs)


if __name__ == "__main__":
    main()
