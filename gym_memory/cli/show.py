"""What commands print: tables on standard output, progress on standard error."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
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
from rich.table import Table
from rich.text import Text

from gym_memory.core.html import json_visible, visible

if TYPE_CHECKING:
    from gym_memory.run.compare import OnProgress
    from gym_memory.run.jobs import EpisodeRow
    from gym_memory.run.results.score import TableRow

__all__ = ["new_progress", "new_table", "output", "print_json", "print_scores", "progress"]
__all__ += ["now_and_then", "shown_progress"]


class _Console(Console):
    """Shows control characters, which a stranger's text could send to the terminal."""

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(visible(text), **options)


def output() -> Console:
    """Return standard output; where it is no terminal, wide enough to cut nothing."""
    console = _Console(highlight=False)
    return console if console.is_terminal else _Console(highlight=False, width=200)


def progress() -> Console:
    """Return standard error."""
    return _Console(stderr=True, highlight=False)


def print_json(records: Sequence[Any]) -> None:
    """Print one object a line."""
    for record in records:
        print(json_visible(json.dumps(record, ensure_ascii=False)))


def new_table(*names: str, right: Sequence[str] = (), title: str = "") -> Table:
    """Build a table; columns named in ``right`` hold numbers."""
    table = Table(title=title or None, title_justify="left", header_style="bold")
    for name in names:
        numeric = name in right
        table.add_column(name, justify="right" if numeric else "left", no_wrap=numeric)
    return table


def print_scores(rows: Sequence[TableRow]) -> None:
    """Print the results, one table a protocol."""
    from gym_memory.run.results.score import (
        format_interval,
        format_number,
        format_score,
        with_fallbacks,
    )

    swept = len({row.budget for row in rows}) > 1
    unguided = ["fallbacks"] if with_fallbacks(rows) else []
    counts = ("n", "failed", "score", "95 %", "success", "steps", *unguided)
    counts += ("ms/step", "tokens", "USD")
    numbers = ("budget", *counts) if swept else counts
    for protocol in dict.fromkeys(row.protocol for row in rows):
        names = ("environment", "memory", "policy", *numbers)
        table = new_table(*names, right=numbers, title=protocol)
        shown = [row for row in rows if row.protocol == protocol]
        for row in shown:
            failed = f"[red]{row.n_failed}[/red]" if row.n_failed else "0"
            table.add_row(
                *(escape(row.env), escape(row.memory), escape(row.policy)),
                *([f"{row.budget:,}"] if swept else []),
                *(str(row.n), failed),
                *(format_score(row), escape(format_interval(row.score_ci))),
                *(format_number(row.success, ".2f"), format_number(row.steps, ".1f")),
                *(format_number(row.fallbacks, ".0%") for _ in unguided),
                *(format_number(row.memory_ms, ".3f"), format_number(row.tokens, ".0f")),
                f"{row.cost_usd:.2f}",
                end_section=row is not shown[-1] and shown[shown.index(row) + 1].env != row.env,
            )
        output().print(table)


def new_progress(*columns: ProgressColumn) -> Progress:
    """Build a progress bar on standard error, with columns of its own before the times."""
    around = (TextColumn("{task.description}"), BarColumn())
    times = (TimeElapsedColumn(), TimeRemainingColumn())
    where = progress()
    return Progress(*around, *columns, *times, console=where, transient=not where.is_terminal)


def now_and_then(seconds: float) -> Callable[[str], None]:
    """Return a printer of lines for where no progress bar shows, with ``seconds`` between two."""
    where, last = progress(), time.monotonic()

    def show(line: str) -> None:
        nonlocal last
        if not where.is_terminal and time.monotonic() - last >= seconds:
            last = time.monotonic()
            where.print(line, markup=False, soft_wrap=True)

    return show


@contextlib.contextmanager
def shown_progress(title: str) -> Iterator[OnProgress]:
    """Show a progress bar on standard error; gives the callback for ``compare``."""
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
