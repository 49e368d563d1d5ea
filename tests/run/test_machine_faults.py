"""Faults of the machine end a run and can be resumed: they are no scores."""

from __future__ import annotations

import errno
import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gym_memory.core.errors import BackendError
from gym_memory.core.machine import machine_fault

WORLD = """
import os, pathlib

class World:
    def reset(self, seed=None):
        return "A hall.", {"valid_actions": ["wait"]}

    def step(self, action):
        if pathlib.Path("full").exists():
            with open("/dev/full", "w") as file:
                file.write("x")
        return "A hall.", 1.0, True, False, {"valid_actions": ["wait"]}
"""


def play(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-P", "-m", "gym_memory", "compare", "--import", "world"]
    words += [
        "-e",
        "Foreign?entry=world:World",
        "-m",
        "none",
        "-p",
        "random",
        "--seeds",
        "0:3",
        "--out",
        "run",
        "--json",
        *more,
    ]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is full")
def test_full_disk_ends_run_and_leaves_no_row(tmp_path: Path) -> None:
    (tmp_path / "world.py").write_text(WORLD)
    (tmp_path / "full").touch()
    done = play(tmp_path)
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert "run the same command again" in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "run" / "episodes.jsonl").read_bytes() == b""
    (tmp_path / "full").unlink()
    done = play(tmp_path)
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout.splitlines()[0])
    assert (row["n"], row["n_failed"]) == (3, 0)


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """Yield a temporary folder without a free byte."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True)
    except OSError:
        pytest.skip("no mount here")
    if done.returncode:
        pytest.skip("only root may mount a file system")
    try:
        with open(place / "filler", "wb") as file:
            while file.write(b"x" * 4096):
                file.flush()
    except OSError:
        pass
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_hidden_error_is_found_in_full_temporary_folder(
    full: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(full))
    assert "No space left" in machine_fault(ValueError("the compiler failed"))


@pytest.mark.parametrize(
    ("error", "is_fault"),
    [
        (OSError(errno.ENOSPC, "full"), True),
        (OSError(errno.EMFILE, "too many open files"), True),
        (BlockingIOError(errno.EAGAIN, "fork"), True),
        (RuntimeError("can't start new thread"), True),
        (OSError(errno.ENOENT, "no such file"), False),
        (RuntimeError("no such room"), False),
        (MemoryError(), False),  # a worker's own limit
        (sqlite3.DatabaseError("damaged"), False),
    ],
)
def test_causes_of_an_error_are_judged(error: Exception, is_fault: bool) -> None:
    wrapped: Any = BackendError("the engine died")
    wrapped.__cause__ = error
    assert bool(machine_fault(error)) is is_fault
    assert bool(machine_fault(wrapped)) is is_fault


def test_full_store_is_a_fault(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "store.db")
    connection.execute("PRAGMA max_page_count = 2")
    connection.execute("CREATE TABLE a (b)")
    with pytest.raises(sqlite3.OperationalError) as raised:
        connection.execute("CREATE TABLE c (d)")
    assert machine_fault(raised.value)
    connection.close()
