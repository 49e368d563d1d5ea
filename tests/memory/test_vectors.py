"""The vector matrix against a dict, and the cache of vectors under concurrency and damage."""

from __future__ import annotations

import sqlite3
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from work import calls

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.memory.encoders.vectors import (
    Sketches,
    VectorCache,
    VectorIndex,
)

DIM = 3
# Few values, so that equal similarities are common.
vectors = st.lists(st.sampled_from([-0.5, 0.0, 0.25, 0.5]), min_size=DIM, max_size=DIM)
operations = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 9), vectors),
        st.tuples(st.just("remove"), st.integers(0, 9), vectors),
    ),
    max_size=40,
)


def array(rows: list[list[float]]) -> np.ndarray:
    return np.array(rows, dtype=np.float32).reshape(-1, DIM)


@pytest.mark.slow
@settings(derandomize=True, max_examples=150, deadline=None)
@given(operations, st.lists(vectors, min_size=1, max_size=4), st.integers(1, 6))
def test_search_is_that_of_a_dict(steps, queries, k) -> None:
    index, model = VectorIndex(DIM), {}
    for kind, id, vector in steps:
        if kind == "add":
            index.add([id], array([vector]))
            model[id] = vector
        else:
            assert index.remove(id) == (id in model)
            model.pop(id, None)
    assert len(index) == len(model)
    for threshold in (None, 0.125):
        found = index.search(array(queries), k, threshold)
        for query, rows in zip(queries, found, strict=True):
            similar = [
                (id, float(np.dot(query, vector)))
                for id, vector in model.items()
                if threshold is None or np.dot(query, vector) >= threshold
            ]
            assert rows == sorted(similar, key=lambda row: (-row[1], row[0]))[:k]


def test_rows_grow_and_last_takes_place_of_removed_one() -> None:
    index = VectorIndex(DIM)
    rows = np.eye(DIM, dtype=np.float32)[np.arange(100) % DIM]
    index.add(range(100), rows)
    for id in range(0, 100, 2):
        assert index.remove(id)
    assert [id for id, _ in index.search(array([[0, 1, 0]]), 50)[0] if id % 2 == 0] == []
    assert len(index.search(array([[0, 1, 0]]), 500)[0]) == 50


def test_answers_do_not_depend_on_shape_of_the_product() -> None:
    """Query a thousand random vectors one by one, in groups, and in another order."""
    chance = np.random.default_rng(0)
    rows = chance.normal(size=(1000, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    one, other = VectorIndex(384), VectorIndex(384)
    one.add(range(1000), rows)
    for id in reversed(range(1000)):
        other.add([id], rows[id : id + 1])
    assert (one.similarities(rows[:50])[:7] == one.similarities(rows[:7])).all()
    assert one.search(rows[:50], 10) == [one.search(rows[i : i + 1], 10)[0] for i in range(50)]
    assert one.search(rows[:50], 10) == other.search(rows[:50], 10)
    for rest in range(200, 1000):
        one.remove(rest)
    exact = rows[:50].astype(np.float64) @ rows[:200].astype(np.float64).T
    assert np.abs(one.similarities(rows[:50])[:, np.argsort(one.ids)] - exact).max() < 1e-3


@pytest.mark.slow
def test_many_rows_are_found_by_their_sketches() -> None:
    """Beyond the size of a scan: near rows are found, whatever the order, moves and removals."""
    chance = np.random.default_rng(0)
    rows = chance.normal(size=(40_000, 48)).astype(np.float32)
    rows[1::2] = rows[::2] + 0.3 * rows[1::2]  # every row has one neighbour
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    one, other = VectorIndex(48), VectorIndex(48)
    one.add(range(40_000), rows)
    other.add(range(39_999, 39_000, -1), rows[39_999:39_000:-1])
    other.add([-1, -2, -3], rows[:3])
    other.add(range(39_001), rows[:39_001])
    other.add([7], rows[7:8])  # known: replaced in the sketches as well
    for id in (-1, -2, -3):
        assert other.remove(id)
    asked = rows[:20]
    found = one.search(asked, 2)
    assert found == other.search(asked, 2)
    assert [[id for id, _ in pair] for pair in found] == [[n, n ^ 1] for n in range(20)]
    exact = one.similarities(asked)
    assert [pair[1][1] for pair in found] == [
        pytest.approx(float(exact[n, n ^ 1]), abs=1e-6) for n in range(20)
    ]
    for id in range(5_000, 40_000):  # few enough for a scan again
        one.remove(id)
    assert [pair[:2] for pair in one.search(asked, 2)] == found


@pytest.mark.parametrize("most", [1, 100, 3072])
def test_nearest_sketches_are_exact_with_and_without_faiss(most, monkeypatch) -> None:
    pytest.importorskip("faiss", reason="needs the extra faiss")
    rng = np.random.default_rng(most)
    sketches = Sketches(256)
    rows = rng.integers(-40, 40, (40_000, 256)).astype(np.float32)
    rows[:9_000] = rows[0] + rng.integers(-9, 9, (9_000, 256))  # more near the first than wanted
    rows[9_000:9_500] = rows[1] * -1  # in all bits the opposite of one query
    sketches.put(range(len(rows)), rows)
    queries = rows[[0, 1, 20_000]]
    fast = sketches.nearest(queries, most, 39_000)
    monkeypatch.setattr("gym_memory.memory.encoders.vectors.find_faiss", lambda: None)
    plain = sketches.nearest(queries, most, 39_000)
    sides = rows[:39_000] @ sketches.planes > 0
    for query, one, other in zip(queries, fast, plain, strict=True):
        differ = (sides != (query @ sketches.planes > 0)).sum(axis=1)
        expected = np.flatnonzero(differ <= np.sort(differ)[most - 1])
        assert one.tolist() == other.tolist() == expected.tolist()


def test_planes_are_orthogonal() -> None:
    planes = Sketches(256).planes
    assert (planes.T @ planes == 256 * np.eye(256)).all()


@pytest.mark.parametrize("dim", [0, -1, True, 2.0])
def test_wrong_dimension_is_refused(dim) -> None:
    with pytest.raises(InvalidArgumentError, match="dim"):
        VectorIndex(dim)


def test_wrong_shape_and_k_are_refused() -> None:
    index = VectorIndex(DIM)
    with pytest.raises(InvalidArgumentError, match=r"\(2, 3\)"):
        index.add([1, 2], array([[1, 0, 0]]))
    with pytest.raises(InvalidArgumentError, match="k as an int"):
        index.search(array([[1, 0, 0]]), 0)


def test_cache_keeps_encoders_and_processes_apart(tmp_path) -> None:
    path = tmp_path / "deep" / "vectors.sqlite"
    VectorCache(path).put("one", ["a", "b"], array([[1, 2, 3], [4, 5, 6]]))
    again = VectorCache(path)
    assert sorted(again.get("one", ["a", "b", "c"])) == ["a", "b"]
    assert again.get("one", ["b"])["b"].tolist() == [4, 5, 6]
    assert again.get("two", ["a"]) == {}
    assert len(again) == 2


def test_cache_drops_changed_rows_and_reads_older_files(tmp_path) -> None:
    path = tmp_path / "vectors.sqlite"
    with sqlite3.connect(path) as database:
        database.execute(
            "CREATE TABLE vectors (encoder, text, vector, PRIMARY KEY (encoder, text))"
        )
        database.execute(
            "INSERT INTO vectors VALUES ('one', 'old', ?)", (array([[7, 8, 9]]).tobytes(),)
        )
    VectorCache(path).put("one", ["a", "b"], array([[1, 2, 3], [4, 5, 6]]))
    with database:
        database.execute("UPDATE vectors SET vector = zeroblob(12) WHERE text = 'a'")
    database.close()
    assert sorted(VectorCache(path).get("one", ["a", "b", "old"])) == ["b", "old"]
    VectorCache(path).put("one", ["a"], array([[1, 2, 3]]))
    assert VectorCache(path).get("one", ["a"])["a"].tolist() == [1, 2, 3]


def test_cache_reads_more_texts_than_one_query_takes(tmp_path) -> None:
    path = tmp_path / "vectors.sqlite"
    texts = [f"text {n}" for n in range(1_201)]
    rows = np.arange(1_201 * DIM, dtype=np.float32).reshape(-1, DIM)
    VectorCache(path).put("one", texts, rows)
    found = VectorCache(path).get("one", texts)
    assert all((found[text] == row).all() for text, row in zip(texts, rows, strict=True))


@pytest.mark.slow
def test_cache_is_written_by_several_at_once(tmp_path, python) -> None:
    path = tmp_path / "vectors.sqlite"
    program = """
import sys

import numpy as np
from gym_memory.memory.encoders.vectors import VectorCache
cache, name = VectorCache(__import__("pathlib").Path(sys.argv[1])), sys.argv[2]
for n in range(30):
    cache.put("one", [f"{name} {n}", f"both {n}"], np.full((2, 3), n, dtype=np.float32))
"""
    threads = [
        threading.Thread(target=python, args=(program, str(path), name)) for name in ("x", "y")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    texts = [f"{name} {n}" for name in ("x", "y", "both") for n in range(30)]
    found = VectorCache(path).get("one", texts)
    assert sorted(found) == sorted(texts)
    assert found["both 7"].tolist() == [7, 7, 7]


def test_damaged_file_costs_time_not_answers(tmp_path) -> None:
    path = tmp_path / "vectors.sqlite"
    path.write_bytes(b"this is no database, but it is long enough to look like one" * 30)
    cache = VectorCache(path)
    assert cache.get("one", ["a"]) == {}
    cache.put("one", ["a"], array([[1, 2, 3]]))
    assert cache.get("one", ["a"])["a"].tolist() == [1, 2, 3]
    with pytest.raises(sqlite3.DatabaseError):
        sqlite3.connect(path).execute("SELECT * FROM vectors")


def test_cache_works_with_unwritable_folder(tmp_path) -> None:
    (tmp_path / "file").write_text("not a folder")
    cache = VectorCache(tmp_path / "file" / "vectors.sqlite")
    cache.put("one", ["a"], array([[1, 2, 3]]))
    assert list(cache.get("one", ["a"])) == ["a"]


def test_cache_works_without_a_disk(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    cache = VectorCache()
    cache.put("one", ["a"], array([[1, 2, 3]]))
    assert list(cache.get("one", ["a"])) == ["a"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_oldest_vectors_of_a_process_go_first_and_fast(monkeypatch):
    monkeypatch.setattr("gym_memory.memory.encoders.vectors.MOST_KEPT", 20_000)
    cache, vector = VectorCache(), np.ones(2, dtype=np.float32)

    def fill():
        for start in range(0, 200_000, 100):
            texts = [str(number) for number in range(start, start + 100)]
            cache.put("e", texts, np.stack([vector] * 100))

    assert calls(fill) < 4 * 200_000
    assert len(cache) == 20_000
    assert set(cache.get("e", ["179999", "180000", "199999"])) == {"180000", "199999"}
