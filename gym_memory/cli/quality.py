"""``gym-memory quality``: how right and how complete a memory's graph is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from gym_memory.cli import options
from gym_memory.cli.show import new_table, output, print_json, shown_progress
from gym_memory.run.jobs import Job, parse_seeds
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY

if TYPE_CHECKING:
    from gym_memory.evaluate.quality.score import EpisodeQuality, Quality

__all__ = ["command"]

_NOISE = 0.2
"""Share of odd commands in random play, unless told otherwise."""


def command(
    env: options.Envs,
    memory: options.Memory = DEFAULT_MEMORY,
    policy: options.Policies = ["random"],  # noqa: B006 - typer copies it
    seeds: options.Seeds = "0:10",
    noise: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            metavar="P",
            help="Share of steps that play an odd command instead of the policy's action: other "
            f"words, or refused. Default: {_NOISE} in random play, none with other policies.",
        ),
    ] = None,
    budget: options.Budget = None,
    max_steps: options.MaxSteps = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="Keep numbers and plot here."),
    ] = None,
    json_lines: options.Json = False,
    plugins: options.Plugins = None,
) -> None:
    """Score the graph of a memory against what an ideal observer of the same text would know.

    Prints precision, recall, staleness, growth and update rate per environment and policy; for
    the policy `walkthrough` also recall@k of what its next action needs. `--out` keeps the
    numbers in `quality.json` and the curves of AriGraph's Figures 5 and 6 in `quality.svg`.

    Example: `gym-memory quality --env "Cooking?level=hard" --env Cleaning --policy random
    --policy walkthrough --seeds 0:50 --out results/quality`
    """
    from gym_memory.evaluate.quality.report import row_record, write_quality
    from gym_memory.evaluate.quality.score import measure, summarize

    options.load_plugins(plugins)
    tokens = DEFAULT_BUDGET if budget is None else budget
    jobs = [
        Job(options.with_max_steps(spec, max_steps), memory, player, seed, budget=tokens)
        for spec in env
        for player in policy
        for seed in parse_seeds(seeds)
    ]
    odd = {player: _NOISE if player == "random" else 0.0 for player in policy}
    if noise is not None:
        odd = dict.fromkeys(policy, noise)
    episodes: list[EpisodeQuality] = []
    with shown_progress("quality") as update:
        for job in jobs:
            update(len(episodes), len(jobs), ())
            episodes.append(measure(job, noise=odd[job.policy]))
        update(len(jobs), len(jobs), ())
    rows = summarize(episodes)
    if out is not None:
        write_quality(out, episodes, memory=memory, seeds=seeds, noise=odd, budget=tokens)
    if json_lines:
        print_json([row_record(row) for row in rows])
    else:
        _print(rows, memory)


def _print(rows: Sequence[Quality], memory: str) -> None:
    from gym_memory.evaluate.quality.score import KS

    numbers = (
        *("games", "steps", "precision", "recall", "stale", "unproven"),
        *("live", "growth", "updates", "needed", *(f"@{k}" for k in KS), "observed"),
    )
    title = f"quality of {memory}"
    table = new_table("environment", "policy", *numbers, right=numbers, title=title)
    for row in rows:
        table.add_row(
            *(escape(row.env), escape(row.policy), str(row.episodes), str(row.steps)),
            *(f"{row.precision:.4f}", f"{row.recall:.4f}", f"{row.staleness:.4f}"),
            *(f"{row.unproven:.4f}", f"{row.live:.1f}", f"{row.growth:.2f}", f"{row.updates:.2f}"),
            *(str(row.needed), *map(_share, (*row.found, row.observed))),
        )
    output().print(table)


def _share(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"
