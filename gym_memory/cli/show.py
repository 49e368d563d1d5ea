"""Output of commands: tables on standard output, progress on standard error."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from gym_memory.cli import SHOWN
from gym_memory.cli.tables import Columns, fit
from gym_memory.draw.escape import json_visible, visible

if TYPE_CHECKING:
    from gym_memory.run.compare import OnProgress
    from gym_memory.run.config import EpisodeRow
    from gym_memory.run.results.score import TableRow

__all__ = ["new_progress", "now_and_then", "output", "print_json", "print_scores", "print_table"]
__all__ += ["progress", "shown_progress"]


class _Console(Console):
    """A console that escapes the control characters of untrusted texts, and reads no markup."""

    def __init__(self, **options: Any):
        super().__init__(markup=False, highlight=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(visible(text), **options)


def output() -> Console:
    """Return the console of standard output; if it is no terminal, wide enough to cut nothing."""
    console = _Console()
    return console if console.is_terminal else _Console(width=200)


def progress() -> Console:
    """Return the console of standard error, which wraps lines only in a terminal."""
    return _Console(stderr=True, soft_wrap=not sys.stderr.isatty())


def print_json(records: Sequence[Any]) -> None:
    """Print one JSON object per line."""
    for record in records:
        print(json_visible(json.dumps(record, ensure_ascii=False)))


def print_table(
    header: Sequence[str],
    rows: Iterable[Sequence[str | Text]],
    *,
    right: Sequence[str] = (),
    minor: Sequence[str] = (),
    whole: Sequence[str] = (),
    title: str = "",
    parted: bool = False,
) -> None:
    """Print rows of texts within the width of the terminal.

    Args:
        header: Headings of the columns.
        rows: Cells of each row.
        right: Columns of numbers, which are never cut.
        minor: Columns that a narrow terminal leaves out, the least important first.
        whole: Columns to copy from, which are neither cut nor wrapped.
        title: Title of the table.
        parted: Show an equal first cell once, then a line.
    """
    console = output()
    texts = ([c if isinstance(c, Text) else Text(visible(c)) for c in row] for row in rows)
    columns = Columns(header, right, minor, whole)
    width = console.width if console.is_terminal and not SHOWN["wide"] else None
    table, needed = fit(columns, texts, width, title=visible(title), parted=parted)
    console.width = max(console.width, needed)
    console.print(table, soft_wrap=False)


def print_scores(rows: Sequence[TableRow]) -> None:
    """Print the results, one table per protocol."""
    from gym_memory.run.results.score import score_lines

    for protocol in dict.fromkeys(row.protocol for row in rows):
        header, lines = score_lines([row for row in rows if row.protocol == protocol])
        failed = header.index("failed")
        for line in lines:
            line[failed] = Text(line[failed], "red" if line[failed] != "0" else "")
        print_table(
            header, lines, right=header[3:], minor=_MINOR_SCORES, title=protocol, parted=True
        )


_MINOR_SCORES = ("memory ms/step", "USD", "memory tokens", "steps", "n", "failed", "success")
"""Columns of scores, in the order in which a narrow terminal drops them."""


def new_progress(*columns: ProgressColumn, times: bool = True) -> Progress:
    """Build a progress bar on standard error; ``columns`` come before the times."""
    around = (TextColumn("{task.description}"), BarColumn(20 if columns and not times else 40))
    clocks = (TimeElapsedColumn(), TimeRemainingColumn()) if times else (TimeElapsedColumn(),)
    where = progress()
    return Progress(*around, *columns, *clocks, console=where, transient=not where.is_terminal)


def now_and_then(seconds: float) -> Callable[[str], None]:
    """Return a printer of at most one line per ``seconds``, used instead of a progress bar."""
    where, last = progress(), time.monotonic()

    def show(line: str) -> None:
        nonlocal last
        if not where.is_terminal and time.monotonic() - last >= seconds:
            last = time.monotonic()
            where.print(line, soft_wrap=True)

    return show


@contextlib.contextmanager
def shown_progress(title: str) -> Iterator[OnProgress]:
    """Show a progress bar on standard error; yield the callback for ``compare``."""
    bar = new_progress(MofNCompleteColumn(), TextColumn("[red]{task.fields[failed]}"))
    failed, show = 0, now_and_then(30)
    with bar:
        task = bar.add_task(escape(title), total=None, failed="")

        def update(done: int, total: int, rows: Sequence[EpisodeRow]) -> None:
            nonlocal failed
            failed += any(row.result.failed for row in rows)
            text = f"{failed} failed" if failed else ""
            bar.update(task, completed=done, total=total, failed=text)
            show(f"{title}: {done} of {total} {text}".rstrip())

        yield update
