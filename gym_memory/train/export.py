"""Results as files for trainers: Parquet of steps or chats, or a Minari dataset."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gym_memory.core.errors import ResultsError, UnknownNameError
from gym_memory.core.optional import require
from gym_memory.train.steps import chat_rows, played, step_rows

__all__ = ["FORMATS", "export", "to_parquet"]

_ROW_GROUP = 4096

ROWS: dict[str, Callable[..., Iterator[dict[str, Any]]]] = {
    "stepwise": step_rows,
    "chat": chat_rows,
}
FORMATS = (*ROWS, "minari")
"""What :func:`export` can make."""


def export(
    folder: str | os.PathLike[str],
    form: str = "stepwise",
    out: str | os.PathLike[str] | None = None,
    max_actions: int | None = None,
) -> tuple[str, int]:
    """Write what was played in a results folder in a form that trainers read.

    Args:
        folder: A results folder with recorded steps.
        form: One of :data:`FORMATS`.
        out: The Parquet file, or the name of the Minari dataset; by default ``FORM.parquet`` in
            the folder, or ``gym_memory/FOLDER-v0``.
        max_actions: Valid actions that a prompt lists, at most; None for all.

    Returns:
        Where it is, and how many rows (or, for Minari, episodes) it has.

    Raises:
        ResultsError: The folder holds no finished episode with recorded steps.
        UnknownNameError: No such form.
        MissingDependencyError: The packages for the form are not installed.
    """
    if form not in FORMATS:
        raise UnknownNameError("format", form, FORMATS)
    episodes = played(folder)
    if form == "minari":
        from gym_memory.train.minari import to_minari

        return to_minari(list(episodes), str(out or f"gym_memory/{Path(folder).name}-v0"))
    target = Path(out or Path(folder) / f"{form}.parquet")
    return str(target), to_parquet(ROWS[form](episodes, max_actions), target)


def to_parquet(rows: Iterator[dict[str, Any]], path: Path) -> int:
    """Write rows of plain values; they are read back by ``datasets`` and ``pyarrow``.

    Returns:
        The number of rows.

    Raises:
        ResultsError: There are none.
        MissingDependencyError: pyarrow is not installed.
    """
    pyarrow = require("pyarrow", "export", "Parquet files")
    parquet = require("pyarrow.parquet", "export", "Parquet files")
    held = list(rows)
    if not held:
        raise ResultsError("expected finished episodes with recorded steps, got none")
    table = pyarrow.Table.from_pylist(held)
    if "logprobs" in table.column_names:  # all unknown: a type nevertheless
        kind = pyarrow.list_(pyarrow.float64())
        at = table.column_names.index("logprobs")
        table = table.set_column(at, "logprobs", table["logprobs"].cast(kind))
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.tmp")
    parquet.write_table(table, scratch, row_group_size=_ROW_GROUP)
    os.replace(scratch, path)
    return len(held)
