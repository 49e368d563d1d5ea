"""A durable store of records, in a SQLite file or on a PostgreSQL server.

A record is a JSON payload in a namespace ``(memory, key, kind)``, e.g. ``("clin", "cooking",
"lesson")``, numbered by one increasing sequence. Each call is one transaction.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gym_memory.core.errors import InvalidArgumentError, StoreError
from gym_memory.core.files import parse_json, seal, typed, unseal, write_atomic
from gym_memory.memory.stores.database import (
    COLUMNS,
    Connection,
    Damage,
    SqliteDatabase,
    check_row,
    checksum,
)
from gym_memory.memory.stores.postgres import PostgresDatabase

__all__ = ["CheckedTable", "Record", "Store", "backup", "check_store", "is_url", "open_database"]
__all__ += ["exported_records", "restore"]

Database = SqliteDatabase | PostgresDatabase
_URL = re.compile(r"postgres(ql)?://")


def is_url(place: object) -> bool:
    """True if the place of a store is the URL of a server, not a file."""
    return isinstance(place, str) and _URL.match(place) is not None


def open_database(place: str | os.PathLike[str], timeout: float) -> Database:
    """Open the database at a path or a ``postgresql://`` URL, with the current schema."""
    if is_url(place):
        return PostgresDatabase(str(place), timeout)
    return SqliteDatabase(place, timeout)


_FORMAT = "gym_memory_store"
_EXPORTED = 1
"""Format version of exported lines."""
_FIELDS = ", ".join(COLUMNS["record"])
_ALL = "records"
"""Name of transactions on all namespaces."""


class Record(NamedTuple):
    """A stored payload, any JSON value with tuples as lists; each ``seq`` is used once."""

    seq: int
    memory: str
    key: str
    kind: str
    payload: Any


class _Row(NamedTuple):
    seq: int
    memory: str
    key: str
    kind: str
    payload: str


class Store:
    """Records in a file or on a server.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "lessons.db"
    >>> store = Store(path)
    >>> store.add("clin", "cooking", "lesson", "Opening the fridge may be necessary.")
    [1]
    >>> store.records("clin", "cooking")[0].payload
    'Opening the fridge may be necessary.'
    """

    def __init__(self, place: str | os.PathLike[str], timeout: float = 30.0):
        """Open a store; create it if there is none. Raises StoreError.

        Args:
            place: A file, or the URL of a server: ``postgresql://user@host/database``.
            timeout: Seconds to wait for other writers in each call.
        """
        self._database = open_database(place, timeout)

    @property
    def place(self) -> str:
        """Return the file, or the server's URL without its password."""
        return self._database.place

    def add(self, memory: str, key: str, kind: str, *payloads: Any) -> list[int]:
        """Append records to a namespace, all or nothing; return their numbers."""
        namespace = _namespace(memory, key, kind)
        rows = [(*namespace, _dump(payload)) for payload in payloads]
        with self._database.writing("/".join(namespace)) as connection:
            return _insert(connection, rows)

    def records(
        self,
        memory: str | None = None,
        key: str | None = None,
        kind: str | None = None,
        last: int | None = None,
    ) -> list[Record]:
        """Return records in order; None matches every name, ``last`` selects the newest ones."""
        with self._database.reading() as connection:
            return list(_select(connection, (memory, key, kind), last))

    def update(
        self, memory: str, key: str, kind: str, change: Callable[[list[Any]], Iterable[Any]]
    ) -> None:
        """Replace a namespace's payloads with ``change(payloads)``, in one transaction."""
        namespace = _namespace(memory, key, kind)
        with self._database.writing("/".join(namespace)) as connection:
            records = list(_select(connection, namespace))
            stay: dict[str, list[int]] = {}
            for record in records:
                stay.setdefault(_dump(record.payload), []).append(record.seq)
            fresh = []
            for payload in change([record.payload for record in records]):
                text = _dump(payload)
                if stay.get(text):
                    stay[text].pop(0)
                else:
                    fresh.append((*namespace, text))
            gone = [(seq,) for numbers in stay.values() for seq in numbers]
            connection.executemany("DELETE FROM record WHERE seq = ?", gone)
            _insert(connection, fresh)

    def delete(
        self, memory: str | None = None, key: str | None = None, kind: str | None = None
    ) -> int:
        """Delete records permanently and return their number; None matches every name."""
        where, names = _where((memory, key, kind))
        with self._database.writing(_ALL) as connection:
            return connection.execute(f"DELETE FROM record{where}", names).rowcount

    def namespaces(self) -> dict[tuple[str, str, str], int]:
        """Return the number of records by (memory, key, kind), sorted."""
        query = "SELECT memory, key, kind, count(*) FROM record GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        with self._database.reading() as connection:
            return {(m, key, kind): n for m, key, kind, n in connection.execute(query)}

    def export_jsonl(self, path: str | os.PathLike[str]) -> int:
        """Write all records to a JSONL file, atomically; return their number."""
        lines = [seal(json.dumps({_FORMAT: _EXPORTED}))]
        with self._database.reading() as connection:
            records = _select(connection, (None, None, None))
            lines += [seal(json.dumps(record._asdict())) for record in records]
        try:
            write_atomic(path, b"\n".join(lines) + b"\n")
        except OSError as error:
            raise StoreError(f"cannot export to {os.fspath(path)!r}: {error}") from error
        return len(lines) - 1

    def import_records(self, records: Sequence[Record]) -> int:
        """Append exported records, all or nothing; an empty store keeps their numbers."""
        with self._database.writing(_ALL) as connection:
            own = self._database.take_numbers(connection, [record.seq for record in records])
            numbers = [record.seq if own else None for record in records]
            rows = [(*record[1:4], _dump(record.payload)) for record in records]
            _insert(connection, rows, numbers)
        return len(records)


def _namespace(*names: str) -> tuple[str, ...]:
    for name in names:
        try:
            name.encode("utf-8")
        except (AttributeError, UnicodeEncodeError):
            raise InvalidArgumentError(
                f"expected memory, key and kind to be plain text, got {name!r}"
            ) from None
    return names


def _dump(payload: Any) -> str:
    try:
        return json.dumps(payload, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"expected a JSON value as payload: {error}") from error


def _insert(
    connection: Connection,
    rows: Sequence[tuple[str, ...]],
    numbers: Iterable[int | None] = repeat(None),
) -> list[int]:
    """Insert rows (memory, key, kind, payload); a row without a number gets the next one."""
    query = "INSERT INTO record ({}) VALUES ({}) RETURNING seq"
    new = query.format("memory, key, kind, payload", "?, ?, ?, ?")
    numbered = query.format(_FIELDS, "?, ?, ?, ?, ?")
    found = (
        connection.execute(new, row) if seq is None else connection.execute(numbered, (seq, *row))
        for seq, row in zip(numbers, rows, strict=False)
    )
    seqs = [int(cursor.fetchone()[0]) for cursor in found]
    sums = [(checksum("record", (seq, *row)), seq) for seq, row in zip(seqs, rows, strict=True)]
    connection.executemany("UPDATE record SET crc = ? WHERE seq = ?", sums)
    return seqs


def _where(names: Iterable[str | None]) -> tuple[str, tuple[str, ...]]:
    pairs = zip(("memory", "key", "kind"), names, strict=True)
    given = [(column, name) for column, name in pairs if name is not None]
    clause = " AND ".join(f"{column} = ?" for column, _ in given)
    return f" WHERE {clause}" if given else "", _namespace(*(name for _, name in given))


def _select(
    connection: Connection, names: Iterable[str | None], last: int | None = None
) -> Iterator[Record]:
    where, given = _where(names)
    query = f"SELECT {_FIELDS}, crc FROM record{where} ORDER BY seq"
    if last is not None:
        query = f"SELECT * FROM ({query} DESC LIMIT {int(last)}) AS newest ORDER BY seq"
    for *row, crc in connection.execute(query, given):
        check_row("record", row, crc)
        yield _record(row)


def _record(row: Sequence[Any]) -> Record:
    try:
        return Record(*typed(_Row, row)[:-1], parse_json(row[-1]))
    except (TypeError, ValueError) as error:
        raise Damage(f"record {row[0]!r:.40}: {error}") from error


def exported_records(path: str | os.PathLike[str]) -> list[Record]:
    """Return the records of a file that :meth:`Store.export_jsonl` wrote."""
    found: list[Record] = []
    number, seq = 0, 0
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                value = unseal(line)
                if number == 1:
                    if value[_FORMAT] > _EXPORTED:
                        raise ValueError("written by a newer gym-memory: upgrade gym-memory")
                    continue
                record = Record(**value)
                _namespace(*record[1:4])
                if not (isinstance(record.seq, int) and seq < record.seq < 1 << 62):
                    raise ValueError(f"expected a seq above {seq}, got {record.seq!r}")
                seq = record.seq
                found.append(record)
        if not number:
            raise ValueError("the file is empty")
    except (OSError, ValueError, TypeError, KeyError) as error:
        where = f", line {number}" if number else ""
        raise StoreError(
            f"expected a store exported by gym-memory at {os.fspath(path)!r}{where}: {error}"
        ) from error
    return found


_TIMEOUT = 30.0
_PARTS = tuple(table for table, columns in COLUMNS.items() if columns[0] == "partition")


class CheckedTable(NamedTuple):
    """Number of a table's rows and of those without a checksum, and one line per damage.

    ``lost`` has the numbers of records or partitions that a salvage omits.
    """

    table: str
    rows: int
    unsealed: int
    damaged: tuple[str, ...]
    lost: frozenset[int]


def check_store(place: str | os.PathLike[str]) -> list[CheckedTable]:
    """Check the rows of a store against their checksums and for gaps."""
    database = _there(place)
    with database.reading() as connection:
        return [_check(database, connection, table) for table in COLUMNS]


def backup(
    place: str | os.PathLike[str], target: str | os.PathLike[str], *, salvage: bool = False
) -> int:
    """Copy a store to a file, which is replaced atomically; return the number of rows.

    Args:
        place: A file, or the URL of a server.
        target: The file to write.
        salvage: Whether to omit damaged records and graphs, which are otherwise a StoreError.
    """
    path = Path(target)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    source = _there(place)
    _check_two(source.place, str(path.absolute()))
    try:
        rows = _copy(source, SqliteDatabase(temporary, _TIMEOUT), salvage=salvage)
        if Path(f"{temporary}-wal").exists():  # SQLite silently fails to write its log back
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
    """Copy a backup into a store, all or nothing; return the number of rows.

    Args:
        source: The file that :func:`backup` wrote.
        place: A file, or the URL of a server.
        replace: Whether to delete the store's content; otherwise the store must be empty.
    """
    return _copy(_there(source), open_database(place, _TIMEOUT), replace=replace)


def _there(place: str | os.PathLike[str]) -> Database:
    if "://" not in os.fspath(place) and not Path(place).is_file():
        raise StoreError(f"expected a memory store at {os.fspath(place)!r}, got no such file")
    return open_database(place, _TIMEOUT)


def _check_two(source: str, target: str) -> None:
    if source == target:
        raise InvalidArgumentError(f"expected two stores, got {source!r} twice")


def _copy(
    source: Database, target: Database, *, salvage: bool = False, replace: bool = False
) -> int:
    _check_two(source.place, target.place)
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
            rows = []
            for row, more in _rows(source, reader, table):
                if row[0] not in out:
                    if not salvage:
                        check_row(table, row, more[-1])
                    values = (target.vector(v) if isinstance(v, np.ndarray) else v for v in row)
                    rows.append((*values, *more))
            names = (*COLUMNS[table], *_more(table))
            marks = ", ".join("?" * len(names))
            insert = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})"
            writer.executemany(insert, rows)
            count += len(rows)
        target.go_on(writer)
    return count


def _more(table: str) -> tuple[str, ...]:
    return ("live", "crc") if table == "fact" else ("crc",)


def _rows(
    database: Database, connection: Connection, table: str
) -> Iterator[tuple[list[Any], list[Any]]]:
    """Yield the values of each row under its checksum, vectors as arrays, and its other values."""
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
            if table == "record":
                _record(row)
            if table in _PARTS:
                if row[1] != following.get(row[0], 0):
                    raise Damage(f"{table} of partition {row[0]}: rows before {row[1]} are missing")
                following[row[0]] = row[1] + 1
        except Damage as error:
            damaged.append(str(error))
            lost.add(row[0])
            following[row[0]] = row[1] + 1 if isinstance(row[1], int) else 0
    return CheckedTable(table, count, unsealed, tuple(damaged), frozenset(lost))
