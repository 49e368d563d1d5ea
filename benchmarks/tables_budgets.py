"""Write the tables of scores against token budgets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from tables_kept import by_run, markdown_table, short_name

from gym_memory.run.config import EpisodeRow
from gym_memory.run.results import intervals, sweep
from gym_memory.run.results.score import Unit, format_interval, grouped, units

WORLDS = {
    **{
        f"budgets/{name}-once": [f"budgets/{name}"]
        for name in (
            "hunt-hard", "hunt-hardest", "cooking-hard", "cooking-hardest", "cleaning", "shop",
        )
    },
    "life/unlimited-1000": [f"life/rivals-{n}" for n in (100, 300, 1000, 4000, 16000)],
}  # fmt: skip
"""Memories that ignore the budget, to those that use it."""
AGENT_WORLDS = {
    f"budgets/agent-{name}-once": [f"budgets/agent-{name}"]
    for name in (
        "hunt-hard", "hunt-hardest", "hunt-voices", "cooking-hard", "cooking-hardest", "cleaning",
    )
}  # fmt: skip
"""The same for the agent that asks a language model."""
RIVALS = ("history", "rag", "summary", "stma")


def budgets(worlds: Mapping[str, Sequence[str]]) -> str:
    """Tabulate areas under score against token budget, and those of the uncut transcript."""
    return areas_table([areas_line(world, RIVALS) for world in played_worlds(worlds)], RIVALS)


def played_worlds(worlds: Mapping[str, Sequence[str]]) -> list[list[Unit]]:
    """Return the rows of each world, with those that ignore the budget."""
    return [
        [*units([row for path in bounded for row in _traces(path)]), *units(_traces(free))]
        for free, bounded in worlds.items()
    ]


def by_task(played: Sequence[Unit]) -> dict[str, dict[str, float]]:
    """Return a map from memory to the area of each game."""
    return {
        memory.partition("?")[0]: {unit.task_id: unit.score for unit in group}
        for memory, group in grouped(sweep.comparable(played), lambda u: u.memory).items()
    }


def areas_line(played: Sequence[Unit], rivals: Sequence[str]) -> list[str]:
    """Return the line of a world."""
    areas = by_task(played)
    shown = {curve.memory: curve for curve in sweep.curves(played)}
    known = [memory for memory in rivals if memory in areas]
    best = max(known, key=lambda memory: np.mean([*areas[memory].values()]))
    gaps = [areas["arigraph"][task] - score for task, score in areas[best].items()]
    enough, uncut = shown["arigraph"].enough, shown.get("history?full=true")
    return [
        short_name(played[0].env),
        str(len(gaps)),
        *(
            f"{np.mean([*areas[memory].values()]):.2f}" if memory in areas else ""
            for memory in ("arigraph", *rivals)
        ),
        f"{np.mean(gaps):+.2f} {format_interval(intervals.gaps(gaps).interval())} ({best})",
        f"{enough:,.0f}" if enough else "-",
        f"{uncut.points[-1].score:.2f} ({uncut.points[-1].tokens:,.0f})" if uncut else "",
    ]


def areas_table(rows: Iterable[Sequence[str]], rivals: Sequence[str]) -> str:
    """Return a table of areas, without the last column if no world has an uncut transcript."""
    names = (f"`{memory}`" for memory in ("arigraph", *rivals))
    heads = ["area under the curve", "n", *names, "`arigraph` - best rival, 95 %"]
    heads += ["its tokens for 95 %", "uncut history (tokens)"]
    lines = list(rows)
    end = None if any(line[-1] for line in lines) else -1
    return markdown_table(heads[:end], 1, [line[:end] for line in lines])


def _traces(path: str) -> list[EpisodeRow]:
    folder, _, run = path.partition("/")
    return [EpisodeRow.from_json(row) for row in by_run(f"{folder}/episodes.jsonl.gz")[run]]
