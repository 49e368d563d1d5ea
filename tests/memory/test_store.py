"""The durable store with real files, a real server, real processes and real damage."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.core.errors import InvalidArgumentError, StoreError
from gym_memory.core.files import unseal
from gym_memory.memory.stores.store import Record, Store, exported_records

pytestmark = pytest.mark.slow


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "lessons.db"


@pytest.fixture(params=["file", "server"])
def place(request):
    """Return the place of a store: a path, or the URL of a database."""
    return request.getfixturevalue("path" if request.param == "file" else "postgres")


@pytest.fixture
def store(place):
    return Store(place)


@pytest.fixture
def filed(path):
    return Store(path)


def payloads(store: Store, *names: str | None, **options) -> list:
    return [record.payload for record in store.records(*names, **options)]


# -- records -----------------------------------------------------------------------------------


def test_records_come_back_in_order_by_namespace(store):
    assert store.add("clin", "cooking", "lesson", "open the fridge", {"n": [1, None, 2.5]}) == [
        1,
        2,
    ]
    assert store.add("clin", "cleaning", "lesson", "tidy") == [3]
    assert store.add("ldm2", "cooking", "tuple", ["a", "b"]) == [4]
    assert store.add("clin", "cooking", "episode") == []
    assert store.records("clin", "cooking") == [
        Record(1, "clin", "cooking", "lesson", "open the fridge"),
        Record(2, "clin", "cooking", "lesson", {"n": [1, None, 2.5]}),
    ]
    assert [r.seq for r in store.records(key="cooking")] == [1, 2, 4]
    assert [r.seq for r in store.records(last=2)] == [3, 4]
    assert [r.seq for r in store.records("clin", last=2)] == [2, 3]
    assert store.records("clin", kind="tuple") == store.records(last=0) == []
    assert store.namespaces() == {
        ("clin", "cleaning", "lesson"): 1,
        ("clin", "cooking", "lesson"): 2,
        ("ldm2", "cooking", "tuple"): 1,
    }


def test_a_store_is_its_path(filed, path, monkeypatch):
    filed.add("m", "k", "x", 1)
    for other in (Store(path), pickle.loads(pickle.dumps(filed))):
        assert payloads(other) == [1]
    monkeypatch.chdir(path.parent)
    assert payloads(Store(path.name)) == [1]
    path.unlink()
    with pytest.raises(StoreError, match="unable to open"):
        filed.add("m", "k", "x", 2)


def test_numbers_are_never_used_twice(store):
    store.add("m", "k", "x", "a", "b", "c")
    assert store.delete("m", "k") == 3
    assert store.delete("m") == 0
    assert store.add("m", "k", "x", "d") == [4]
    assert store.delete() == 1


def test_update_is_atomic_and_keeps_unchanged_fields(store):
    store.add("clin", "k", "episode", {"score": 3}, {"score": 1}, {"score": 3})
    store.add("clin", "other", "episode", {"score": 0})

    def keep_best(found: list) -> list:
        assert found == [{"score": 3}, {"score": 1}, {"score": 3}]
        return sorted([*found, {"score": 2}], key=lambda p: -p["score"])[:3]

    store.update("clin", "k", "episode", keep_best)
    assert [(r.seq, r.payload["score"]) for r in store.records("clin", "k")] == [
        (1, 3), (3, 3), (5, 2),
    ]  # fmt: skip
    assert payloads(store, "clin", "other") == [{"score": 0}]

    store.update("clin", "k", "episode", lambda found: found[1:])  # of equal ones the older stays
    assert [r.seq for r in store.records("clin", "k")] == [1, 5]

    def fail(found: list) -> list:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        store.update("clin", "k", "episode", fail)
    assert [r.seq for r in store.records("clin", "k")] == [1, 5]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@settings(derandomize=True, max_examples=15, deadline=None)
@given(st.lists(json_values, max_size=5))
def test_any_json_survives_storing_and_exporting(tmp_path_factory, values):
    folder = tmp_path_factory.mktemp("store")
    store, twin = Store(folder / "a.db"), Store(folder / "b.db")
    store.add("m", "k", "x", *values)
    assert payloads(store) == values
    assert store.export_jsonl(folder / "out.jsonl") == len(values)
    assert twin.import_records(exported_records(folder / "out.jsonl")) == len(values)
    assert twin.records() == store.records()


@pytest.mark.parametrize("text", ["a\x00b", "\ud800", "\n\r\u2028", "🍎" * 10, "x" * 1_000_000, ""])
def test_odd_text_is_kept(store, text):
    store.add("m", "k", "x", {"text": text})
    assert payloads(store) == [{"text": text}]


@pytest.mark.parametrize("payload", [{1, 2}, float("nan"), object(), {"a": b"bytes"}])
def test_only_json_is_taken(store, payload):
    with pytest.raises(InvalidArgumentError, match="JSON"):
        store.add("m", "k", "x", "fine", payload)
    assert store.records() == []


@pytest.mark.parametrize("name", [None, 3, "\ud800"])
def test_names_are_text(store, name):
    with pytest.raises(InvalidArgumentError, match="plain text"):
        store.add("m", name, "x", 1)


# -- JSONL -------------------------------------------------------------------------------------


def test_export_and_import(store, tmp_path):
    store.add("m", "k", "x", "a", "b", "c")
    store.update("m", "k", "x", lambda found: [p for p in found if p != "b"])
    file = tmp_path / "out.jsonl"
    store.export_jsonl(file)
    lines = [unseal(line) for line in file.read_bytes().splitlines()]
    assert lines == [
        {"gym_memory_store": 1},
        {"seq": 1, "memory": "m", "key": "k", "kind": "x", "payload": "a"},
        {"seq": 3, "memory": "m", "key": "k", "kind": "x", "payload": "c"},
    ]
    twin = Store(tmp_path / "twin.db")
    assert twin.import_records(exported_records(file)) == 2
    twin.export_jsonl(tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == file.read_bytes()
    assert twin.import_records(exported_records(file)) == 2  # on top of what is there: new numbers
    assert [(r.seq, r.payload) for r in twin.records()] == [(1, "a"), (3, "c"), (4, "a"), (5, "c")]
    assert {"again.jsonl", "out.jsonl"} <= set(os.listdir(tmp_path)) <= {
        "again.jsonl", "deep", "out.jsonl", "pg0", "twin.db",
    }  # fmt: skip


RECORD = '{"seq": 1, "memory": "m", "key": "k", "kind": "x", "payload": 1}'


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "jsonl.: the file is empty"),
        (["{}"], "line 1"),
        (["[1]"], "line 1"),
        (['{"gym_memory_store": 99}'], "upgrade gym-memory"),
        (['{"gym_memory_store": 1}', RECORD, "{broken"], "line 3"),
        (['{"gym_memory_store": 1}', RECORD, RECORD], "line 3: expected a seq above 1"),
        (['{"gym_memory_store": 1}', RECORD.replace('"m"', "5")], "line 2"),
        (['{"gym_memory_store": 1}', RECORD.replace('"kind"', '"sort"')], "line 2"),
    ],
)
def test_a_broken_export_is_refused(tmp_path, lines, message):
    file = tmp_path / "broken.jsonl"
    file.write_text("\n".join(lines))
    with pytest.raises(StoreError, match=message):
        exported_records(file)


def test_unreachable_files_are_reported(store, tmp_path):
    with pytest.raises(StoreError, match="No such file"):
        exported_records(tmp_path / "none.jsonl")
    with pytest.raises(StoreError, match="cannot export"):
        store.export_jsonl(tmp_path / "no" / "folder.jsonl")
    with pytest.raises(StoreError, match="cannot"):
        Store(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot open"):
        Store(tmp_path / "file" / "below.db")


# -- several processes ---------------------------------------------------------------------------


def write(path, name: str, number: int, start) -> None:
    start.wait()
    store = Store(path)
    for n in range(number):
        store.add(name, "k", "x", n)
        store.update("all", "k", "count", count)


def count(found: list[int]) -> list[int]:
    time.sleep(0.002)  # room for another writer to come between, if it could
    return [sum(found) + 1]


def test_processes_write_at_the_same_time_without_loss(place):
    """They also create the file, or the schema, at the same time."""
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(3)
    writers = [context.Process(target=write, args=(place, f"w{n}", 25, start)) for n in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(600)
        assert writer.exitcode == 0
    store = Store(place)
    for n in range(3):
        assert payloads(store, f"w{n}") == list(range(25))
    assert payloads(store, "all") == [75]  # no update was lost


def test_threads_share_a_store(store):
    threads = [
        threading.Thread(target=lambda: [store.add("t", "k", "x", n) for n in range(10)])
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(payloads(store)) == sorted(list(range(10)) * 3)


def test_forked_process_can_use_the_store(store):
    store.add("m", "k", "x", "before")
    context = multiprocessing.get_context("fork")
    children = [
        context.Process(target=store.add, args=(f"child{n}", "k", "x", *range(5))) for n in range(2)
    ]
    for child in children:
        child.start()
    store.add("m", "k", "x", "meanwhile")
    for child in children:
        child.join(600)
        assert child.exitcode == 0
    assert payloads(store, "m") == ["before", "meanwhile"]
    assert payloads(store, "child0") == payloads(store, "child1") == list(range(5))


_WRITER = """
import sys
from gym_memory.memory.stores.store import Store
store = Store(sys.argv[1])
batch = 0
while True:
    store.add("m", "k", "x", *[[batch, n] for n in range(50)])
    print(batch, flush=True)
    batch += 1
"""


def test_a_killed_writer_loses_nothing_that_it_had_stored(place):
    for kill_after in (1, 4):
        Store(place).delete()
        writer = subprocess.Popen([sys.executable, "-c", _WRITER, place], stdout=subprocess.PIPE)
        written = [int(writer.stdout.readline()) for _ in range(kill_after)]
        time.sleep(0.003 * kill_after)
        os.kill(writer.pid, signal.SIGKILL)
        written += [int(line) for line in writer.stdout.read().split()]
        writer.stdout.close()
        writer.wait()
        store = Store(place)
        stored = payloads(store)
        batches = len(stored) // 50
        assert stored == [[batch, n] for batch in range(batches) for n in range(50)]
        assert batches >= len(written) >= kill_after
        store.add("m", "k", "x", "goes on")


def test_a_writer_that_never_ends_is_reported(path):
    store = Store(path, timeout=0.1)
    blocker = sqlite3.connect(path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match=r"more than 0\.1 seconds"):
        store.add("m", "k", "x", 1)
    assert store.records() == []  # readers do not wait
    blocker.execute("ROLLBACK")
    blocker.close()
    store.add("m", "k", "x", 1)


# -- damage and versions ---------------------------------------------------------------------------


def refuses(path, message: str) -> None:
    before = path.read_bytes()
    with pytest.raises(StoreError, match=message):
        Store(path)
    assert path.read_bytes() == before, "the file was touched"


def test_damage_is_reported_and_left_alone(filed, path, tmp_path):
    filed.add("m", "k", "x", *[{"text": "x" * 500, "n": n} for n in range(200)])
    whole = path.read_bytes()
    for place in (0, 100, len(whole) // 2):
        damaged = tmp_path / f"damaged{place}.db"
        damaged.write_bytes(whole[:place] + b"\xa5" * 4096 + whole[place + 4096 :])
        refuses(damaged, "Move the file away and import a JSONL export")
    short = tmp_path / "short.db"
    short.write_bytes(whole[: len(whole) // 2])
    refuses(short, "damaged")
    text = tmp_path / "notes.txt"
    text.write_text("These are my notes.\n" * 100)
    refuses(text, "damaged")
    assert len(filed.records()) == 200


def test_damage_during_use_is_reported(filed, path):
    filed.add("m", "k", "x", *[{"text": "x" * 500, "n": n} for n in range(200)])
    whole = bytearray(path.read_bytes())
    whole[8192:-4096] = b"\xa5" * (len(whole) - 8192 - 4096)
    path.write_bytes(whole)
    with pytest.raises(StoreError, match="damaged"):
        filed.records()


def test_a_newer_version_is_refused(filed, path):
    filed.add("m", "k", "x", 1)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 7")
    connection.close()
    refuses(path, "version 7, written by a newer gym-memory.*upgrade")


def test_the_database_of_another_program_is_refused(path):
    path.parent.mkdir()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE photos (name TEXT)")
    connection.close()
    refuses(path, "another program")


def test_older_version_is_upgraded(monkeypatch, filed, path, tmp_path):
    from gym_memory.memory.stores import database

    more = tmp_path / "9999-notes.sql"
    more.write_text("ALTER TABLE record ADD COLUMN note TEXT")
    filed.add("m", "k", "x", 1)
    known = database.migrations("sqlite")
    monkeypatch.setattr(database, "migrations", lambda kind: [*known, more])
    newer = Store(path)
    assert payloads(newer) == [1]
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(known) + 1,)
        assert connection.execute("SELECT note FROM record").fetchone() == (None,)
    connection.close()
    monkeypatch.undo()
    with pytest.raises(StoreError, match="newer"):
        Store(path)


def test_an_empty_file_becomes_a_store(tmp_path):
    file = tmp_path / "empty.db"
    file.touch()
    assert Store(file).add("m", "k", "x", 1) == [1]


def test_a_path_with_a_null_is_refused(tmp_path):
    with pytest.raises(StoreError, match="expected the path"):
        Store(f"{tmp_path}/a\0b.db")
    assert list(tmp_path.iterdir()) == []
