"""Draw the pictures of the learners and of streams: ``rl/curves.svg``, ``streams/grid.svg`` ...

Run it in the root of the repository after a benchmark of these folders has added runs::

    python benchmarks/plots.py
"""

from __future__ import annotations

import itertools
import re

from keep import read_rows
from tables import stream_units
from tables_kept import HERE, read
from tables_learners import ENTROPY, LEARNERS, LEARNT, learnt_worlds, otherwise

from gym_memory.draw.figures import budget_figure, colours
from gym_memory.draw.svg import Line, label_of, line_figure, picture
from gym_memory.run.results import sweep
from gym_memory.run.results.streams import stream_figures

PANELS = {"rl-4": "100", "rl-3": "100", "hunt-easy": "100-cloned"}
"""Level to its protocol in the figure."""
FEATURES = {"arigraph": "all features", "none": "as text"}
"""PPO's view of a memory."""


def learning() -> str:
    """Return the valid score of every training of rl/sweep.sh by its steps."""
    runs = [*read_rows(HERE / "rl" / "runs.jsonl.gz")]
    arms = {
        f"{memory}, {features}": number
        for number, ((_, memory), features) in enumerate(LEARNT.items())
    }
    panels = []
    for level, protocol in PANELS.items():
        lines = []
        for (facts, memory), features in LEARNT.items():
            label = f"{memory}, {features}"
            arm = re.compile(rf"{facts}-{protocol}-{level}-{memory}-[0-9]")
            for run in (run for run in runs if arm.fullmatch(run["run"])):
                points = [(row["steps"], row["valid_score"]) for row in run["curve"]]
                lines.append(Line(level, memory, "drrn", label, arms[label], points))
        panels.append((level + otherwise(protocol), lines))
    rows = [row for row in read("rl/sb3.json") if row["ent_coef"] == ENTROPY]
    lines = []
    for row in rows:
        label = f"{row['arm']}, {FEATURES[row['arm']]}"
        lines.append(Line("rl-4", row["arm"], "sb3", label, arms[label], row["curve"]))
    panels.append(("rl-4, PPO", lines))
    title = "Normalized score on 20 valid games by training"
    return picture(
        line_figure("curves", title, panels, "environment steps", "score", (0.0, 1.0)), arms
    )


def long_trainings() -> str:
    """Return the valid score of every training of rl/million.py by its CPU minutes."""
    rows = read("rl/million.json")
    colour = colours(row["memory"] for row in rows)
    panels = []
    for (learner, title), long in itertools.product(LEARNERS.items(), (True, False)):
        own = [
            row for row in rows
            if row["learner"] == learner and (row["curve"][-1][0] >= 1_000_000) == long
        ]  # fmt: skip
        lines = [
            Line("rl-4", row["memory"], learner, row["memory"], colour[row["memory"]],
                 [(seconds / 60, score) for _, seconds, score in row["curve"]])
            for row in own
        ]  # fmt: skip
        steps = max((row["curve"][-1][0] for row in own), default=0)
        panels += [(f"{title}, {steps:,} steps", lines)] if lines else []
    title = "Valid score in up to a million steps"
    figure = line_figure("million", title, panels, "CPU minutes", "score", (0.0, 1.0))
    return picture(figure, {label_of(memory): number for memory, number in colour.items()})


def main() -> None:
    (HERE / "rl" / "curves.svg").write_text(learning(), encoding="utf-8")
    (HERE / "rl" / "million.svg").write_text(long_trainings(), encoding="utf-8")
    curves = [curve for world in learnt_worlds() for curve in sweep.curves(world)]
    colour = colours(curve.memory for curve in curves)
    legend = {label_of(memory): number for memory, number in colour.items()}
    drawn = picture(budget_figure(curves, colour), legend)
    (HERE / "text" / "budgets.svg").write_text(drawn, encoding="utf-8")
    for part in ("alfworld", "scienceworld", "types", "grid"):
        own = stream_units(part)
        colour = colours(unit.memory for unit in own)
        *_, last = stream_figures(own, colour)
        legend = {label_of(m): k for m, k in colour.items()} if part.endswith("world") else {}
        file = HERE / "streams" / f"{part}.svg"
        file.write_text(picture(last, legend), encoding="utf-8")


if __name__ == "__main__":
    main()
