"""The durable store: what outlives an episode, in one SQLite file.

A record is a JSON payload in a namespace ``(memory, key, kind)``, e.g. ``("clin", "cooking",
"lesson")``. Records are numbered by one sequence that only grows; there are no clocks in it.

The store is a path and nothing else: every call opens the file, does its work in one
transaction and closes it. So it can be pickled, forked and shared by threads and processes.
Writers wait for each other (write-ahead log, busy timeout); a process that dies in the middle of
a call leaves the file as it was before the call. Two limits are SQLite's own: no network drives
(their locks cannot be trusted), and no fork while another thread is in the middle of a call.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.checks import typed
from gym_memory.errors import InvalidArgumentError, StoreError
from gym_memory.files import parse_json, write_atomic

__all__ = ["Record", "Store"]

_APPLICATION_ID = 0x67796D6D  # "gymm", tells our files from other SQLite databases
_VERSIONS = (
    """
    CREATE TABLE record (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        memory TEXT NOT NULL,
        key TEXT NOT NULL,
        kind TEXT NOT NULL,
        payload TEXT NOT NULL
    );
    CREATE INDEX record_by_namespace ON record (memory, key, kind, seq);
    """,
)
"""What each version of the schema adds to the one before it."""
_FORMAT = "gym_memory_store"
_FIELDS = "seq, memory, key, kind, payload"


class Record(NamedTuple):
    """One stored payload.

    Attributes:
        seq: Its number; later records have higher numbers, and no number is used twice.
        memory: Name of the memory that it belongs to.
        key: What it is about, chosen by the memory (a task, a dialect, ...).
        kind: What it is (``lesson``, ``episode``, ...).
        payload: Any JSON value; tuples come back as lists.
    """

    seq: int
    memory: str
    key: str
    kind: str
    payload: Any


class _Row(NamedTuple):
    """A record as the file has it."""

    seq: int
    memory: str
    key: str
    kind: str
    payload: str


class _Damage(Exception):
    """A record that no store wrote."""


class Store:
    """Records in one SQLite file.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "lessons.db"
    >>> store = Store(path)
    >>> store.add("clin", "cooking", "lesson", "Opening the fridge may be necessary.")
    [1]
    >>> store.records("clin", "cooking")[0].payload
    'Opening the fridge may be necessary.'
    """

    def __init__(self, path: str | os.PathLike[str], timeout: float = 30.0):
        """Open a store; create it, and the folders above it, if there is none.

        Args:
            path: The file.
            timeout: Seconds to wait for other writers in each call.

        Raises:
            StoreError: The file is damaged, is no store, was written by a newer version, or
                cannot be opened. It is left as it is.
        """
        if "\0" in os.fspath(path):  # SQLite would open what stands before it
            raise StoreError(f"expected the path of a memory store, got {os.fspath(path)!r}")
        self.path = Path(path).absolute()
        self.timeout = timeout
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.path.exists() and self.path.stat().st_size:
                self._check()
        except OSError as error:
            raise StoreError(
                f"cannot open a memory store at {str(self.path)!r}: {error}"
            ) from error
        self._upgrade()

    def add(self, memory: str, key: str, kind: str, *payloads: Any) -> list[int]:
        """Append records to a namespace, all or none; returns their numbers.

        Raises:
            InvalidArgumentError: A name is no text or a payload is no JSON value.
            StoreError: The file cannot be written.
        """
        namespace = _namespace(memory, key, kind)
        rows = [(*namespace, _dump(payload)) for payload in payloads]
        with self._transaction("IMMEDIATE") as connection:
            return _insert(connection, rows)

    def records(
        self,
        memory: str | None = None,
        key: str | None = None,
        kind: str | None = None,
        last: int | None = None,
    ) -> list[Record]:
        """Records in order; None matches every name.

        Args:
            memory: Name of the memory.
            key: Key within it.
            kind: Kind of record.
            last: Only that many newest ones.
        """
        with self._transaction("DEFERRED") as connection:
            return list(_select(connection, (memory, key, kind), last))

    def update(
        self, memory: str, key: str, kind: str, change: Callable[[list[Any]], Iterable[Any]]
    ) -> None:
        """Replace the payloads of one namespace by ``change(payloads)``, as one step.

        No other writer comes between the reading and the writing. Payloads that stay the same
        keep their records.
        """
        namespace = _namespace(memory, key, kind)
        with self._transaction("IMMEDIATE") as connection:
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
        """Delete records for good; None matches every name. Returns how many."""
        where, names = _where((memory, key, kind))
        with self._transaction("IMMEDIATE") as connection:
            return connection.execute(f"DELETE FROM record{where}", names).rowcount

    def namespaces(self) -> dict[tuple[str, str, str], int]:
        """Number of records by (memory, key, kind), in alphabetical order."""
        query = "SELECT memory, key, kind, count(*) FROM record GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        with self._transaction("DEFERRED") as connection:
            return {(m, key, kind): n for m, key, kind, n in connection.execute(query)}

    def export_jsonl(self, path: str | os.PathLike[str]) -> int:
        """Write all records to a JSONL file, atomically; returns how many.

        The first line says what the file is; every other line is one record.
        """
        lines = [json.dumps({_FORMAT: len(_VERSIONS)})]
        with self._transaction("DEFERRED") as connection:
            records = _select(connection, (None, None, None))
            lines += [json.dumps(record._asdict()) for record in records]
        try:
            write_atomic(path, "\n".join(lines) + "\n")
        except OSError as error:
            raise StoreError(f"cannot export to {os.fspath(path)!r}: {error}") from error
        return len(lines) - 1

    def import_jsonl(self, path: str | os.PathLike[str]) -> int:
        """Append all records of an exported file, all or none; returns how many.

        A store that never held a record takes over their numbers; otherwise they get new ones,
        in their order.

        Raises:
            StoreError: The file cannot be read, or a line of it is no record.
        """
        records = list(_read(Path(path)))
        with self._transaction("IMMEDIATE") as connection:
            used = connection.execute("SELECT 1 FROM sqlite_sequence").fetchone()
            numbers = [None if used else record.seq for record in records]
            rows = [(*record[1:4], _dump(record.payload)) for record in records]
            _insert(connection, rows, numbers)
        return len(records)

    def _check(self) -> None:
        """Refuse a file that is damaged or not ours, without writing to it."""
        with self._reported(), closing(self._connect("ro")) as connection:
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            owner = connection.execute("PRAGMA application_id").fetchone()[0]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if owner != _APPLICATION_ID and tables:
                raise StoreError(
                    f"expected a memory store at {str(self.path)!r}, found the SQLite database "
                    "of another program: choose another path"
                )
            if version > len(_VERSIONS):
                raise StoreError(
                    f"the memory store {str(self.path)!r} has version {version}, written by a "
                    f"newer gym-memory; this one knows versions up to {len(_VERSIONS)}: "
                    "upgrade gym-memory"
                )
            found = [row[0] for row in connection.execute("PRAGMA quick_check(3)")]
            if found != ["ok"]:
                raise sqlite3.DatabaseError("; ".join(found))

    def _upgrade(self) -> None:
        """Bring a new file, or one of an older version, to the present version."""
        with self._reported(), closing(self._connect("rwc")) as connection:
            deadline = time.monotonic() + self.timeout
            while True:  # turning the log on does not wait for others by itself
                try:
                    connection.execute("PRAGMA journal_mode = WAL")
                    break
                except sqlite3.OperationalError as error:
                    if "locked" not in str(error) or time.monotonic() > deadline:
                        raise
                    time.sleep(0.02)
            connection.execute("BEGIN IMMEDIATE")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version < len(_VERSIONS):
                for script in _VERSIONS[version:]:
                    for statement in script.split(";"):
                        connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {len(_VERSIONS)}")
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
        """One transaction: committed as a whole, or not at all."""
        with self._reported(), closing(self._connect("rw")) as connection:
            connection.execute(f"BEGIN {kind}")
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Turn SQLite's errors into ours."""
        try:
            yield
        except sqlite3.OperationalError as error:
            hint = (
                f"another process has been writing for more than {self.timeout:g} seconds"
                if "locked" in str(error)
                else "check that the file and its folder exist and can be written"
            )
            raise StoreError(
                f"cannot use the memory store {str(self.path)!r}: {error} ({hint})"
            ) from error
        except (sqlite3.DatabaseError, UnicodeDecodeError, _Damage) as error:
            # UnicodeDecodeError: of SQLite's message, which quotes the damage.
            if (
                isinstance(error, sqlite3.DatabaseError)
                and type(error) is not sqlite3.DatabaseError
            ):
                # A mistake of ours.
                raise
            raise StoreError(
                f"the memory store {str(self.path)!r} is damaged: {error}. Nothing was changed. "
                "Move the file away and import a JSONL export into a new store; "
                f"`sqlite3 {self.path.name} .recover` may save what is readable"
            ) from error


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
    connection: sqlite3.Connection,
    rows: Sequence[tuple[str, ...]],
    numbers: Iterable[int | None] = repeat(None),
) -> list[int]:
    """Insert (memory, key, kind, payload) rows, numbered on where no number is given."""
    query = f"INSERT INTO record ({_FIELDS}) VALUES (?, ?, ?, ?, ?)"
    cursors = (
        connection.execute(query, (seq, *row)) for seq, row in zip(numbers, rows, strict=False)
    )
    return [int(cursor.lastrowid or 0) for cursor in cursors]


def _where(names: Iterable[str | None]) -> tuple[str, tuple[str, ...]]:
    pairs = zip(("memory", "key", "kind"), names, strict=True)
    given = [(column, name) for column, name in pairs if name is not None]
    clause = " AND ".join(f"{column} = ?" for column, _ in given)
    return f" WHERE {clause}" if given else "", _namespace(*(name for _, name in given))


def _select(
    connection: sqlite3.Connection, names: Iterable[str | None], last: int | None = None
) -> Iterator[Record]:
    where, given = _where(names)
    query = f"SELECT {_FIELDS} FROM record{where} ORDER BY seq"
    if last is not None:
        query = f"SELECT * FROM ({query} DESC LIMIT {int(last)}) ORDER BY seq"
    for seq, *names_, payload in connection.execute(query, given):
        try:
            yield Record(*typed(_Row, (seq, *names_, payload))[:-1], parse_json(payload))
        except (TypeError, ValueError) as error:
            raise _Damage(f"record {seq!r:.40}: {error}") from error


def _read(path: Path) -> Iterator[Record]:
    """Records of an exported file."""
    number, seq = 0, 0
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                number += 1
                value = parse_json(line)
                if number == 1:
                    if value[_FORMAT] > len(_VERSIONS):
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
