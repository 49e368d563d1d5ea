"""The protocol of a durable store's database: one transaction at a time, and a schema.

The same SQL runs on a file (:mod:`.sqlite`) and a server (:mod:`.postgres`), with ``?`` for
arguments. A released file of ``migrations`` never changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Connection",
    "Cursor",
    "Damage",
    "Database",
    "Vector",
    "equals",
    "migrations",
]

Vector = NDArray[np.float32]


class Damage(Exception):
    """A row that no store wrote."""


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
