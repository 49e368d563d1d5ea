"""What a durable store needs of a database: one transaction at a time, and a schema.

The same SQL runs on both databases, with ``?`` for arguments. What they do differently is here
and in their modules: :mod:`.sqlite` for a file, :mod:`.postgres` for a server. The schema is a
folder of numbered SQL files a database under ``migrations``; one that was released never changes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

__all__ = ["Connection", "Cursor", "Damage", "Database", "is_url", "migrations", "open_database"]

_URL = re.compile(r"postgres(ql)?://")


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

    def vector(self, connection: Connection, vector: Any) -> Any:
        """A float32 vector as an argument of a query."""
        ...

    def numbers_of(self, vector: Any) -> Any:
        """The float32 vector that a query gave."""
        ...


def is_url(place: object) -> bool:
    """Whether a store's place is the URL of a server, and not a file."""
    return isinstance(place, str) and _URL.match(place) is not None


def migrations(kind: str) -> list[Path]:
    """The schema's files for one kind of database, in order."""
    return sorted((Path(__file__).parent / "migrations" / kind).glob("*.sql"))


def open_database(place: str | os.PathLike[str], timeout: float) -> Database:
    """The database at a path or a ``postgresql://`` URL, brought to the present schema.

    Raises:
        StoreError: It cannot be used.
        MissingDependencyError: The package for a server is absent.
    """
    if is_url(place):
        from gym_memory.memory.records.postgres import PostgresDatabase

        return PostgresDatabase(str(place), timeout)
    from gym_memory.memory.records.sqlite import SqliteDatabase

    return SqliteDatabase(place, timeout)
