"""``gym-memory report``, ``verify`` and ``export``: read results folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text
from typer import Argument, Option

from gym_memory.cli import options
from gym_memory.cli.show import print_json, print_scores, print_table, progress
from gym_memory.core.errors import InvalidArgumentError

if TYPE_CHECKING:
    from gym_memory.run.results.learning import TrainingRun

__all__ = ["check", "export", "print_learning", "report"]

_COLOURS = {
    "ok": "green",
    "note": "cyan",
    "repaired": "yellow",
    "unfinished": "yellow",
    "damaged": "red",
}


def report(
    folders: Annotated[list[Path], Argument(help="Results folders, finished or not.")],
    out: Annotated[
        Path | None,
        Option("--out", "-o", help="Folder of the report; default: the one results folder."),
    ] = None,
    against: Annotated[
        str, Option(help="Memory or policy that the others are compared with; default: none.")
    ] = "",
    json_lines: options.Json = False,
    allow_version_mismatch: options.AllowVersionMismatch = False,
) -> None:
    """Write summary.json, report.md and the plots of results folders; print the table.

    For folders of `gym-memory train`, or a folder that contains them, it writes learning.html with
    all learning curves in one figure.

    Example: `gym-memory report results/monday results/tuesday --out results/both`
    """
    from gym_memory.run.results.folder import iter_folders
    from gym_memory.run.results.learning import is_training, write_learning
    from gym_memory.run.results.report import build_report

    if out is None and len(folders) > 1:
        raise InvalidArgumentError("expected --out FOLDER for the report of several runs, got none")
    target = out or folders[0]
    found = list(iter_folders(folders))
    if any(trained := [is_training(folder) for folder in found]):
        if not all(trained):
            raise InvalidArgumentError(
                "expected runs or trainings, got both: report them separately"
            )
        runs = write_learning(found, target)
        print_learning(runs, json_lines=json_lines)
        progress().print(f"Page: {target / 'learning.html'}", soft_wrap=True)
        return
    rows = build_report(
        folders, target, against=against, allow_version_mismatch=allow_version_mismatch
    )
    if json_lines:
        print_json([row.to_json() for row in rows])
    else:
        print_scores(rows)
    progress().print(f"Report: {target / 'report.md'}", soft_wrap=True)
    raise typer.Exit(int(any(row.n_failed for row in rows)))


def print_learning(runs: Sequence[TrainingRun], *, json_lines: bool = False) -> None:
    """Print one line per training, or every measurement as JSON."""
    from gym_memory.run.results.learning import LEARNING_HEADS, learning_table

    if json_lines:
        print_json([{"run": run.name, **row} for run in runs for row in run.rows])
        return
    print_table(
        LEARNING_HEADS, learning_table(runs),
        right=LEARNING_HEADS[4:], minor=("CPU s", "at"), title="trainings",
    )  # fmt: skip


def check(
    places: Annotated[
        list[str],
        Argument(
            help="Results folders, or folders of them; stores or their URLs, saved "
            "memories, recorded steps, checkpoints."
        ),
    ],
    repair: Annotated[
        bool, Option("--repair/--no-repair", help="Remove what an interrupted write left.")
    ] = True,
    json_lines: options.Json = False,
) -> None:
    """Check that results, stores and checkpoints are undamaged, and print what was found.

    A results folder is whole if its settings and versions are readable, each job is there exactly
    once and no other, a seed has the same task everywhere, there are as many recorded steps as the
    episodes report, and each file has the size and SHA-256 in `manifest.json`, which a finished run
    writes. A torn last line, episodes of a killed job and temporary files are removed; nothing else
    changes. A store is whole if the checksum of every row is right; else the answer says what a
    salvage keeps.

    Exit status: 0 when each folder or file is finished and whole (repaired counts as whole; failed
    episodes are results), 1 when something is damaged or a run is not finished, 2 when a folder
    has no results or a run is writing to it.

    Example: `gym-memory verify results/first lessons.db`
    """
    from gym_memory.evaluate.rank.result import RESULT, verify_rank
    from gym_memory.run.results.verify import verify_all

    found = list(verify_all(places, repair=repair))
    for place in filter(lambda place: Path(place, RESULT).is_file(), places):
        found += [(place, finding) for finding in verify_rank(Path(place))]
    if json_lines:
        print_json([{"folder": str(folder), **finding._asdict()} for folder, finding in found])
    else:
        lines = [
            (folder, Text(state, _COLOURS[state]), part, text)
            for folder, (state, part, text) in found
        ]
        print_table(("folder", "state", "part", "found"), lines, parted=True)
    raise typer.Exit(int(any(f.state in ("unfinished", "damaged") for _, f in found)))


def export(
    folder: Annotated[Path, Argument(help="Results folder; for a card also one of a training.")],
    form: Annotated[
        str, Option("--format", "-f", help="stepwise, chat, minari or card.")
    ] = "stepwise",
    out: Annotated[
        str, Option("--out", "-o", help="File, or name of the Minari dataset, SPACE/NAME-v0.")
    ] = "",
    max_actions: Annotated[
        int | None, Option(min=0, help="Most valid actions that a prompt lists; default: all.")
    ] = None,
) -> None:
    """Write the recorded steps of a run as Parquet or as a Minari dataset, or write a card.

    `stepwise` has one row per step, `chat` the messages of language agents. `card` describes a run,
    or a trained player, as README.md for a hub of data or models.

    Example: `gym-memory export results/first --format stepwise --out steps.parquet`
    """
    from gym_memory.train.export import export as write

    where, count = write(folder, form, out or None, max_actions)
    what = {"minari": "episodes", "card": "card"}.get(form, "rows")
    progress().print(f"{count} {what}: {where}", soft_wrap=True)
