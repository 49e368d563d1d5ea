"""The protocol of a durable store's database: one transaction at a time, and a schema.

The same SQL runs on a file (:mod:`.sqlite`) and a server (:mod:`.postgres`), with ``?`` for
arguments. A released file of ``migrations`` never changes.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["COLUMNS", "Connection", "Cursor", "Damage", "Database", "Vector", "check_row"]
__all__ += ["checksum", "equals", "migrations"]

Vector = NDArray[np.float32]


class Damage(Exception):
    """A row that no store wrote."""


COLUMNS = {
    "record": ("seq", "memory", "key", "kind", "payload"),
    "partition": ("id", "env", "task", "encoder", "last"),
    "fact": ("partition", "number", "subject", "relation", "object", "embedding"),
    "event": ("partition", "seq", "t", "fact", "retired_by"),
    "observation": ("partition", "number", "t", "text", "action", "facts"),
    "mention": ("partition", "seq", "fact", "observation", "first", "stop", "said_by"),
}
"""Columns of each table that its checksum is over: a row never changes them but for ``last``."""


def checksum(table: str, row: Sequence[Any]) -> int:
    """Return the CRC-32 of a row, its vector as an array: equal in a file and on a server."""
    *values, last = row
    if isinstance(last, np.ndarray):
        last = last.astype("<f2").tobytes().hex()
    return zlib.crc32("\x1f".join(map(str, (table, *values, last))).encode())


def check_row(table: str, row: Sequence[Any], known: int | None) -> None:
    """Raise Damage for a row whose checksum differs; rows of older versions have none."""
    if known is not None and checksum(table, row) != known:
        keys = COLUMNS[table][: 2 if COLUMNS[table][0] == "partition" else 1]
        place = ", ".join(map("{} {!r:.40}".format, keys, row))
        raise Damage(f"{table} with {place} was changed after it was written")


class Cursor(Protocol):
    """An answer to a query."""

    @property
    def rowcount(self) -> int:
        """Return the number of rows that it changed."""
        ...

    def fetchone(self) -> Any:
        """Return the next row; None at the end."""
        ...

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""
        ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """A connection within a transaction."""

    def execute(self, query: str, arguments: Sequence[Any] = ..., /) -> Cursor:
        """Run one statement."""
        ...

    def executemany(self, query: str, rows: Iterable[Sequence[Any]], /) -> object:
        """Run one statement for each row."""
        ...


class Database(Protocol):
    """A file or server, ``place`` for people; holds no connection, so it can be pickled."""

    place: str

    def reading(self) -> AbstractContextManager[Connection]:
        """Open a transaction that sees one state of everything; raises StoreError."""
        ...

    def writing(self, name: str) -> AbstractContextManager[Connection]:
        """Open a transaction, all or nothing; those with one ``name`` run one at a time."""
        ...

    def take_numbers(self, connection: Connection, wanted: Sequence[int]) -> bool:
        """True if these numbers may be those of the first records; later ones come after."""
        ...

    def go_on(self, connection: Connection) -> None:
        """Give later records and partitions numbers above those that were copied here."""
        ...

    def vector(self, vector: Vector) -> Any:
        """Return a vector of whole numbers up to 2048 as an argument of a query."""
        ...

    def numbers_of(self, vector: Any) -> Vector:
        """Return the vector that a query gave."""
        ...

    def nearest(self, vector: Vector, k: int, parts: Mapping[str, str]) -> list[Any]:
        """Return the ``k`` live facts with the largest dot product, and perhaps some after them.

        ``parts`` maps columns (``env``, ``task``, ``encoder``) to the values of the partitions.

        Returns:
            Rows (minus the product, partition, number, env, task, subject, relation, object).
        """
        ...

    def index(self, connection: Connection, dim: int) -> None:
        """Keep an index over all vectors of a length, where the database has such."""
        ...


def equals(columns: Iterable[str]) -> str:
    """Return the condition that columns have the values given as arguments."""
    return " AND ".join(f"{column} = ?" for column in columns)


def migrations(kind: str) -> list[Path]:
    """Return the schema's files for one kind of database, in order."""
    return sorted((Path(__file__).parent / "migrations" / kind).glob("*.sql"))
