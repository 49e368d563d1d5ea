"""``gym-memory export``: what was played, as files for trainers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gym_memory.cli.show import progress

__all__ = ["command"]


def command(
    folder: Annotated[Path, typer.Argument(help="Results folder, finished or not.")],
    form: Annotated[
        str,
        typer.Option("--format", "-f", help="stepwise (a row a step), chat (messages) or minari."),
    ] = "stepwise",
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            help="Parquet file, or name of the Minari dataset, SPACE/NAME-v0.",
        ),
    ] = "",
    max_actions: Annotated[
        int | None,
        typer.Option(min=0, help="Valid actions that a prompt lists, at most; default: all."),
    ] = None,
) -> None:
    """Write the recorded steps of a run as Parquet or as a Minari dataset.

    Example: `gym-memory export results/first --format stepwise --out steps.parquet`
    """
    from gym_memory.train.export import export

    where, count = export(folder, form, out or None, max_actions)
    what = "episodes" if form == "minari" else "rows"
    progress().print(f"{count} {what}: {where}", markup=False, soft_wrap=True)
