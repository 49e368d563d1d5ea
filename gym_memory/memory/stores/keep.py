"""Check, back up and restore durable stores, in a file or on a server.

A backup is a store in a file; it copies one state of everything while others write.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gym_memory.core.errors import InvalidArgumentError, StoreError
from gym_memory.memory.stores.database import (
    COLUMNS,
    Connection,
    Damage,
    Database,
    SqliteDatabase,
    check_row,
)
from gym_memory.memory.stores.store import open_database

__all__ = ["CheckedTable", "backup", "check_store", "restore"]

_TIMEOUT = 30.0
_PARTS = tuple(table for table, columns in COLUMNS.items() if columns[0] == "partition")


class CheckedTable(NamedTuple):
    """A table's rows, those without a checksum, and what is damaged, a line each.

    ``lost`` has the numbers of records or partitions that a salvage leaves out.
    """

    table: str
    rows: int
    unsealed: int
    damaged: tuple[str, ...]
    lost: frozenset[int]


def check_store(place: str | os.PathLike[str]) -> list[CheckedTable]:
    """Check every row of a store against its checksum, and that none is missing."""
    database = _there(place)
    with database.reading() as connection:
        return [_check(database, connection, table) for table in COLUMNS]


def backup(
    place: str | os.PathLike[str], target: str | os.PathLike[str], *, salvage: bool = False
) -> int:
    """Copy a store to a file, which is replaced at once; return its rows.

    Args:
        place: A file, or the URL of a server.
        target: The file to write.
        salvage: Leave out damaged records and graphs; without it they are a StoreError.
    """
    path = Path(target)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    source = _there(place)
    try:
        rows = _copy(source, SqliteDatabase(temporary, _TIMEOUT), salvage=salvage)
        if Path(f"{temporary}-wal").exists():  # SQLite is silent if it cannot write its log back
            raise OSError("it could not be written as a whole")
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise StoreError(f"cannot write a backup to {str(path)!r}: {error}") from error
    finally:
        for left in (temporary, *path.parent.glob(f"{temporary.name}-*")):
            with suppress(OSError):
                left.unlink(missing_ok=True)
    return rows


def restore(
    source: str | os.PathLike[str], place: str | os.PathLike[str], *, replace: bool = False
) -> int:
    """Copy a backup into a store, all or nothing; return its rows.

    Args:
        source: The file that :func:`backup` wrote.
        place: A file, or the URL of a server.
        replace: Delete what the store holds; without it, it must be empty.
    """
    return _copy(_there(source), open_database(place, _TIMEOUT), replace=replace)


def _there(place: str | os.PathLike[str]) -> Database:
    if "://" not in os.fspath(place) and not Path(place).is_file():
        raise StoreError(f"expected a memory store at {os.fspath(place)!r}, got no such file")
    return open_database(place, _TIMEOUT)


def _copy(
    source: Database, target: Database, *, salvage: bool = False, replace: bool = False
) -> int:
    if source.place == target.place:
        raise InvalidArgumentError(f"expected two stores, got {source.place!r} twice")
    count = 0
    with source.reading() as reader, target.writing("records") as writer:
        for table in COLUMNS:
            if replace:
                writer.execute(f"DELETE FROM {table}")
            elif writer.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone():
                raise StoreError(
                    f"expected an empty store at {target.place!r}, got one with records: "
                    "--replace deletes them"
                )
        lost = {t: _check(source, reader, t).lost for t in COLUMNS} if salvage else {}
        parts = frozenset().union(*(lost.get(t, ()) for t in (*_PARTS, "partition")))
        for table in COLUMNS:
            out = lost.get(table, frozenset()) if table == "record" else parts
            rows = [
                values
                for row, more in _rows(source, reader, table)
                if row[0] not in out and (values := _kept(target, table, row, more, salvage))
            ]
            names = (*COLUMNS[table], *_more(table))
            marks = ", ".join("?" * len(names))
            insert = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})"
            writer.executemany(insert, rows)
            count += len(rows)
        target.go_on(writer)
    return count


def _kept(
    target: Database, table: str, row: Sequence[Any], more: Sequence[Any], salvage: bool
) -> tuple[Any, ...]:
    if not salvage:
        check_row(table, row, more[-1])
    vectors = (target.vector(v) if isinstance(v, np.ndarray) else v for v in row)
    return (*vectors, *more)


def _more(table: str) -> tuple[str, ...]:
    return ("live", "crc") if table == "fact" else ("crc",)


def _rows(
    database: Database, connection: Connection, table: str
) -> Iterator[tuple[list[Any], list[Any]]]:
    """Yield the sealed values of each row, vectors as arrays, and its other values."""
    columns = COLUMNS[table]
    query = f"SELECT {', '.join((*columns, *_more(table)))} FROM {table} ORDER BY 1, 2"
    for found in connection.execute(query):
        row, more = list(found[: len(columns)]), list(found[len(columns) :])
        if table == "fact" and row[-1] is not None:
            row[-1] = database.numbers_of(row[-1])
        yield row, more


def _check(database: Database, connection: Connection, table: str) -> CheckedTable:
    count = unsealed = 0
    damaged: list[str] = []
    lost: set[int] = set()
    following: dict[int, int] = {}
    for row, more in _rows(database, connection, table):
        count += 1
        unsealed += more[-1] is None
        try:
            check_row(table, row, more[-1])
            if table in _PARTS:
                if row[1] != following.get(row[0], 0):
                    raise Damage(f"{table} of partition {row[0]}: rows before {row[1]} are missing")
                following[row[0]] = row[1] + 1
        except Damage as error:
            damaged.append(str(error))
            lost.add(row[0])
            following[row[0]] = row[1] + 1 if isinstance(row[1], int) else 0
    return CheckedTable(table, count, unsealed, tuple(damaged), frozenset(lost))
