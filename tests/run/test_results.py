"""The results folder: leftovers of kills, refusals, and rows that are never lost."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from gym_memory.core.errors import ResultsError
from gym_memory.core.optional import git_commit, packages
from gym_memory.run import EpisodeResult
from gym_memory.run.config import EpisodeRow, Job, RunConfig
from gym_memory.run.results import ResultsFolder, read_config, read_episodes
from gym_memory.run.results.folder import read_environment, read_replaced

CONFIG = RunConfig(("E",), ("none",), ("random",), (0, 1, 2), protocol="trials?k=2")


def rows_of(job: Job, n: int = 2, failed: str = "") -> list[EpisodeRow]:
    """Return ``n`` trials; the last one has ``failed`` as its failure."""
    return [
        EpisodeRow(
            job,
            trial,
            EpisodeResult(
                task_id=f"task/{job.seed} é",
                normalized=0.5,
                curve=((0, 0.0), (3, 0.5)),
                failed=failed if trial == n - 1 else "",
            ),
        )
        for trial in range(n)
    ]


def filled(path: Path, config: RunConfig = CONFIG, **kwargs: Any) -> None:
    with ResultsFolder(path, config) as folder:
        for job in folder.todo():
            folder.append(rows_of(job, **kwargs))


def test_written_rows_are_read_back(tmp_path: Path) -> None:
    filled(tmp_path / "run")
    with ResultsFolder(tmp_path / "run", CONFIG) as folder:
        assert folder.todo() == []
        assert folder.rows() == [row for job in CONFIG.jobs() for row in rows_of(job)]
    assert read_config(tmp_path / "run") == CONFIG


def test_rows_come_in_the_order_of_the_configuration(tmp_path: Path) -> None:
    with ResultsFolder(tmp_path, CONFIG) as folder:
        for job in reversed(folder.todo()):
            folder.append(rows_of(job))
        assert [row.job.seed for row in folder.rows()] == [0, 0, 1, 1, 2, 2]


@pytest.mark.slow
def test_file_cut_anywhere_loses_at_most_one_open_job(tmp_path: Path) -> None:
    path = tmp_path / "run"
    filled(path)
    episodes = path / "episodes.jsonl"
    whole = episodes.read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == ord("\n")][1::2]
    # A line without its newline is whole too when it parses.
    for size in [*range(0, len(whole), 37), *ends, *(end - 1 for end in ends)]:
        episodes.write_bytes(whole[:size])
        expected = sum(size >= end - 1 for end in ends)
        assert len(read_episodes(path)) == expected
        with ResultsFolder(path, CONFIG) as folder:
            todo = folder.todo()
            assert len(todo) == 3 - expected
            for job in todo:
                folder.append(rows_of(job))
        assert episodes.read_bytes() == whole


def test_trials_of_an_interrupted_job_are_dropped(tmp_path: Path) -> None:
    filled(tmp_path)
    episodes = tmp_path / "episodes.jsonl"
    lines = episodes.read_bytes().splitlines(keepends=True)
    episodes.write_bytes(b"".join([lines[0], *lines[2:]]))  # job 0 lacks its last trial
    with ResultsFolder(tmp_path, CONFIG) as folder:
        assert [job.seed for job in folder.todo()] == [0]
    assert episodes.read_bytes() == b"".join(lines[2:])


def test_line_without_episode_is_reported_with_its_number(tmp_path: Path) -> None:
    filled(tmp_path)
    episodes = tmp_path / "episodes.jsonl"
    lines = episodes.read_bytes().splitlines(keepends=True)
    for wrong in (b"not json\n", b"{}\n", b"[1]\n", b"\xff\xfe\n"):
        episodes.write_bytes(b"".join([lines[0], wrong, *lines[2:]]))
        with pytest.raises(ResultsError, match=r"line 2 of .* is not an episode"):
            read_episodes(tmp_path)


def test_another_configuration_is_refused_and_harms_nothing(tmp_path: Path) -> None:
    filled(tmp_path)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.is_file()}
    other = RunConfig(("E",), ("none",), ("random",), (0, 1), protocol="trials?k=2")
    with (
        pytest.raises(ResultsError, match=r"holds a run with seeds \[0, 1, 2\].*\[0, 1\]"),
        ResultsFolder(tmp_path, other),
    ):
        pass
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.is_file()} == before


def test_changed_file_of_the_user_is_named(tmp_path: Path) -> None:
    before, now = (replace(CONFIG, plugins=("a", f"./mine.py@{n}")) for n in (1, 2))
    filled(tmp_path, before)
    with (
        pytest.raises(ResultsError, match=r"a run with \./mine\.py before its last change: undo"),
        ResultsFolder(tmp_path, now),
    ):
        pass


def test_run_interrupted_before_first_step_is_replaced(tmp_path: Path) -> None:
    """Take another configuration in the same folder, as after a mistyped name."""
    with ResultsFolder(tmp_path, CONFIG):
        pass
    other = RunConfig(("E",), ("none",), ("random",), (0, 1), protocol="trials?k=2")
    with ResultsFolder(tmp_path, other) as folder:
        assert len(folder.todo()) == 2
    assert read_config(tmp_path) == other
    (tmp_path / "steps").mkdir(exist_ok=True)
    (tmp_path / "steps" / "a.jsonl.gz").write_bytes(b"x")
    with pytest.raises(ResultsError, match="holds a run with"), ResultsFolder(tmp_path, CONFIG):
        pass


def test_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(ResultsError, match="not a results folder"), ResultsFolder(tmp_path, CONFIG):
        pass
    file = tmp_path / "thesis.tex"
    with pytest.raises(ResultsError, match="cannot use"), ResultsFolder(file / "x", CONFIG):
        pass


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 99}', '{"format": 1}'])
def test_damaged_configuration_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(ResultsError), ResultsFolder(tmp_path, CONFIG):
        pass


def test_killed_start_leaves_a_folder_that_can_be_used(tmp_path: Path) -> None:
    (tmp_path / ".lock").touch()
    (tmp_path / ".config.json.abc.tmp").write_text("{")
    filled(tmp_path)
    assert not list(tmp_path.glob(".*.tmp"))
    assert len(read_episodes(tmp_path)) == 3


@pytest.mark.slow
def test_one_process_at_a_time(tmp_path: Path) -> None:
    code = (
        "import sys; from gym_memory.run.results import *; from gym_memory.run.config import *\n"
        "c = RunConfig(('E',), ('none',), ('random',), (0, 1, 2), protocol='trials?k=2')\n"
        "with ResultsFolder(sys.argv[1], c): print('open', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert other.stdout is not None
    assert other.stdout.readline() == b"open\n"
    with pytest.raises(ResultsError, match="in use by another"), ResultsFolder(tmp_path, CONFIG):
        pass
    other.kill()
    other.wait()
    filled(tmp_path)
    assert len(read_episodes(tmp_path)) == 3


def test_the_same_job_twice_is_refused(tmp_path: Path) -> None:
    with ResultsFolder(tmp_path, CONFIG) as folder:
        job = folder.todo()[0]
        folder.append(rows_of(job))
        with pytest.raises(ResultsError, match="came twice"):
            folder.append(rows_of(job))


def test_failed_jobs_are_kept_by_default(tmp_path: Path) -> None:
    filled(tmp_path, failed="timeout")
    with ResultsFolder(tmp_path, CONFIG) as folder:
        assert folder.todo() == []
    with ResultsFolder(tmp_path, CONFIG, retry_failed=True) as folder:
        assert len(folder.todo()) == 3
        assert folder.rows() == []
    failed = read_replaced(tmp_path)
    assert {row.job.seed for row in failed} == {0, 1, 2}
    assert all(row.result.failed for row in failed)
    kept = (tmp_path / "episodes.failed.jsonl").read_bytes()
    with ResultsFolder(tmp_path, CONFIG, retry_failed=True) as folder:
        for job in folder.todo():
            folder.append(rows_of(job))
    assert (tmp_path / "episodes.failed.jsonl").read_bytes() == kept


@pytest.mark.slow
def test_other_backend_versions_are_refused(tmp_path: Path) -> None:
    with ResultsFolder(tmp_path, CONFIG) as folder:
        folder.set_backends({"E": "engine 1"})
        folder.set_backends({"E": "engine 2"})  # nothing played yet: nothing to mix
        folder.append(rows_of(folder.todo()[0]))
        folder.set_backends({"E": "engine 2"})
        with pytest.raises(ResultsError, match=r"'engine 2' .* here it is 'engine 3'"):
            folder.set_backends({"E": "engine 3"})
        assert read_environment(folder.path)["backends"] == {"E": "engine 2"}
        folder.set_backends({"E": "engine 3"}, allow_mismatch=True)
        assert read_environment(folder.path)["backends"] == {"E": "engine 3"}


def test_machine_of_a_run_is_recorded(tmp_path: Path) -> None:
    with ResultsFolder(tmp_path, CONFIG) as folder:
        folder.set_backends({"E": "engine 1"})
        record = read_environment(folder.path)
    assert record["packages"]["gymnasium"]
    assert record["python"].startswith("3.")
    assert {"gym_memory", "git_commit", "host", "platform"} <= set(record)


def test_versions_come_from_the_metadata() -> None:
    found = [package for package in packages() if package.version]
    assert len(found) > 5
    assert [one.version for one in found] == [metadata.version(one.name) for one in found]


def test_changed_code_marks_the_commit_unlike_changed_results(
    tmp_path: Path,
) -> None:
    checkout = tmp_path.resolve()
    package, linked, results = checkout / "package", checkout / "linked", checkout / "results"
    for folder in (package, linked, results):
        folder.mkdir()
        (folder / "__init__.py").write_text("")
    (package / "linked").symlink_to("../linked")
    assert git_commit(package) == ""
    git = ("git", "-C", str(checkout), "-c", "user.name=a", "-c", "user.email=a@b.c")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    commit = git_commit(package)
    assert len(commit) == 40
    (results / "__init__.py").write_text("1")
    assert git_commit(package) == commit
    for changed in (linked, package):
        (changed / "__init__.py").write_text("1")
        assert git_commit(package) == f"{commit}+changes"
        (changed / "__init__.py").write_text("")
    assert git_commit(results) == f"{commit}+changes"


def test_lines_are_plain_json(tmp_path: Path) -> None:
    filled(tmp_path)
    for line in (tmp_path / "episodes.jsonl").read_text().splitlines():
        record = json.loads(line)
        assert {"task_id", "seed", "protocol", "config", "normalized", "failed"} <= set(record)
