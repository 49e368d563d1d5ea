"""Stores with flipped bits, replaced files, and backups while others write."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gym_memory.cli import main
from gym_memory.core.errors import InvalidArgumentError, StoreError
from gym_memory.core.records import Triple
from gym_memory.memory.encoders import make_encoder
from gym_memory.memory.stores import facts as module
from gym_memory.memory.stores.facts import FactStore
from gym_memory.memory.stores.store import Store, backup, check_store, restore
from gym_memory.run.results.verify import verify_all

pytestmark = pytest.mark.slow


@pytest.fixture(params=["file", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "server":
        return str(request.getfixturevalue("postgres"))
    return str(tmp_path / "memory.db")


def fill(place: str, episodes: int = 3, encoder: Any = None) -> None:
    store = Store(place)
    for n in range(episodes):
        store.add("clin", f"task {n % 2}", "lesson", {"text": f"Lesson {n}.", "n": n})

        def change(graph: Any, seen: Any, last: str, n: int = n) -> None:
            triple = Triple(f"apple {n}", "is in", "fridge")
            graph.add(triple, t=graph.now + 10)
            seen.add(graph.now, f"The fridge holds apple {n}.", "look", [triple])

        FactStore(place).partition("cooking", "eat", encoder).append(change, last=f"task {n}")


def content(place: str, encoder: Any = None) -> Any:
    """Return what a new process reads from the store."""
    module.forget_replicas()
    graph, seen, last = FactStore(place).partition("cooking", "eat", encoder).copy()
    return Store(place).records(), graph.state(), seen.state(), last


def test_every_flipped_bit_is_noticed_or_changes_nothing(tmp_path: Path) -> None:
    path, chance = tmp_path / "memory.db", random.Random(0)
    encoder = make_encoder("hash")
    fill(str(path), 12, encoder)
    calm, whole = content(str(path), encoder), path.read_bytes()
    noticed = 0
    for bit in chance.sample(range(8 * len(whole)), 300):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            assert content(str(path), encoder) == calm, bit
        except StoreError:
            noticed += 1
        for more in tmp_path.glob("memory.db-*"):
            more.unlink()
    assert noticed > 20


def test_changed_row_is_named_and_the_rest_is_salvaged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "memory.db"
    fill(str(path))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE record SET payload = '{\"n\": 9}' WHERE seq = 2")
        connection.execute("UPDATE event SET t = 11 WHERE seq = 1")
    connection.close()
    with pytest.raises(StoreError, match="record with seq 2 was changed"):
        Store(path).records()
    module.forget_replicas()
    with pytest.raises(StoreError, match="event with partition 1, seq 1 was changed"):
        FactStore(path).partition("cooking", "eat").copy()
    with pytest.raises(StoreError, match="was changed"):
        backup(path, tmp_path / "copy.db")
    with pytest.raises(SystemExit) as ended:
        main(["verify", str(path), "--json"])
    assert ended.value.code == 1
    assert "2 of 3 records and 0 of 1 graphs are whole" in capsys.readouterr().out
    assert backup(path, tmp_path / "copy.db", salvage=True) == 2
    assert [record.seq for record in Store(tmp_path / "copy.db").records()] == [1, 3]
    assert {finding.state for _, finding in verify_all([tmp_path / "copy.db"])} == {"ok"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["copy.db", "memory.db"]


def test_killed_write_is_undone_at_the_next_start(tmp_path: Path) -> None:
    path, killed = tmp_path / "memory.db", tmp_path / "killed.db"
    fill(str(path))
    calm = Store(path).records()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")  # as it is before the first start ends
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN")
        connection.execute("UPDATE record SET payload = hex(zeroblob(9000))")
        for end in ("", "-journal"):
            shutil.copyfile(f"{path}{end}", f"{killed}{end}")
    assert Path(f"{killed}-journal").stat().st_size
    assert Store(killed).records() == calm


def test_a_store_without_checksums_is_read(place: str) -> None:
    fill(place)
    calm = content(place)
    with module.open_database(place, 5.0).writing("old") as connection:
        for table in ("record", "partition", "fact", "event", "observation", "mention"):
            connection.execute(f"UPDATE {table} SET crc = NULL")
    assert content(place) == calm
    assert [table.unsealed for table in check_store(place)][:2] == [3, 1]
    fill(place, 1)


def test_a_store_replaced_under_a_living_process_is_noticed(tmp_path: Path) -> None:
    path, other = tmp_path / "memory.db", tmp_path / "other.db"
    for n in (0, 2, 9):  # gone, shorter, longer
        module.forget_replicas()
        path.unlink(missing_ok=True)
        other.unlink(missing_ok=True)
        fill(str(path))
        part = FactStore(path).partition("cooking", "eat")
        held = part.copy()
        Store(other)
        if n:
            FactStore(other).partition("cooking", "other").append(lambda graph, seen, last: None)
            for k in range(n):
                FactStore(other).partition("cooking", "eat").append(
                    lambda graph, seen, last, k=k: graph.add(Triple(f"pear {k}", "is", "ripe"), k)
                )
        shutil.copyfile(other, path)
        for use in (part.copy, lambda part=part: part.append(lambda *state: None)):
            with pytest.raises(StoreError, match="another one in its place: start the process"):
                use()
        assert part.graph.state() == held[0].state()


def test_a_backup_is_restored_anywhere(place: str, tmp_path: Path) -> None:
    encoder = make_encoder("hash")
    fill(place, encoder=encoder)
    Store(place).update("clin", "task 1", "lesson", lambda found: [])
    calm = content(place, encoder)
    file = tmp_path / "backup" / "monday.db"
    rows = backup(place, file)
    assert content(str(file), encoder) == calm
    fill(place, 2, encoder)
    with pytest.raises(StoreError, match="expected an empty store"):
        restore(file, place)
    assert restore(file, place, replace=True) == rows
    assert content(place, encoder) == calm
    with pytest.raises(InvalidArgumentError, match="expected two stores"):
        restore(file, file)
    with pytest.raises(InvalidArgumentError, match="expected two stores"):
        backup(file, file)  # it would replace the file under those that write to it
    before = {record.seq for record in Store(place).records()}
    fill(place, 1, encoder)  # goes on with numbers of its own
    assert before < {record.seq for record in Store(place).records()}
    FactStore(place).partition("ship", "sail").append(lambda *state: None)
    assert all(not table.damaged for table in check_store(place))


WRITER = """
import sys
from gym_memory.memory.stores.store import Store
store, name = Store(sys.argv[1]), sys.argv[2]
for n in range(100_000):
    store.add("m", name, "pair", n, n)  # one transaction
    print(n, flush=True)
"""


def test_a_backup_while_others_write_has_whole_transactions(place: str, tmp_path: Path) -> None:
    Store(place)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, place, str(k)], stdout=subprocess.PIPE, text=True
        )
        for k in range(2)
    ]
    try:
        for at in range(5):
            said = [int(writer.stdout.readline()) for writer in writers if writer.stdout]
            backup(place, tmp_path / "copy.db")
            found = Store(tmp_path / "copy.db")
            for k, last in enumerate(said):
                values = [record.payload for record in found.records("m", str(k))]
                assert len(values) >= 2 * (last + 1), (at, "what was acknowledged is there")
                assert values == [n for n in range(len(values) // 2) for _ in range(2)]
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()


def test_lost_server_is_waited_for_a_limited_time(
    postgres: str,
    postgres_server: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    fill(postgres)
    store, part = Store(postgres), FactStore(postgres).partition("cooking", "eat")
    postgres_server.stop()
    back = threading.Timer(3.0, postgres_server.ensure_postgres_running)
    back.start()
    assert store.add("m", "k", "x", 1) == [4]
    part.append(lambda graph, seen, last: graph.add(Triple("pear", "is", "ripe"), graph.now + 1))
    back.join()
    assert caplog.text.count("waiting at most 300 s for the memory store") == 1
    monkeypatch.setattr("gym_memory.memory.stores.postgres.PATIENCE", 0.5)
    postgres_server.stop()
    try:
        with pytest.raises(StoreError, match="cannot use the memory store"):
            store.records()
    finally:
        postgres_server.ensure_postgres_running()
    assert len(store.records()) == 4


def test_frozen_server_is_left_for_new_connection(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    monkeypatch.setattr("gym_memory.memory.stores.postgres.ANSWER_SECONDS", 1.0)
    fill(postgres)
    store = Store(postgres, timeout=1.0)
    before = store.records()
    query = "SELECT pid FROM pg_stat_activity WHERE application_name = 'gym-memory'"
    with psycopg.connect(postgres) as connection:
        frozen = [pid for (pid,) in connection.execute(query)]
    assert frozen
    for pid in frozen:
        os.kill(pid, signal.SIGSTOP)
    try:
        assert store.records() == before
    finally:
        for pid in frozen:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize(
    ("column", "value"), [("payload", "[[[["), ("payload", "x"), ("key", b"\xff"), ("seq", "x")]
)
def test_unreadable_record_without_checksum_is_damaged(
    tmp_path: Path, column: str, value: Any
) -> None:
    fill(str(tmp_path / "memory.db"))
    with closing(sqlite3.connect(tmp_path / "memory.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        try:
            connection.execute(
                f"UPDATE record SET {column} = ?, crc = NULL WHERE seq = 1", (value,)
            )
        except sqlite3.IntegrityError:
            return  # the schema refuses it
    records = next(table for table in check_store(tmp_path / "memory.db"))
    assert len(records.damaged) == 1


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"


@pytest.mark.parametrize(
    "statements",
    [
        ("ALTER TABLE record RENAME TO other", f"CREATE VIEW record AS {ENDLESS} SELECT i FROM n"),
        ("CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM observation; END",),
        ("CREATE INDEX i ON record (hex(zeroblob(length(payload) * 1000000)))",),
        ("DROP TABLE mention",),
    ],
)
def test_a_store_of_a_stranger_runs_nothing(tmp_path: Path, statements: tuple[str, ...]) -> None:
    """Refuse a view whose reading never ends, and a trigger that deletes what others learnt."""
    path = tmp_path / "memory.db"
    fill(str(path))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
    before = path.read_bytes()
    for use in (Store, FactStore, check_store, lambda place: backup(place, tmp_path / "copy.db")):
        with pytest.raises(StoreError, match="its tables are not those of a store"):
            use(str(path))
    assert path.read_bytes() == before
