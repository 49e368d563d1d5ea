"""Schema of a durable store's database, and the database in one SQLite file.

The same SQL runs on a file and a server (:mod:`.postgres`), with ``?`` for arguments. A released
file of ``migrations`` never changes. Every call opens the SQLite file, runs one transaction and
closes it. Network drives are not supported, nor a fork while another thread is in a call.
"""

from __future__ import annotations

import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gym_memory.core.errors import StoreError

__all__ = ["COLUMNS", "Connection", "Damage", "SqliteDatabase", "Vector", "check_row", "checksum"]
__all__ += ["equals", "migrations"]

Vector = NDArray[np.float32]


class Damage(Exception):
    """A row that a store cannot have written."""


COLUMNS = {
    "record": ("seq", "memory", "key", "kind", "payload"),
    "partition": ("id", "env", "task", "encoder", "last"),
    "fact": ("partition", "number", "subject", "relation", "object", "embedding"),
    "event": ("partition", "seq", "t", "fact", "retired_by"),
    "observation": ("partition", "number", "t", "text", "action", "facts"),
    "mention": ("partition", "seq", "fact", "observation", "first", "stop", "said_by"),
}
"""Columns of each table that its checksum covers; only ``last`` ever changes in a row."""


def checksum(table: str, row: Sequence[Any]) -> int:
    """Return the CRC-32 of a row with its vector as an array, equal in a file and on a server."""
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


class Connection(Protocol):
    """A connection within a transaction."""

    def execute(self, query: str, arguments: Sequence[Any] = ..., /) -> Any:
        """Run one statement; return its cursor."""
        ...

    def executemany(self, query: str, rows: Iterable[Sequence[Any]], /) -> object:
        """Run one statement for each row."""
        ...


def equals(columns: Iterable[str]) -> str:
    """Return an SQL condition that columns equal the arguments."""
    return " AND ".join(f"{column} = ?" for column in columns)


def migrations(kind: str) -> list[Path]:
    """Return the schema's files for one kind of database, in order."""
    return sorted((Path(__file__).parent / "migrations" / kind).glob("*.sql"))


_APPLICATION_ID = 0x67796D6D  # "gymm", marks our files among SQLite databases


class SqliteDatabase:
    """A database in a file, created if there is none; an unusable file stays as it is (StoreError).

    It has no open connection, so it can be pickled; ``place`` is for messages.
    """

    def __init__(self, path: str | os.PathLike[str], timeout: float):
        if "\0" in os.fspath(path):  # SQLite would open the path before the zero byte
            raise StoreError(f"expected the path of a memory store, got {os.fspath(path)!r}")
        self.path = Path(path).absolute()
        self.place = str(self.path)
        self.timeout = timeout
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.path.exists() and self.path.stat().st_size:
                self._check()
        except OSError as error:
            raise StoreError(f"cannot open a memory store at {self.place!r}: {error}") from error
        self._upgrade()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction that sees one state of the file; raises StoreError."""
        with self._transaction("DEFERRED") as connection:
            yield connection

    @contextmanager
    def writing(self, name: str) -> Iterator[sqlite3.Connection]:
        """Open a writing transaction; a file has one at a time, whatever the ``name``."""
        with self._transaction("IMMEDIATE") as connection:
            yield connection

    def take_numbers(self, connection: Any, wanted: Sequence[int]) -> bool:
        """True if records may have the numbers ``wanted``: none was ever stored.

        SQLite continues after the highest number by itself.
        """
        query = "SELECT 1 FROM sqlite_sequence WHERE name = 'record'"
        return connection.execute(query).fetchone() is None

    def go_on(self, connection: Any) -> None:
        """Do nothing, because SQLite continues after the highest number by itself."""

    def vector(self, vector: Vector) -> bytes:
        """Return a vector of whole numbers up to 2048 as float16 bytes, an argument of a query."""
        return vector.astype("<f2").tobytes()

    def numbers_of(self, vector: bytes) -> Vector:
        """Return the vector that the bytes encode."""
        return np.frombuffer(vector, dtype="<f2").astype(np.float32)

    def nearest(self, vector: Vector, k: int, parts: Mapping[str, str]) -> list[Any]:
        """Scan partitions for the ``k`` live facts with the largest dot products.

        ``parts`` maps columns (``env``, ``task``, ``encoder``) to the values of the partitions.

        Returns:
            Rows (minus the product, partition, number, env, task, subject, relation, object).
        """

        def distance(embedding: bytes) -> float:
            return -float(self.numbers_of(embedding) @ vector)

        query = (
            "SELECT distance(embedding), id, number, env, task, subject, relation, object "
            "FROM partition JOIN fact ON fact.partition = id "
            f"WHERE live = 1 AND {equals(parts)} ORDER BY 1, 2, 3 LIMIT ?"
        )
        with self.reading() as connection:
            connection.create_function("distance", 1, distance, deterministic=True)
            return list(connection.execute(query, (*parts.values(), k)))

    def index(self, connection: Any, dim: int) -> None:
        """Do nothing, because a file has no such index."""

    def _check(self) -> None:
        # SQLite rolls back an interrupted write, which needs the right to write.
        mode = "rw" if Path(f"{self.path}-journal").exists() else "ro"
        with self._reported(), closing(self._connect(mode)) as connection:
            connection.execute("BEGIN")  # another process may be upgrading
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            owner = connection.execute("PRAGMA application_id").fetchone()[0]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            known = len(migrations("sqlite"))
            if owner != _APPLICATION_ID and tables:
                raise StoreError(
                    f"expected a memory store at {self.place!r}, found the SQLite database "
                    "of another program: choose another path"
                )
            if version > known:
                raise StoreError(
                    f"the memory store {self.place!r} has version {version}, written by a "
                    f"newer gym-memory; this one knows versions up to {known}: upgrade gym-memory"
                )
            # A view or trigger in an untrusted file would run on use.
            changed = _schema(connection) ^ _expected_schema(version)
            if changed:
                names = ", ".join(sorted({name for _, name, _ in changed}))
                raise sqlite3.DatabaseError(f"its tables are not those of a store: {names}")
            found = [row[0] for row in connection.execute("PRAGMA integrity_check(3)")]
            if found != ["ok"]:
                raise sqlite3.DatabaseError("; ".join(found))

    def _upgrade(self) -> None:
        scripts = _scripts()
        with self._reported(), closing(self._connect("rwc")) as connection:
            deadline = time.monotonic() + self.timeout
            while True:  # switching the log on does not wait for others
                try:
                    connection.execute("PRAGMA journal_mode = WAL")
                    break
                except sqlite3.OperationalError as error:
                    if "locked" not in str(error) or time.monotonic() > deadline:
                        raise
                    time.sleep(0.02)
            connection.execute("BEGIN IMMEDIATE")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version < len(scripts):
                _run(connection, scripts[version:])
                connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {len(scripts)}")
            connection.execute("COMMIT")

    def _connect(self, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode={mode}",
            uri=True,
            timeout=self.timeout,
            isolation_level=None,
        )
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[sqlite3.Connection]:
        with self._reported(), closing(self._connect("rw")) as connection:
            connection.execute(f"BEGIN {kind}")
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            hint = (
                f"another process has been writing for more than {self.timeout:g} seconds"
                if "locked" in str(error)
                else "check that the file and its folder exist and can be written"
            )
            raise StoreError(
                f"cannot use the memory store {self.place!r}: {error} ({hint})"
            ) from error
        except (sqlite3.DatabaseError, UnicodeDecodeError, Damage) as error:
            # SQLite's message quotes the damage, which may be undecodable.
            if type(error) not in (sqlite3.DatabaseError, UnicodeDecodeError, Damage):
                raise  # a programming error
            raise StoreError(
                f"the memory store {self.place!r} is damaged: {error}. Nothing was changed. "
                "`gym-memory verify` says what is whole. "
                "Move the file away and import a JSONL export into a new store; "
                f"`sqlite3 {self.path.name} .recover` may save what is readable"
            ) from error


def _scripts() -> list[str]:
    return [path.read_text(encoding="utf-8") for path in migrations("sqlite")]


def _run(connection: sqlite3.Connection, scripts: Sequence[str]) -> None:
    for script in scripts:
        for statement in script.split(";"):
            connection.execute(statement)


@lru_cache(maxsize=16)
def _expected_schema(version: int) -> frozenset[tuple[str, str, str]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        _run(connection, _scripts()[:version])
        return _schema(connection)


def _schema(connection: sqlite3.Connection) -> frozenset[tuple[str, str, str]]:
    """Return the kind, name and definition of every object in a database's schema."""
    query = "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"
    return frozenset(row for row in connection.execute(query) if not row[1].startswith("sqlite_"))
