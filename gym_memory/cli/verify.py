"""``gym-memory verify``: is a results folder whole?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from gym_memory.cli import options
from gym_memory.cli.show import new_table, output, print_json
from gym_memory.run.results.folder import iter_folders
from gym_memory.run.results.verify import verify

__all__ = ["command"]

_COLOURS = {
    "ok": "green",
    "note": "cyan",
    "repaired": "yellow",
    "unfinished": "yellow",
    "damaged": "red",
}


def command(
    folders: Annotated[
        list[Path], typer.Argument(help="Results folders, or folders with such in them.")
    ],
    repair: Annotated[
        bool,
        typer.Option(
            "--repair/--no-repair", help="Take away what a kill in the middle of a write left."
        ),
    ] = True,
    json_lines: options.Json = False,
) -> None:
    """Check that a results folder holds what it should; say what was found.

    Looked at: the settings and versions; every job exactly once and none besides; the same task
    for the same seed; recorded steps, as many as the episodes say; size and SHA-256 of each file
    against `manifest.json`, which a finished run writes. A torn last line, episodes of a job
    that was killed, and temporary files are taken away; nothing else is ever changed.

    Exit status: 0 when each folder is finished and whole (repaired counts as whole; failed
    episodes are results), 1 when something is damaged or a run is not finished, 2 when a folder
    is no results folder or a run is writing to it.

    Example: `gym-memory verify results/first`
    """
    found = [
        (folder, finding)
        for folder in iter_folders(folders)
        for finding in verify(folder, repair=repair)
    ]
    if json_lines:
        print_json([{"folder": str(folder), **finding._asdict()} for folder, finding in found])
    else:
        table = new_table("folder", "state", "part", "found")
        before = None
        for folder, finding in found:
            state = f"[{_COLOURS[finding.state]}]{finding.state}[/]"
            shown = escape(str(folder)) if folder != before else ""
            table.add_row(shown, state, escape(finding.part), escape(finding.text))
            before = folder
        output().print(table)
    raise typer.Exit(int(any(f.state in ("unfinished", "damaged") for _, f in found)))
