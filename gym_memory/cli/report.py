"""``gym-memory report``: build a report again, or one of several runs together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gym_memory.cli import options
from gym_memory.cli.show import print_json, print_scores, progress
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.run.results.report import build_report

__all__ = ["command"]


def command(
    folders: Annotated[list[Path], typer.Argument(help="Results folders, finished or not.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of the report; default: the one results folder."),
    ] = None,
    against: Annotated[
        str,
        typer.Option(help="Memory or policy that the others are compared with; default: none."),
    ] = "",
    json_lines: options.Json = False,
    allow_version_mismatch: options.AllowVersionMismatch = False,
) -> None:
    """Write summary.json, report.md and the plots of results folders; print the table.

    Example: `gym-memory report results/monday results/tuesday --out results/both`
    """
    if out is None and len(folders) > 1:
        raise InvalidArgumentError("expected --out FOLDER for the report of several runs, got none")
    target = out or folders[0]
    rows = build_report(
        folders, target, against=against, allow_version_mismatch=allow_version_mismatch
    )
    if json_lines:
        print_json([row.to_json() for row in rows])
    else:
        print_scores(rows)
    progress().print(f"Report: {target / 'report.md'}", markup=False, soft_wrap=True)
    raise typer.Exit(int(any(row.n_failed for row in rows)))
