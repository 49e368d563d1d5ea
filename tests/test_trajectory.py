"""The file format of recordings, cut at every byte."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.core.errors import ResultsError
from gym_memory.core.trajectory import RowWriter, read_rows, read_trajectory


def write(path, episodes: list[list[dict]]) -> None:
    writer = RowWriter(path)
    for rows in episodes:
        for row in rows:
            writer.write(row)
        writer.end_episode()
    writer.close()


def rows_of(*lengths: int) -> list[list[dict]]:
    return [
        [{"episode": e, "t": t, "text": f"Room {t}. " * 5} for t in range(n)]
        for e, n in enumerate(lengths)
    ]


@pytest.mark.slow
def test_file_cut_at_any_byte_keeps_its_rows(tmp_path) -> None:
    """Whatever is left of a file holds the first rows, and can be continued."""
    path = tmp_path / "rows"
    episodes = rows_of(3, 1, 4)
    flat = [row for rows in episodes for row in rows]
    write(path, episodes)
    whole = path.read_bytes()
    counts = []
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        kept = list(read_rows(path))
        assert kept == flat[: len(kept)]
        counts.append(len(kept))
        writer = RowWriter(path)
        assert writer.next_episode == (kept[-1]["episode"] + 1 if kept else 0)
        extra = {"episode": writer.next_episode, "t": 0, "text": "more"}
        writer.write(extra)
        assert list(read_rows(path)) == [*kept, extra]  # flushed already
        writer.close()
        assert list(read_rows(path)) == [*kept, extra]
        with gzip.open(path) as file:
            assert len(file.readlines()) == len(kept) + 1
    assert counts == sorted(counts)
    assert counts[-1] == len(flat)
    # No more than the row being written is lost.
    assert set(counts) == set(range(len(flat) + 1))


finite = st.floats(allow_nan=False, allow_infinity=False)
values = st.text(max_size=20) | st.integers() | finite | st.booleans()


@settings(derandomize=True, max_examples=40, deadline=None)
@given(
    sessions=st.lists(
        st.lists(st.lists(values, min_size=1, max_size=4), max_size=3), min_size=1, max_size=3
    )
)
def test_written_rows_are_read_back(sessions, tmp_path_factory) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows"
    flat, number = [], 0
    for session in sessions:
        episodes = []
        for episode in session:
            episodes.append(
                [{"episode": number, "t": t, "value": v} for t, v in enumerate(episode)]
            )
            number += 1
        write(path, episodes)
        flat += [row for rows in episodes for row in rows]
    assert list(read_rows(path)) == flat


@pytest.mark.parametrize(
    "content", [b"text", b"\x1f\x8b" + b"\xff" * 40, gzip.compress(b"x\n", mtime=0)]
)
def test_another_kind_of_file(tmp_path, content: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(ResultsError, match=r"expected a recorded trajectory at .*other"):
        list(read_rows(path))
    with pytest.raises(ResultsError, match="expected a recorded trajectory to append to"):
        RowWriter(path)
    assert path.read_bytes() == content


def test_damage_before_the_end_is_no_cut(tmp_path) -> None:
    path = tmp_path / "rows"
    write(path, rows_of(20, 20, 20))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(ResultsError, match="expected a recorded trajectory"):
        list(read_rows(path))


def test_rows_of_another_kind(tmp_path) -> None:
    path = tmp_path / "rows"
    for row in (b"[1, 2]\n", b'{"a": 1}\n', b'{"episode": 0, "t": 0}\n', b"3\n"):
        path.write_bytes(gzip.compress(row))
        with pytest.raises(ResultsError, match="rows of another kind"):
            list(read_trajectory(path))


def test_absent_and_empty(tmp_path) -> None:
    with pytest.raises(ResultsError, match="absent"):
        list(read_rows(tmp_path / "absent"))
    (tmp_path / "empty").write_bytes(b"")
    assert list(read_trajectory(tmp_path / "empty")) == []
