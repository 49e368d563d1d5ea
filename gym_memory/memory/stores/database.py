"""What a durable store needs of a database: one transaction at a time, and a schema.

The same SQL runs on both databases, with ``?`` for arguments. What they do differently is here
and in their modules: :mod:`.sqlite` for a file, :mod:`.postgres` for a server. The schema is a
folder of numbered SQL files a database under ``migrations``; one that was released never changes.
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
    """The answer to a query."""

    @property
    def rowcount(self) -> int:
        """Rows that it changed."""
        ...

    def fetchone(self) -> Any:
        """The next row; None at the end."""
        ...

    def fetchall(self) -> list[Any]:
        """All rows that are left."""
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
    """Where a store is. Holds no connection, so it can be pickled and outlives a fork.

    Attributes:
        place: Its name for people; without a password.
    """

    place: str

    def reading(self) -> AbstractContextManager[Connection]:
        """A transaction that sees one state of everything.

        Raises:
            StoreError: The database cannot be used, or is damaged.
        """
        ...

    def writing(self, name: str) -> AbstractContextManager[Connection]:
        """A transaction that is committed as a whole or not at all.

        Of those with the same ``name`` one runs at a time, so they see each other's work in the
        order of their commits.

        Raises:
            StoreError: The database cannot be written, is damaged, or others wrote too long.
        """
        ...

    def take_numbers(self, connection: Connection, wanted: Sequence[int]) -> bool:
        """Whether these numbers may be those of the first records; later ones then come after."""
        ...

    def vector(self, vector: Vector) -> Any:
        """A vector of whole numbers up to 2048, which float16 holds, as an argument of a query."""
        ...

    def numbers_of(self, vector: Any) -> Vector:
        """The vector that a query gave."""
        ...

    def nearest(self, vector: Vector, k: int, parts: Mapping[str, str]) -> list[Any]:
        """The ``k`` live facts with the largest dot product, and perhaps some after them.

        Args:
            vector: Whole numbers, as for :meth:`vector`.
            k: Most facts, >= 1.
            parts: Columns (``env``, ``task``, ``encoder``) to what the partitions have in them.

        Returns:
            Rows (minus the product, partition, number, env, task, subject, relation, object).
        """
        ...

    def index(self, connection: Connection, dim: int) -> None:
        """Keep an index over all vectors of a length, where the database has such."""
        ...


def equals(columns: Iterable[str]) -> str:
    """The condition that columns have the values given as arguments."""
    return " AND ".join(f"{column} = ?" for column in columns)


def migrations(kind: str) -> list[Path]:
    """The schema's files for one kind of database, in order."""
    return sorted((Path(__file__).parent / "migrations" / kind).glob("*.sql"))
