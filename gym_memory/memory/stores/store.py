"""The durable store: what outlives an episode, in a SQLite file or on a PostgreSQL server.

A record is a JSON payload in a namespace ``(memory, key, kind)``, e.g. ``("clin", "cooking",
"lesson")``, numbered by one sequence that only grows. Every call is one transaction.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.core.errors import InvalidArgumentError, StoreError
from gym_memory.core.files import parse_json, seal, typed, unseal, write_atomic
from gym_memory.memory.stores.database import (
    COLUMNS,
    Connection,
    Damage,
    Database,
    SqliteDatabase,
    check_row,
    checksum,
)
from gym_memory.memory.stores.postgres import PostgresDatabase

__all__ = ["Record", "Store", "is_url", "open_database"]

_URL = re.compile(r"postgres(ql)?://")


def is_url(place: object) -> bool:
    """True if a store's place is the URL of a server, and not a file."""
    return isinstance(place, str) and _URL.match(place) is not None


def open_database(place: str | os.PathLike[str], timeout: float) -> Database:
    """Open the database at a path or a ``postgresql://`` URL, with the present schema."""
    if is_url(place):
        return PostgresDatabase(str(place), timeout)
    return SqliteDatabase(place, timeout)


_FORMAT = "gym_memory_store"
_EXPORTED = 1
"""Version of the exported lines."""
_FIELDS = ", ".join(COLUMNS["record"])
_ALL = "records"
"""Name of the transactions that concern every namespace."""


class Record(NamedTuple):
    """One stored payload, any JSON value with tuples as lists; no ``seq`` is used twice."""

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
        """Append records to a namespace, all or none; return their numbers."""
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
        """Return records in order; None matches every name, ``last`` takes the newest ones."""
        with self._database.reading() as connection:
            return list(_select(connection, (memory, key, kind), last))

    def update(
        self, memory: str, key: str, kind: str, change: Callable[[list[Any]], Iterable[Any]]
    ) -> None:
        """Replace changed payloads of one namespace by ``change(payloads)``, in one transaction."""
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
        """Delete records for good; None matches every name. Return the number deleted."""
        where, names = _where((memory, key, kind))
        with self._database.writing(_ALL) as connection:
            return connection.execute(f"DELETE FROM record{where}", names).rowcount

    def namespaces(self) -> dict[tuple[str, str, str], int]:
        """Return the number of records by (memory, key, kind), in alphabetical order."""
        query = "SELECT memory, key, kind, count(*) FROM record GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        with self._database.reading() as connection:
            return {(m, key, kind): n for m, key, kind, n in connection.execute(query)}

    def export_jsonl(self, path: str | os.PathLike[str]) -> int:
        """Write all records to a JSONL file, atomically; return how many."""
        lines = [seal(json.dumps({_FORMAT: _EXPORTED}))]
        with self._database.reading() as connection:
            records = _select(connection, (None, None, None))
            lines += [seal(json.dumps(record._asdict())) for record in records]
        try:
            write_atomic(path, b"\n".join(lines) + b"\n")
        except OSError as error:
            raise StoreError(f"cannot export to {os.fspath(path)!r}: {error}") from error
        return len(lines) - 1

    def import_jsonl(self, path: str | os.PathLike[str]) -> int:
        """Append an exported file's records, all or none; an empty store keeps their numbers."""
        records = list(_read(Path(path)))
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
    """Insert (memory, key, kind, payload) rows; rows without a number get the next one."""
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
        try:
            yield Record(*typed(_Row, row)[:-1], parse_json(row[-1]))
        except (TypeError, ValueError) as error:
            raise Damage(f"record {row[0]!r:.40}: {error}") from error


def _read(path: Path) -> Iterator[Record]:
    number, seq = 0, 0
    try:
        with open(path, "rb") as file:
            for line in file:
                number += 1
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
                yield record
        if not number:
            raise ValueError("the file is empty")
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise StoreError(
            f"expected a store exported by gym-memory at {str(path)!r}, line {number}: {error}"
        ) from error
