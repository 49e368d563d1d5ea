"""``gym-memory verify``: intact folders, removed leftovers of kills, named damage."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import inspect
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from run_plugin import Sleepy

from gym_memory.baselines.base import POLICIES
from gym_memory.baselines.scripted import Walkthrough
from gym_memory.cli import main
from gym_memory.core.errors import ResultsError
from gym_memory.core.files import read_json
from gym_memory.games.base import ENVIRONMENTS
from gym_memory.memory import make_memory
from gym_memory.run import rollout
from gym_memory.run.compare import compare
from gym_memory.run.config import RunConfig
from gym_memory.run.play import play_job
from gym_memory.run.results import ResultsFolder, read_episodes
from gym_memory.run.results.verify import verify, verify_all
from gym_memory.testing.fake_env import FakeHouse
from gym_memory.wrappers.record import RecordTrajectory

DATA = ("config.json", "environment.json", "episodes.jsonl")
CONFIG = RunConfig(
    ("FakeHouse",), ("none", "history"), ("random",), (0, 1), protocol="trials?k=2",
    plugins=("run_plugin",),
)  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run that no test changes."""
    assert POLICIES.get("sleepy") is Sleepy
    folder = tmp_path_factory.mktemp("finished") / "run"
    compare(CONFIG, folder)
    return folder


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


def states(folder: Path, **options: bool) -> dict[str, list[str]]:
    """Return the kinds and messages of findings that report a fault."""
    findings: dict[str, list[str]] = {}
    for finding in verify(folder, **options):
        if finding.state != "ok":
            findings.setdefault(finding.state, []).append(f"{finding.part}: {finding.text}")
    return findings


@pytest.mark.slow
def test_finished_run_is_intact_and_unchanged(run: Path) -> None:
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    assert states(run) == {}
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before
    compare(CONFIG, run)
    assert states(run) == {}


@pytest.mark.slow
@pytest.mark.parametrize("lines", [0, 1])
def test_leftovers_of_a_kill_are_removed_for_resuming(run: Path, lines: int) -> None:
    whole = (run / "episodes.jsonl").read_bytes()
    *kept, first, last = whole.splitlines(keepends=True)
    (run / "episodes.jsonl").write_bytes(b"".join(kept) + first * lines + last[:100])
    (run / ".summary.json.1.tmp").write_text("{")
    (run / "manifest.json").unlink()
    findings = states(run, repair=False)
    assert [len(findings[state]) for state in ("damaged", "unfinished", "note")] == [2, 1, 1]
    findings = states(run)
    assert [line.partition(":")[0] for line in findings["repaired"]] == [
        ".summary.json.1.tmp",
        "episodes.jsonl",
    ]
    assert (run / "episodes.jsonl").read_bytes() == b"".join(kept)
    assert "1 are not played: gym-memory compare" in findings["unfinished"][0]
    assert "repaired" not in states(run)
    compare(CONFIG, run)
    assert states(run) == {}
    assert (run / "episodes.jsonl").read_bytes().count(b"\n") == whole.count(b"\n")


def change(path: Path, edit: Callable[[list[bytes]], list[bytes]]) -> None:
    """Edit lines and leave them without a checksum, as an older version wrote them."""
    lines = edit(path.read_bytes().splitlines(keepends=True))
    path.write_bytes(b"".join(re.sub(rb', "crc": "\w+"}', b"}", line) for line in lines))


@pytest.mark.slow
def test_every_flipped_bit_is_noticed(run: Path) -> None:
    """In a finished run by `verify`; in rows of an unfinished one by the reader as well."""
    chance = random.Random(0)
    rows = read_episodes(run)
    for path in sorted(p for p in run.rglob("*") if p.name in DATA or p.suffix == ".gz"):
        whole = path.read_bytes()
        for bit in chance.sample(range(8 * len(whole)), 12):
            damaged = bytearray(whole)
            damaged[bit // 8] ^= 1 << bit % 8
            path.write_bytes(damaged)
            with contextlib.suppress(ResultsError):  # the settings themselves cannot be read
                assert "damaged" in states(run, repair=False), (path.name, bit)
            if path.name == "episodes.jsonl":
                with contextlib.suppress(ResultsError):
                    assert all(row in rows for row in read_episodes(run)), bit
        path.write_bytes(whole)
    assert states(run) == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda lines: [*lines, *lines[:2]], "occurs 2 times"),
        (lambda lines: [*lines[:3], b"{}\n", *lines[4:]], "line 4 is not an episode"),
        (lambda lines: lines[1:], "episodes are missing"),
        (lambda lines: [line.replace(b'"history"', b'"arigraph"') for line in lines], "not played"),
        (lambda lines: [lines[0].replace(b"train/0", b"train/7"), *lines[1:]], "two tasks"),
        (lambda lines: [line.replace(b'"seed": 1', b'"seed": 9') for line in lines], "is no job"),
        (lambda lines: [lines[0].replace(b'"steps": ', b'"steps": 1'), *lines[1:]], "of [1"),
    ],
)
def test_damaged_episodes_are_named(
    run: Path, edit: Callable[[list[bytes]], list[bytes]], says: str
) -> None:
    change(run / "episodes.jsonl", edit)
    held = (run / "episodes.jsonl").read_bytes()
    damaged = states(run)["damaged"]
    assert any(says in line for line in damaged), damaged
    assert any("has changed since the run was finished" in line for line in damaged)
    assert (run / "episodes.jsonl").read_bytes() == held


@pytest.mark.slow
def test_recorded_steps_are_read_to_their_end(run: Path) -> None:
    torn, gone, other = sorted((run / "steps").iterdir())[:3]
    torn.write_bytes(torn.read_bytes()[:-400])
    gone.unlink()
    other.write_bytes(gzip.compress(b"[]\n"))
    damaged = states(run)["damaged"]
    for path in (torn, gone, other):
        assert sum(path.name in line for line in damaged) == 2  # its content, and its hash


@pytest.mark.slow
def test_a_changed_file_shows_in_the_hashes(run: Path) -> None:
    record = read_json(run / "environment.json")
    (run / "environment.json").write_text(json.dumps({**record, "python": "2.7"}))
    assert states(run) == {"damaged": ["environment.json: has changed since the run was finished"]}
    compare(CONFIG, run)  # plays nothing, and does not take the change for the truth
    assert "damaged" in states(run)


@pytest.mark.slow
def test_a_folder_in_use_is_left_alone(run: Path, tmp_path: Path) -> None:
    with ResultsFolder(run, CONFIG), pytest.raises(ResultsError, match="in use"):
        verify(run)
    with pytest.raises(ResultsError, match="not a results folder"):
        verify(tmp_path)


@pytest.mark.skipif(os.name != "posix" or os.getuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_read(run: Path) -> None:
    (run / "episodes.jsonl").write_bytes((run / "episodes.jsonl").read_bytes()[:-5])
    run.chmod(0o555)
    try:
        assert "damaged" in states(run)
    finally:
        run.chmod(0o755)


@pytest.mark.slow
def test_the_command_verifies_folders(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def called(*words: str) -> tuple[int, str]:
        with contextlib.suppress(SystemExit):
            main(["verify", *words])
        code = subprocess.run(
            [sys.executable, "-m", "gym_memory", "verify", *words], capture_output=True
        ).returncode
        return code, capsys.readouterr().out

    code, output = called(str(run.parent))
    assert (code, output.count(str(run))) == (0, 1)
    assert "4 jobs, 8 episodes, each job once" in output
    change(run / "episodes.jsonl", lambda lines: lines[:-2])
    code, output = called("--json", str(run))
    assert code == 1
    assert "unfinished" in {json.loads(line)["state"] for line in output.splitlines()}
    assert called(str(run / "steps"))[0] == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("steps", "8 recorded steps can be read"),
        ("memory", "a memory history can be loaded"),
        ("training", "8 tensors are as they were written"),
    ],
)
def test_a_file_and_a_training_are_checked(kind: str, says: str, tmp_path: Path) -> None:
    place = file = tmp_path / kind
    if kind == "training":
        file = place / "best.safetensors"
        place.mkdir()
        shipped = (
            Path(inspect.getfile(Walkthrough)).with_name("rl") / "trained" / "drrn.safetensors"
        )
        shutil.copy(shipped, file)
    elif kind == "memory":
        make_memory("history").save(file)
    else:
        env = RecordTrajectory(FakeHouse(), str(file))
        rollout(env, Walkthrough(), seed=0)
        env.close()
    assert [(f.state, f.text) for _, f in verify_all([place])] == [("ok", says)]
    half = file.stat().st_size // 2
    file.write_bytes(file.read_bytes()[:half] + bytes(half))
    assert [f.state for _, f in verify_all([place])] == ["damaged"]


@pytest.mark.slow
def test_a_repeated_failure_and_a_broken_manifest_are_noted(tmp_path: Path) -> None:
    config = dataclasses.replace(CONFIG, policies=("bad?how=backend",), protocol="single_episode")
    for again in (False, True):
        compare(config, tmp_path, retry_failed=again)
    noted = states(tmp_path)["note"]
    assert noted[0] == "episodes.failed.jsonl: 2 failed episodes were played again"
    assert noted[1].startswith("episodes.jsonl: 2 jobs failed, the first one (seed 1): ")
    (tmp_path / "manifest.json").write_text("[]")
    (damaged,) = states(tmp_path)["damaged"]
    assert damaged.startswith("manifest.json: cannot be read: ")


class OddHouse(FakeHouse):
    """A house that reports any numbers from its first step on."""

    numbers: ClassVar[dict[str, Any]] = {}

    def step(self, action: str) -> Any:
        obs, reward, terminated, truncated, info = super().step(action)
        return obs, reward, terminated, truncated, {**info, **self.numbers}


class OddWalkthrough(Walkthrough):
    """Solves the game and counts any number."""

    count: ClassVar[Any] = 0

    def counters(self) -> dict[str, Any]:
        return {"odd": self.count} if self.count != 0 else {}


ENVIRONMENTS.register("OddHouse", OddHouse)
POLICIES.register("oddwalkthrough", OddWalkthrough)

ODD_NUMBERS = st.one_of(
    st.floats(),
    st.floats(0, 1),
    st.integers(),
    st.sampled_from([400, 5000]).map(lambda digits: 10**digits),
    st.sampled_from([1e101, None]),
)


@pytest.mark.slow
@settings(derandomize=True, max_examples=40, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["score", "max_score", "normalized_score", "n_invalid"]), ODD_NUMBERS
    ),
    ODD_NUMBERS.filter(lambda number: number is not None),
)
@example({"score": float("nan")}, 0)
@example({"normalized_score": float("inf")}, 0)
@example({"normalized_score": 7.0}, 0)
@example({}, 10**400)
def test_every_row_that_is_written_can_be_read(numbers: dict[str, Any], count: Any) -> None:
    OddHouse.numbers, OddWalkthrough.count = numbers, count
    config = RunConfig(("OddHouse",), ("none",), ("oddwalkthrough",), (0,), protocol="trials?k=2")
    with TemporaryDirectory() as path:
        with ResultsFolder(path, config) as folder:
            folder.set_backends({"OddHouse": "engine 1"})
            (job,) = folder.todo()
            rows = tuple(play_job(job))
            folder.append(rows)
        assert read_episodes(path) == [rows]
        assert "damaged" not in {finding.state for finding in verify(path)}
    in_range = all(
        name == "n_invalid" or (number is not None and abs(number) <= 1e100)
        for name, number in numbers.items()
    )
    assert len(rows) == (1 if rows[0].result.failed else 2)
    assert rows[0].result.failed.count("\n") == 0
    if not in_range:
        assert rows[0].result.failed.startswith("InvalidArgumentError: expected ")
