"""``gym-memory demo``: a small comparison on real games; what ``make demo`` runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gym_memory.cli import options
from gym_memory.cli.compare import play_config
from gym_memory.run.jobs import RunConfig

__all__ = ["DEMO", "command"]

DEMO = RunConfig(
    envs=(
        "Cooking?level=medium&split=test",
        "TreasureHunt?level=hardest&split=test",
    ),
    memories=("none", "history", "arigraph"),
    policies=("random", "planner", "walkthrough"),
    seeds=tuple(range(8)),
)
"""What the demo plays."""


def command(
    out: Annotated[Path, typer.Option("--out", "-o", help="Results folder.")] = Path(
        "results/demo"
    ),
    workers: options.Workers = None,
) -> None:
    """Compare policies and memories on generated TextWorld games, within minutes.

    Example: `gym-memory demo --out results/demo`
    """
    rows = play_config(DEMO, out, options.Playing(workers=workers, retry_failed=True))
    raise typer.Exit(int(any(row.result.failed for row in rows)))
