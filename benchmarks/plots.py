"""Draw the pictures of the learners and of streams: ``rl/curves.svg``, ``streams/grid.svg`` ...

Run it in the root of the repository when a benchmark of these folders has added runs::

    python benchmarks/plots.py
"""

from __future__ import annotations

import re

from keep import read_rows
from tables import stream_units
from tables_kept import HERE
from tables_learners import LEARNT, learnt_worlds, otherwise

from gym_memory.draw.figures import budget_figure, colours
from gym_memory.draw.svg import Line, label_of, line_figure, picture
from gym_memory.run.results import sweep
from gym_memory.run.results.streams import stream_figures

PANELS = {"rl-4": "100", "rl-3": "100", "hunt-easy": "100-cloned"}
"""Level to the protocol of which it is shown."""


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
    title = "Normalized score on 20 valid games by training"
    return picture(
        line_figure("curves", title, panels, "environment steps", "score", (0.0, 1.0)), arms
    )


def main() -> None:
    (HERE / "rl" / "curves.svg").write_text(learning(), encoding="utf-8")
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
