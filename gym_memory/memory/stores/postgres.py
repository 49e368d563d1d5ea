"""A durable store on a PostgreSQL server with pgvector, for many machines.

A process keeps one connection per thread. A password in a URL given in Python appears in no
message; on the command line it comes from ``PGPASSWORD`` or ``~/.pgpass``.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any

import numpy as np

from gym_memory.core.errors import InvalidArgumentError, StoreError
from gym_memory.core.optional import require
from gym_memory.memory.stores.database import Damage, Vector, equals, migrations

__all__ = ["PostgresDatabase"]

_MIGRATING = 0x67796D6D
"""Key of the advisory lock for changes of the schema."""
_MIGRATIONS = """
CREATE TABLE IF NOT EXISTS _yoyo_migration (
    migration_hash VARCHAR(64) PRIMARY KEY, migration_id VARCHAR(255), applied_at_utc TIMESTAMP
)
"""
"""Table of yoyo, which early versions used for migrations; kept for old databases."""
_APPLIED = "SELECT migration_id FROM _yoyo_migration"
_MARK = "INSERT INTO _yoyo_migration VALUES (%s, %s, now() AT TIME ZONE 'UTC')"
PATIENCE = 300.0
"""Seconds to wait for a lost server; a server that was never reached is an error at once."""
ANSWER_SECONDS = 60.0
"""Seconds without an answer, beyond the wait for other writers, after which a server is frozen."""
_LOG = logging.getLogger("gym_memory")
_EF_SEARCH = 800
"""Candidates of an index search, `ef_search`; the default 40 miss 3 of 10 (benchmarks/scale)."""
_CANDIDATES_FACTOR = 4
"""Factor on the number of rows fetched from an index, so that ties can be ordered."""
_PREPARED_AFTER = 2
"""Executions of a query after which the server caches its plan."""

_NEAREST = """
SELECT {0} <#> ? AS distance, partition, number, env, task, subject, relation, object
FROM fact JOIN partition ON id = partition
WHERE live = 1 AND partition = ANY(?) AND {1}
ORDER BY distance LIMIT ?
"""
_NEAREST_IN_ONE = """
WITH part AS MATERIALIZED (SELECT id, env, task FROM partition WHERE {0}), nearest AS (
    SELECT number, embedding <#> ? AS distance FROM fact
    WHERE live = 1 AND partition = (SELECT min(id) FROM part HAVING count(*) = 1)
    ORDER BY distance, number LIMIT ?
)
SELECT distance, id, number, env, task, subject, relation, object
FROM nearest CROSS JOIN part JOIN fact USING (number) WHERE partition = id
"""
"""It finds nothing if several partitions match."""

_open = threading.local()


class PostgresDatabase:
    """A database on a server; its schema is created if it is missing.

    Args:
        url: ``postgresql://user@host/database``, as libpq reads it.
        timeout: Seconds to wait for the server, and for other writers in each call.
    """

    def __init__(self, url: str, timeout: float):
        self.timeout = timeout
        psycopg = _library("psycopg")
        _library("pgvector")
        try:
            parts = psycopg.conninfo.conninfo_to_dict(url)
            self.place = _place(parts)
            parts.setdefault("connect_timeout", max(int(timeout), 2))
            parts.setdefault("application_name", "gym-memory")
            self._conninfo = psycopg.conninfo.make_conninfo("", **parts)
        except psycopg.Error:  # the error's text quotes the URL
            raise StoreError(
                "expected a memory store as postgresql://user@host:port/database, got a URL that "
                "cannot be read (it is not shown, for it may hold a password)"
            ) from None
        self._upgrade()

    @contextmanager
    def reading(self) -> Iterator[Any]:
        """Open a read-only transaction that sees one state of the database."""
        with self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") as connection:
            yield connection

    @contextmanager
    def writing(self, name: str) -> Iterator[Any]:
        """Open a writing transaction, exclusive among those with its ``name``."""
        with self._transaction("BEGIN ISOLATION LEVEL READ COMMITTED") as connection:
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", (name,))
            yield connection

    def take_numbers(self, connection: Any, wanted: Sequence[int]) -> bool:
        """True if no record was ever stored; numbers continue after the highest of ``wanted``."""
        connection.execute("LOCK TABLE record IN SHARE ROW EXCLUSIVE MODE")
        (sequence,) = connection.execute(
            "SELECT pg_get_serial_sequence('record', 'seq')"
        ).fetchone()
        if connection.execute(f"SELECT is_called FROM {sequence}").fetchone()[0]:
            return False
        if wanted:
            connection.execute("SELECT setval(?::regclass, ?)", (sequence, max(wanted)))
        return True

    def go_on(self, connection: Any) -> None:
        """Set both sequences after the highest number."""
        for table, column in (("record", "seq"), ("partition", "id")):
            connection.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), "
                f"greatest(max({column}), nextval(pg_get_serial_sequence('{table}', '{column}')))) "
                f"FROM {table}"
            )

    def vector(self, vector: Vector) -> Any:
        """Return a vector in pgvector's notation."""
        return _library("pgvector").HalfVector(vector)

    def numbers_of(self, vector: Any) -> Vector:
        """Parse a vector in pgvector's notation."""
        return np.asarray(vector.to_numpy(), dtype=np.float32)

    def nearest(self, vector: Vector, k: int, parts: Mapping[str, str]) -> list[Any]:
        """Search one partition by a scan; search several by the index or by scanning all.

        More than ``k`` rows may come; see :meth:`.SqliteDatabase.nearest`.
        """
        wanted, names, where = self.vector(vector), tuple(parts.values()), equals(parts)
        found = self._ask(_NEAREST_IN_ONE.format(where), (*names, wanted, k))
        if found:
            return found
        partitions = [id for (id,) in self._ask(f"SELECT id FROM partition WHERE {where}", names)]
        if len(partitions) < 2:
            return []
        with self.reading() as connection:
            connection.execute("SET LOCAL hnsw.iterative_scan = strict_order")
            connection.execute(f"SET LOCAL hnsw.ef_search = {_EF_SEARCH}")
            query = _NEAREST.format(*_indexed(len(vector)))
            return list(connection.execute(query, (wanted, partitions, k * _CANDIDATES_FACTOR)))

    def index(self, connection: Any, dim: int) -> None:
        """Build an HNSW index over all vectors of one length."""
        cast, where = _indexed(dim)
        connection.execute(
            f"CREATE INDEX IF NOT EXISTS fact_by_meaning_{dim} ON fact "
            f"USING hnsw (({cast}) halfvec_ip_ops) WHERE live = 1 AND {where}"
        )

    def _upgrade(self) -> None:
        """Apply the migrations that the database lacks, all in one transaction."""
        scripts = {path.stem: path.read_text(encoding="utf-8") for path in migrations("postgresql")}
        with self._reported(), self._connect() as connection:
            table = connection.execute("SELECT to_regclass('_yoyo_migration')").fetchone()[0]
            applied = {row[0] for row in connection.execute(_APPLIED)} if table else set()
            if applied - scripts.keys():
                raise StoreError(
                    f"the memory store {self.place!r} was written by a newer gym-memory: "
                    "upgrade gym-memory"
                )
            if applied == scripts.keys():
                return
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATING,))
                connection.execute(_MIGRATIONS)
                applied = {row[0] for row in connection.execute(_APPLIED)}
                for name in sorted(scripts.keys() - applied):
                    connection.execute(scripts[name])
                    connection.execute(_MARK, (name, name))

    def _connect(self) -> Any:
        return _library("psycopg").connect(
            self._conninfo, autocommit=True, prepare_threshold=_PREPARED_AFTER
        )

    def _connection(self) -> _PostgresConnection:
        """Return this thread's connection; open a new one after a fork or a failure."""
        opened: dict[tuple[int, str], _PostgresConnection] = vars(_open).setdefault(
            "connections", {}
        )
        key = (os.getpid(), self._conninfo)
        if key not in opened or opened[key].raw.closed:
            raw = self._connect()
            _limit_waiting(raw, self.timeout + ANSWER_SECONDS)
            raw.execute(f"SET lock_timeout = {int(self.timeout * 1000)}")
            _library("pgvector.psycopg").register_vector(raw)
            opened[key] = _PostgresConnection(raw)
        return opened[key]

    def _begun(self, begin: str) -> _PostgresConnection:
        """Return this thread's connection after its first statement; wait for a lost server."""
        psycopg = _library("psycopg")
        deadline = time.monotonic() + PATIENCE
        for attempt in count():
            connection = None
            try:
                connection = self._connection()
                connection.execute(begin)
                return connection
            except psycopg.OperationalError as error:
                if connection is not None:
                    connection.raw.close()
                if time.monotonic() > deadline:
                    raise
                if attempt == 1:
                    _LOG.warning(
                        "waiting at most %g s for the memory store %r: %s",
                        PATIENCE, self.place, _first_line(error),
                    )  # fmt: skip
            time.sleep(min(attempt, 1))  # no wait if the server has only restarted
        raise AssertionError("unreachable")

    def _ask(self, query: str, arguments: Sequence[Any]) -> list[Any]:
        psycopg = _library("psycopg")
        with self._reported():
            connection = None
            try:
                connection = self._connection()
                return list(connection.execute(query, arguments))
            except psycopg.OperationalError:
                if connection is not None and not connection.raw.closed:
                    raise
            return list(self._begun("SELECT 1").execute(query, arguments))

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[_PostgresConnection]:
        psycopg = _library("psycopg")
        with self._reported():
            connection = self._begun(begin)
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(psycopg.Error):
                    connection.execute("ROLLBACK")
                if connection.raw.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                    connection.raw.close()
                raise

    @contextmanager
    def _reported(self) -> Iterator[None]:
        psycopg = _library("psycopg")
        try:
            yield
        except psycopg.errors.LockNotAvailable:
            raise StoreError(
                f"cannot use the memory store {self.place!r}: another process has been writing "
                f"for more than {self.timeout:g} seconds"
            ) from None
        except (psycopg.DataError, UnicodeEncodeError) as error:
            raise InvalidArgumentError(
                f"expected text that PostgreSQL can hold: {_first_line(error)}"
            ) from None
        except (psycopg.OperationalError, psycopg.InternalError) as error:
            raise StoreError(
                f"cannot use the memory store {self.place!r}: {_first_line(error)}"
            ) from None
        except (psycopg.ProgrammingError, psycopg.NotSupportedError) as error:
            raise StoreError(
                f"cannot use the memory store {self.place!r}: {_first_line(error)} (the user "
                "needs the right to create tables, and the server needs pgvector)"
            ) from error
        except Damage as error:
            raise StoreError(
                f"the memory store {self.place!r} is damaged: {error}. Nothing was changed"
            ) from error


class _PostgresConnection:
    def __init__(self, raw: Any):
        self.raw = raw

    def execute(self, query: str, arguments: Sequence[Any] = ()) -> Any:
        return self.raw.execute(query.replace("?", "%s"), arguments)

    def executemany(self, query: str, rows: Any) -> None:
        self.raw.cursor().executemany(query.replace("?", "%s"), rows)


def _library(module: str) -> Any:
    return require(module, "postgres", "a memory store on a server")


def _indexed(dim: int) -> tuple[str, str]:
    """Return the expression and the condition of an index over vectors of one length."""
    return f"(embedding::halfvec({dim}))", f"vector_dims(embedding) = {dim}"


def _place(parts: dict[str, Any]) -> str:
    user = f"{parts['user']}@" if parts.get("user") else ""
    host = parts.get("host") or parts.get("hostaddr") or ""
    port = f":{parts['port']}" if parts.get("port") else ""
    return f"postgresql://{user}{host}{port}/{parts.get('dbname', '')}"


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]


def _limit_waiting(raw: Any, seconds: float) -> None:
    """Limit each wait of a connection for an answer, in seconds."""
    usual = raw.wait

    def wait(waiting: Any, *args: Any, **kwargs: Any) -> Any:
        limited = _limited(waiting, time.monotonic() + seconds)
        try:
            return usual(limited, *args, **kwargs)
        except _NoAnswerError:
            raw.close()
            raise _library("psycopg").OperationalError(f"no answer within {seconds:g} s") from None

    raw.wait = wait


class _NoAnswerError(Exception):
    """A silence of the server until the deadline."""


def _limited(waiting: Any, deadline: float) -> Generator[Any, Any, Any]:
    """Wait for psycopg's event, and check the deadline ten times a second."""
    ready = None
    while True:
        try:
            wanted = waiting.send(ready)
        except StopIteration as end:
            return end.value
        ready = yield wanted
        if not ready and time.monotonic() > deadline:
            raise _NoAnswerError
