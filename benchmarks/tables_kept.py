"""Read the kept data of benchmarks, and write rows as Markdown; shared by all tables."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from keep import read_rows

from gym_memory.core.names import Spec

HERE = Path(__file__).parent
README = HERE.parent / "README.md"
RESULTS = HERE.parent / "docs" / "results"


def read(path: str) -> Any:
    data = (HERE / path).read_bytes()
    return json.loads(gzip.decompress(data) if path.endswith(".gz") else data)


def rows_of(path: str) -> list[dict[str, Any]]:
    return list(read_rows(HERE / path))


@cache
def by_run(path: str) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each run that keep.py packed into a file."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in read_rows(HERE / path):
        found.setdefault(row.pop("run"), []).append(row)
    return found


def markdown_table(heads: Sequence[str], words: int, rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown; the first columns are words, the others numbers."""
    line = "|---" * words + "|--:" * (len(heads) - words) + "|"
    return "\n".join([_row(heads), line, *map(_row, rows), ""])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def short_name(env: str) -> str:
    name, settings = Spec(env).parts
    return f"{name} {settings.get('level', '')}".strip()
