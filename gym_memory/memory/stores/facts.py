"""Durable graphs of facts, with their history and observations, by environment and task.

A partition is one graph with its own clock. A transaction appends a whole episode; rows are never
removed. Each process keeps replicas of partitions and loads only new rows into them.
"""

from __future__ import annotations

import json
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from gym_memory.core.errors import StoreError
from gym_memory.core.files import parse_json
from gym_memory.core.records import Triple
from gym_memory.core.settings import check_int, check_text
from gym_memory.graph import Source, TemporalGraph
from gym_memory.memory.encoders import CachedEncoder
from gym_memory.memory.encoders.vectors import UNIT, whole
from gym_memory.memory.stores.database import COLUMNS, Connection, Damage, check_row, checksum
from gym_memory.memory.stores.episodes import EpisodeStore
from gym_memory.memory.stores.store import Database, open_database

__all__ = ["FactStore", "Mark", "Partition", "ScoredFact", "forget_replicas", "replay"]

State = tuple[TemporalGraph, EpisodeStore]


class Mark(NamedTuple):
    """Sizes of a graph and of its observations at one time."""

    events: int
    mentions: int
    episodes: int

    @classmethod
    def of(cls, graph: TemporalGraph, episodes: EpisodeStore) -> Mark:
        """Return the present counts."""
        return cls(len(graph.events), len(graph.mentions()), len(episodes))


def replay(source: State, since: Mark, to: State, later: int) -> None:
    """Apply the changes of ``source`` since a mark to the graph ``to``, ``later`` steps later.

    If another process has changed ``to``, confirmed facts are added again, and ended facts end.
    """
    graph, episodes = source
    shift = len(to[1]) - since.episodes
    facts = [fact.triple for fact in graph.facts()]
    happened: list[tuple[int, int, Any]] = [(e[0], 0, e) for e in graph.events[since.events :]]
    for number, seen in graph.mentions()[since.mentions :]:
        happened.append((episodes[seen.episode].t, 1, (facts[number], seen)))
    for t, kind, what in sorted(happened, key=itemgetter(0, 1)):
        if kind:
            fact, seen = what
            if fact in graph and fact not in to[0]:
                to[0].add(fact, t + later)
            if to[0].fact(fact) is not None:
                to[0].mention(fact, seen._replace(episode=seen.episode + shift))
        elif not what[2]:
            to[0].add(what[1], t + later)
        elif what[2] != "schema":  # a fact that takes their slot ends these
            to[0].retire(what[1], t + later, what[2])
    for episode in list(episodes)[since.episodes :]:
        to[1].add(episode.t + later, episode.text, episode.action, episode.triples)
    to[0].tick(graph.now + later)


_MOST_REPLICAS = 8
"""Most partitions in memory; the least recently used is dropped first."""

Change = Callable[[TemporalGraph, EpisodeStore, str], None]

_AS_OF = """
SELECT subject, relation, object FROM (
    SELECT fact, max(seq) AS seq FROM event WHERE partition = ? AND t <= ? GROUP BY fact
) AS last
JOIN event ON event.partition = ? AND event.seq = last.seq AND event.retired_by = ''
JOIN fact ON fact.partition = ? AND fact.number = last.fact
ORDER BY last.seq
"""


class ScoredFact(NamedTuple):
    """A fact that a search found, with its partition and its cosine, in [-1, 1]."""

    env: str
    task: str
    triple: Triple
    similarity: float


class FactStore:
    """A store of graphs, in a file or on a server.

    >>> import tempfile
    >>> store = FactStore(os.path.join(tempfile.mkdtemp(), "facts.db"))
    >>> def change(graph, episodes, last):
    ...     _ = graph.add(Triple("apple", "is in", "fridge"), t=0)
    ...     _ = graph.add(Triple("apple", "is in", "inventory"), t=3)
    >>> store.partition("cooking", "eat").append(change)
    >>> store.as_of("cooking", "eat", 2)
    [Triple(subject='apple', relation='is in', object='fridge')]

    Args:
        place: A file, or the URL of a server: ``postgresql://user@host/database``.
        timeout: Seconds to wait for other writers in each call.
    """

    def __init__(self, place: str | os.PathLike[str], timeout: float = 30.0):
        self._database = open_database(place, timeout)

    @property
    def place(self) -> str:
        """Return the file, or the server's URL without its password."""
        return self._database.place

    def partition(self, env: str, task: str, encoder: CachedEncoder | None = None) -> Partition:
        """Return the replica of a partition in this process as it is; its first encoder stays.

        An empty ``task`` is one graph over all tasks; without ``encoder`` facts have no vectors.
        """
        key = (os.getpid(), self.place, check_text("env", env), check_text("task", task), encoder)
        with _replicas_lock:
            if key not in _replicas:
                _replicas[key] = Partition(self._database, env, task, encoder)
                while len(_replicas) > _MOST_REPLICAS:
                    _replicas.popitem(last=False)
            _replicas.move_to_end(key)
            return _replicas[key]

    def partitions(self) -> dict[tuple[str, str], int]:
        """Return the number of facts, including ended ones, of each (environment, task), sorted."""
        query = (
            "SELECT env, task, count(number) FROM partition LEFT JOIN fact "
            "ON fact.partition = partition.id GROUP BY env, task ORDER BY env, task"
        )
        with self._database.reading() as connection:
            return {(env, task): n for env, task, n in connection.execute(query)}

    def as_of(self, env: str, task: str, t: int) -> list[Triple]:
        """Return the facts of a partition that hold at the end of step ``t``, oldest first."""
        with self._database.reading() as connection:
            id = _id(connection, env, task)
            return [Triple(*row) for row in connection.execute(_AS_OF, (id, t, id, id))]

    def search(
        self,
        encoder: CachedEncoder,
        text: str,
        k: int,
        env: str | None = None,
        task: str | None = None,
    ) -> list[ScoredFact]:
        """Return the ``k`` live facts most similar to a text; ties go to the older.

        The search is exact, except over several partitions of an indexed server. ``encoder``,
        ``env`` and ``task`` select the partitions.
        """
        check_int("k", k, 1)
        names = {"env": env, "task": task, "encoder": encoder.id}
        given = {name: value for name, value in names.items() if value is not None}
        rows = self._database.nearest(whole(encoder.encode([text]))[0], k, given)
        return [
            ScoredFact(env, task, Triple(*fact), round(-distance / (UNIT * UNIT), 6))
            for distance, _, _, env, task, *fact in sorted(rows)[:k]
        ]

    def index(self, encoder: CachedEncoder) -> None:
        """Index all partitions on a server: slower writes, approximate searches."""
        with self._database.writing("index") as connection:
            self._database.index(connection, encoder.dim)


class Partition:
    """A replica of one partition; threads of this process share it and only read it."""

    def __init__(self, database: Database, env: str, task: str, encoder: CachedEncoder | None):
        self._database, self.env, self.task, self._encoder = database, env, task, encoder
        self._encoder_id = encoder.id if encoder else ""
        self.graph, self.episodes, self.last = TemporalGraph(), EpisodeStore(), ""
        self._lock = threading.RLock()
        self._ends: dict[str, int | None] = {}  # checksum of the last row known of each table

    def copy(self) -> tuple[TemporalGraph, EpisodeStore, str]:
        """Return an independent copy of the newest state, and the name of its last writer."""
        with self._lock:
            with self._database.reading() as connection:
                self._read(connection, _id(connection, self.env, self.task))
            return self.graph.fork(), self.episodes.fork(), self.last

    def append(self, change: Change, last: str = "") -> None:
        """Apply a change to the newest state and store it, all or nothing.

        ``change`` adds to graph and observations under the lock; ``last`` names the writer.
        """
        with self._lock:
            before = self.graph.fork(), self.episodes.fork(), self.last, self._ends.copy()
            try:
                with self._database.writing(f"{self.env}/{self.task}") as connection:
                    id = self._made(connection)
                    self._read(connection, id)
                    change(self.graph, self.episodes, self.last)
                    self._write(connection, id, last)
            except BaseException:
                self.graph, self.episodes, self.last, self._ends = before
                raise

    def _made(self, connection: Connection) -> int:
        connection.execute(
            "INSERT INTO partition (env, task, encoder, last) VALUES (?, ?, ?, '') "
            "ON CONFLICT (env, task) DO NOTHING",
            (self.env, self.task, self._encoder_id),
        )
        return _id(connection, self.env, self.task)

    def _read(self, connection: Connection, id: int) -> None:
        columns = ", ".join(COLUMNS["partition"])
        row = connection.execute(f"SELECT {columns}, crc FROM partition WHERE id = ?", (id,))
        known = row.fetchone()
        if known is None:
            self._end("fact", sum(1 for _ in self.graph.facts()), [])
            return
        check_row("partition", known[:-1], known[-1])
        own, written = (id or "none" for id in (self._encoder_id, known[3]))
        if own != written:
            raise StoreError(
                f"expected the facts of {self.env!r}, {self.task!r} in {self.place!r} with the "
                f"encoder {own!r}, they were written with {written!r}"
            )
        self.last = known[4]

        def new(table: str, have: int) -> list[Any]:
            """Return the rows after the first ``have``, the last of which must be unchanged."""
            order = COLUMNS[table][1]
            query = (
                f"SELECT {', '.join(COLUMNS[table])}, crc FROM {table} "
                f"WHERE partition = ? AND {order} >= ? ORDER BY {order}"
            )
            rows = []
            first = max(have - 1, 0)
            for at, (*row, crc) in enumerate(connection.execute(query, (id, first)), first):
                if table == "fact" and row[-1] is not None:
                    row[-1] = self._database.numbers_of(row[-1])
                check_row(table, row, crc)
                if row[1] != at:
                    raise Damage(f"{table} with partition {id}: {order} {at} is missing")
                rows.append((row[2:], crc))
            self._end(table, have, [crc for _, crc in rows])
            return [row for row, _ in rows[min(have, 1) :]]

        try:
            rows = new("fact", sum(1 for _ in self.graph.facts()))
            facts = [Triple(*row[:3]) for row in rows]
            if self._encoder and rows:
                vectors = [row[3] for row in rows]
                stacked = np.stack(vectors).astype(np.float32)
                self._encoder.remember([str(f) for f in facts], stacked / np.float32(UNIT))
            facts = [fact.triple for fact in self.graph.facts()] + facts
            for t, number, by in new("event", len(self.graph.events)):
                if by:
                    self.graph.retire(facts[number], t, by)
                else:
                    self.graph.add(facts[number], t)
            for t, text, action, numbers in new("observation", len(self.episodes)):
                self.episodes.add(t, text, action, [facts[n] for n in parse_json(numbers)])
                self.graph.tick(max(t, self.graph.now))
            for number, *source in new("mention", len(self.graph.mentions())):
                self.graph.mention(facts[number], Source(*source))
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise Damage(f"facts of {self.env!r}, {self.task!r}: {error!r}") from error

    @property
    def place(self) -> str:
        """Return the place of the store."""
        return self._database.place

    def _write(self, connection: Connection, id: int, last: str) -> None:
        def count(table: str) -> int:
            query = f"SELECT count(*) FROM {table} WHERE partition = ?"
            return int(connection.execute(query, (id,)).fetchone()[0])

        def add(table: str, rows: Iterable[tuple[Any, ...]]) -> None:
            sealed = [(id, *row) for row in rows]
            if not sealed:
                return
            sums = [checksum(table, row) for row in sealed]
            self._ends[table] = sums[-1]
            more = "live, crc" if table == "fact" else "crc"
            names = f"{', '.join(COLUMNS[table])}, {more}"
            values = [(*row, crc) for row, crc in zip(sealed, sums, strict=True)]
            if table == "fact":
                values = [
                    (*row[:5], None if row[5] is None else self._database.vector(row[5]),
                     int(Triple(*row[2:5]) in self.graph), row[6])
                    for row in values
                ]  # fmt: skip
            marks = ", ".join("?" * len(values[0]))
            connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)

        held, known = count("fact"), count("event")
        facts = [fact.triple for fact in self.graph.facts()]
        number = {triple: at for at, triple in enumerate(facts)}
        vectors: list[Any] = [None] * (len(facts) - held)
        if self._encoder and vectors:
            vectors = list(whole(self._encoder.encode([str(fact) for fact in facts[held:]])))
        add("fact", ((held + at, *facts[held + at], v) for at, v in enumerate(vectors)))
        events = self.graph.events[known:]
        changed = dict.fromkeys(event[1] for event in events if number[event[1]] < held)
        connection.executemany(
            "UPDATE fact SET live = ? WHERE partition = ? AND number = ?",
            [(int(triple in self.graph), id, number[triple]) for triple in changed],
        )
        add("event", ((known + at, e[0], number[e[1]], e[2]) for at, e in enumerate(events)))
        add(
            "observation",
            (
                (e.id, e.t, e.text, e.action, json.dumps([number[fact] for fact in e.triples]))
                for e in list(self.episodes)[count("observation") :]
            ),
        )
        stated = count("mention")
        mentions = self.graph.mentions()[stated:]
        add("mention", ((stated + at, n, *source) for at, (n, source) in enumerate(mentions)))
        crc = checksum("partition", (id, self.env, self.task, self._encoder_id, last))
        connection.execute("UPDATE partition SET last = ?, crc = ? WHERE id = ?", (last, crc, id))

    def _end(self, table: str, have: int, sums: Sequence[int | None]) -> None:
        """Store the checksum of the last row, and check that the known rows are unchanged."""
        if have and (not sums or sums[0] != self._ends.get(table, sums[0])):
            raise StoreError(
                f"expected the memory store {self.place!r} as this process has read it, got "
                "another one in its place: start the process again"
            )
        if sums:
            self._ends[table] = sums[-1]


def _id(connection: Connection, env: str, task: str) -> int:
    """Return the number of a partition; -1 if it was never written."""
    query = "SELECT id FROM partition WHERE env = ? AND task = ?"
    row = connection.execute(query, (env, task)).fetchone()
    return -1 if row is None else int(row[0])


_replicas: OrderedDict[tuple[Any, ...], Partition] = OrderedDict()
_replicas_lock = threading.Lock()


def forget_replicas() -> None:
    """Drop all replicas, as if the process had just started."""
    with _replicas_lock:
        _replicas.clear()
