"""Worker processes: results do not depend on them, and they may die.

Everything here runs in real processes; ``run_plugin`` brings the policies that misbehave.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from run_plugin import Sleepy

from gym_memory.baselines.base import POLICIES
from gym_memory.core.errors import (
    BackendError,
    InvalidArgumentError,
    ResultsError,
    UnknownNameError,
)
from gym_memory.core.files import read_json
from gym_memory.core.trajectory import read_trajectory
from gym_memory.run import EpisodeResult
from gym_memory.run.compare import KeptWorkers, compare
from gym_memory.run.config import EpisodeRow, RunConfig
from gym_memory.run.pool import Limits, WorkerPool
from gym_memory.run.results import read_episodes
from gym_memory.run.results.verify import verify

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
PLUGIN = ("run_plugin",)


@pytest.fixture(scope="module")
def worker() -> Iterator[KeptWorkers]:
    """Yield a worker for all jobs that leave it as it was."""
    with KeptWorkers() as kept:
        yield kept


def config(
    *policies: str, seeds: int = 3, memories: tuple[str, ...] = ("none",), **kwargs: Any
) -> RunConfig:
    return RunConfig(
        ("FakeHouse",), memories, policies, tuple(range(seeds)), plugins=PLUGIN, **kwargs
    )


def clockless(rows: list[EpisodeRow]) -> list[dict[str, Any]]:
    return [
        {k: v for k, v in row.to_json().items() if k not in EpisodeResult.CLOCKS} for row in rows
    ]


def outcomes(rows: list[EpisodeRow]) -> dict[tuple[str, int], str]:
    return {(row.job.policy, row.job.seed): row.result.failed for row in rows}


def test_results_do_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    setup = config("random", "bad?seed=2", seeds=4, memories=("none", "history"))
    one = compare(setup, tmp_path / "one", workers=1)
    two = compare(setup, tmp_path / "two", workers=2)
    assert clockless(one) == clockless(two)
    assert len(one) == 16
    summaries = [json.loads((tmp_path / f / "summary.json").read_text()) for f in ("one", "two")]
    for summary in summaries:
        for row in summary["table"]:
            del row["memory_ms"]
    assert summaries[0] == summaries[1]
    for name in os.listdir(tmp_path / "one" / "steps"):
        first, second = (tmp_path / f / "steps" / name for f in ("one", "two"))
        assert list(read_trajectory(first)) == list(read_trajectory(second))


def test_the_steps_are_recorded(tmp_path: Path, worker: KeptWorkers) -> None:
    rows = compare(config("random", seeds=1, protocol="trials?k=2"), tmp_path, kept=worker)
    (path,) = (tmp_path / "steps").iterdir()
    episodes = list(read_trajectory(path))
    assert [len(e.steps) - 1 for e in episodes] == [row.result.steps for row in rows]
    assert [e.outcome.normalized_score for e in episodes] == [r.result.normalized for r in rows]


def test_worker_has_one_numeric_thread_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for threads, expected in ((None, 1), ("3", 3)):
        if threads is None:
            monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        else:
            monkeypatch.setenv("OMP_NUM_THREADS", threads)
        (row,) = compare(config("greedy", seeds=1), tmp_path / str(threads))
        assert row.result.counters["threads"] == expected
        assert os.environ.get("OMP_NUM_THREADS") == threads


def test_kept_workers_play_the_next_folder(tmp_path: Path) -> None:
    first, second = config("sleepy", seeds=1), config("sleepy", "walkthrough", seeds=2)
    with KeptWorkers() as kept:
        compare(first, tmp_path / "a", kept=kept)
        played = compare(second, tmp_path / "b", kept=kept)
    workers = [worker_ids(tmp_path / name) for name in "ab"]
    assert workers[0] == workers[1]
    assert len(workers[0]) == 1
    assert [row.result.success for row in played[1::2]] == [True, True]
    assert [len(os.listdir(tmp_path / name / "steps")) for name in "ab"] == [1, 4]
    for name in "ab":
        assert not [found for found in verify(tmp_path / name) if found.state != "ok"]


def test_kept_workers_with_other_settings_are_others(tmp_path: Path) -> None:
    with KeptWorkers() as kept:
        first, again, other = (
            kept.pool(WorkerPool, (1,), tmp_path, limits_in_time=Limits(seconds))
            for seconds in (5, 5, 6)
        )
    assert first is again is not other


def test_dying_hanging_and_failing_workers_cost_an_episode_each(tmp_path: Path, clock: Any) -> None:
    bad = ("exit", "kill", "abort", "hang", "backend", "raise")
    policies = [f"bad?how={how}" for how in bad]
    jobs = config(*policies, "walkthrough")
    rows = compare(jobs, tmp_path, workers=2, timeout=5, on_progress=clock.progress)
    assert len(rows) == 21
    found = outcomes(rows)
    reasons = {how: found[f"bad?how={how}", 1] for how in bad}
    assert all(row.result.seconds > 0 for row in rows)
    assert reasons == {
        "exit": "worker died with exit status 7",
        "kill": "worker died of SIGKILL",
        "abort": "worker died of SIGABRT",
        "hang": "timeout: no end within 5 s",
        "backend": "BackendError: the engine is gone",
        "raise": "ZeroDivisionError: a mistake over two lines",
    }
    for row in rows:
        if row.result.failed:
            assert (row.job.seed, row.result.normalized) == (1, 0.0)
            assert row.result.task_id == "fakehouse/train/1"
        else:
            assert row.result.success
    hung = next(r.result for r in rows if r.result.failed.startswith("timeout"))
    assert "run_plugin.py" in hung.detail  # the worker said where it was
    report = (tmp_path / "report.md").read_text()
    assert "**6 of 21 jobs failed**" in report
    assert report.count("worker died of SIGKILL") == 1


@pytest.mark.parametrize("how", ["spin", "step", "reset"])
def test_step_or_reset_that_hangs_ends_its_episode_alone(
    tmp_path: Path, how: str, clock: Any
) -> None:
    """In C code that never lets go of the interpreter too; others may take longer in all."""
    policy = "bad?how=spin" if how == "spin" else "slow"
    env = "FakeHouse" if how == "spin" else f"Stuck?where={how}"
    setup = dataclasses.replace(config(policy), envs=(env,))
    limits = {f"{'reset' if how == 'reset' else 'step'}_timeout": 2.0}
    rows = compare(setup, tmp_path, workers=2, on_progress=clock.progress, **limits)
    reason = "timeout: no reset within 2 s" if how == "reset" else "timeout: no step within 2 s"
    assert [row.result.failed for row in rows] == ["", reason, ""]
    assert rows[1].result.task_id == ("" if how == "reset" else "fakehouse/train/1")
    assert "run_plugin.py" in rows[1].result.detail
    assert rows[1].result.seconds > 1.9
    if how != "spin":
        assert all(row.result.seconds > 2.5 for row in (rows[0], rows[2]))


def test_message_outside_utf_8_is_kept(tmp_path: Path, worker: KeptWorkers) -> None:
    setup = config("bad?how=surrogate", memories=("none", "history"))
    rows = compare(setup, tmp_path, kept=worker)
    assert {r.result.failed for r in rows if r.job.seed == 1} == {"ValueError: bad \ud800 text"}
    assert compare(setup, tmp_path) == rows
    assert r"bad \ud800 text" in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_worker_that_takes_too_much_memory_costs_its_episode(tmp_path: Path) -> None:
    setup = config("bad?how=memory", seeds=3)
    rows = compare(setup, tmp_path, worker_memory=1.0)
    assert [row.result.failed.partition(":")[0] for row in rows] == ["", "MemoryError", ""]


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no /proc")
def test_subprocesses_die_with_their_worker(tmp_path: Path) -> None:
    """Also in its own session, and if the worker itself was killed first."""
    rows = compare(config("bad?how=daemon"), tmp_path)
    assert sum(row.result.failed == "worker died of SIGKILL" for row in rows) == 1
    (child,) = worker_ids(tmp_path)
    assert gone(child)


def test_the_log_of_a_worker_stays_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Print 19 MB within one episode, and keep the end, which has the reason."""
    monkeypatch.setattr("gym_memory.run.pool.LOOK_SECONDS", 0.1)
    rows = compare(config("bad?how=noise"), tmp_path)
    (failed,) = [row.result for row in rows if row.result.failed]
    assert failed.failed == "worker died with exit status 5"
    assert failed.detail.endswith("the end")
    assert len(failed.detail) <= 2000
    assert sum(path.stat().st_size for path in (tmp_path / "logs").iterdir()) < 12_000_000


def test_trials_before_a_death_are_kept(tmp_path: Path) -> None:
    setup = config("bad?how=exit&seed=0&trial=1", seeds=1, protocol="trials?k=3")
    rows = compare(setup, tmp_path)
    assert [row.trial for row in rows] == [0, 1]
    assert [row.result.failed for row in rows] == ["", "worker died with exit status 7"]
    assert [row.result.normalized for row in rows] == [1.0, 0.0]
    assert json.loads((tmp_path / "summary.json").read_text())["table"][0]["score"] == 0.0
    assert len(read_episodes(tmp_path)) == 1


def test_a_second_call_plays_nothing(tmp_path: Path, worker: KeptWorkers) -> None:
    first = compare(config("random"), tmp_path, kept=worker)
    seen: list[tuple[int, int]] = []
    second = compare(
        config("random"), tmp_path, on_progress=lambda done, total, rows: seen.append((done, total))
    )
    assert second == first
    assert seen == [(3, 3)]


def test_failed_jobs_can_be_played_again(tmp_path: Path) -> None:
    setup = config("bad?how=exit")
    assert sum(bool(r.result.failed) for r in compare(setup, tmp_path)) == 1
    before = (tmp_path / "episodes.jsonl").read_text()
    compare(setup, tmp_path)
    assert (tmp_path / "episodes.jsonl").read_text() == before
    compare(setup, tmp_path, retry_failed=True)
    assert len(read_episodes(tmp_path)) == 3


def test_another_backend_version_is_refused_on_resume(tmp_path: Path, worker: KeptWorkers) -> None:
    compare(config("random"), tmp_path, kept=worker)
    lines = (tmp_path / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "episodes.jsonl").write_bytes(b"".join(lines[:2]))
    record = read_json(tmp_path / "environment.json")
    record["backends"] = {"FakeHouse": "fakehouse 0"}
    (tmp_path / "environment.json").write_text(json.dumps(record))
    with pytest.raises(ResultsError, match=r"'fakehouse 0' .* here it is 'fakehouse 1'"):
        compare(config("random"), tmp_path, kept=worker)
    rows = compare(config("random"), tmp_path, kept=worker, allow_version_mismatch=True)
    assert len(rows) == 3


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"envs": ("FakeHose",)}, UnknownNameError, "Did you mean 'FakeHouse'"),
        ({"envs": ("FakeHouse?split=tset",)}, UnknownNameError, "Did you mean 'test'"),
        ({"envs": ("FakeHouse?colour=red",)}, UnknownNameError, "parameter of environment"),
        ({"envs": ("FakeHouse?max_steps=0",)}, InvalidArgumentError, "max_steps"),
        ({"envs": ("Homeless",)}, BackendError, "'no-such-engine' is not installed: gym-memory d"),
        ({"memories": ("histroy",)}, UnknownNameError, "Did you mean 'history'"),
        ({"policies": ("human",)}, InvalidArgumentError, "needs a terminal"),
        ({"task_id": "fakehouse/train/99"}, UnknownNameError, "unknown task of FakeHouse"),
        ({"plugins": ("no_such_module",)}, InvalidArgumentError, "cannot import 'no_such_module'"),
    ],
)
def test_mistakes_are_reported_before_play(
    tmp_path: Path,
    worker: KeptWorkers,
    change: dict[str, Any],
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        compare(dataclasses.replace(config("random"), **change), tmp_path, kept=worker)
    assert read_episodes(tmp_path) == []


def test_worker_that_cannot_start_is_named(tmp_path: Path) -> None:
    (tmp_path / "suicidal.py").write_text("import os; print('no!', flush=True); os._exit(3)")
    sys.path.insert(0, str(tmp_path))
    try:
        with (
            WorkerPool(1, limits_in_time=Limits(5), logs=tmp_path, plugins=("suicidal",)) as pool,
            pytest.raises(BackendError, match=r"exit status 3.*no!"),
        ):
            pool.check(config("random"))
    finally:
        sys.path.remove(str(tmp_path))


def test_worker_that_dies_while_it_starts_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first process dies before the check, two more beside games that are played."""
    (tmp_path / "frail.py").write_text(
        "import os, pathlib\n"
        "import run_plugin\n"
        "log = pathlib.Path(__file__).with_name('starts')\n"
        "with open(log, 'a') as file: file.write('x')\n"
        "if len(log.read_text()) in (1, 3, 4): os._exit(9)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    setup = RunConfig(
        ("FakeHouse",), ("none",), ("bad?how=exit&seed=1",), tuple(range(6)), plugins=("frail",)
    )
    rows = compare(setup, tmp_path / "run", workers=2)
    assert [bool(row.result.failed) for row in rows] == [False, True, *[False] * 4]
    assert len((tmp_path / "starts").read_text()) >= 5


def test_workers_that_never_start_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one plays and dies; none comes after it."""
    (tmp_path / "frail.py").write_text(
        "import os, pathlib\n"
        "import run_plugin\n"
        "log = pathlib.Path(__file__).with_name('starts')\n"
        "with open(log, 'a') as file: file.write('x')\n"
        "if len(log.read_text()) > 1: os._exit(9)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    setup = RunConfig(
        ("FakeHouse",), ("none",), ("bad?how=exit&seed=1",), (0, 1, 2), plugins=("frail",)
    )
    with pytest.raises(BackendError, match=r"exit status 9.* It was tried 4 times"):
        compare(setup, tmp_path / "run")
    assert len(read_episodes(tmp_path / "run")) == 2
    assert len((tmp_path / "starts").read_text()) == 5


@pytest.mark.parametrize(
    ("workers", "timeouts"),
    [(0, (1.0,)), (True, (1.0,)), (1, (0.0,)), (1, (1.0, -1.0)), (1, (1.0, 1.0, math.nan))],
)
def test_wrong_settings_are_refused(
    tmp_path: Path, workers: int, timeouts: tuple[float, ...]
) -> None:
    with pytest.raises(InvalidArgumentError):
        WorkerPool(workers, limits_in_time=Limits(*timeouts), logs=tmp_path)


# ---------------------------------------------------------------- killed from outside


class Running:
    """``gym-memory compare`` in a process of its own, which plays the first ``seeds`` of six."""

    def __init__(self, out: Path, *more: str, seeds: int = 6):
        self.out = out
        gate = out.with_suffix(".gate")
        gate.write_text(str(seeds))
        words = ["compare", "--import", "run_plugin", "-e", "FakeHouse", "-m", "none"]
        words += ["-m", "history", "-p", "sleepy?delay=0.003", "--seeds", "0:6", "-w", "2"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gym_memory", *words, "--out", str(out), *more],
            cwd=HERE,
            env={**os.environ, "SLEEPY_GATE": str(gate)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def lines(self) -> list[bytes]:
        path = self.out / "episodes.jsonl"
        return path.read_bytes().splitlines(keepends=True) if path.exists() else []

    def wait_for_lines(self, n: int) -> None:
        deadline = time.monotonic() + 600
        while len(self.lines()) < n and self.process.poll() is None:
            assert time.monotonic() < deadline, "the run does not get on"
            time.sleep(0.005)

    def kill(self) -> int:
        self.process.kill()
        self.process.communicate(timeout=600)
        return self.process.returncode

    def finish(self) -> str:
        output, errors = self.process.communicate(timeout=600)
        assert self.process.returncode == 0, errors
        assert "leaked" not in errors, "a worker had no time to clear up"
        return output


def worker_ids(out: Path) -> set[int]:
    """Return the process ids of all workers, as ``Sleepy`` logs them."""
    logs = [path.read_text() for path in (out / "logs").glob("*.log")]
    return {int(line[7:]) for log in logs for line in log.splitlines() if line[:7] == "sleepy "}


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    # In a container without an init process nobody buries it.
    return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"


def rows_without_clock(output: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in output.splitlines()]
    for row in rows:
        del row["memory_ms"]
    return rows


def test_kill_9_at_random_moments_then_the_same_command(tmp_path: Path) -> None:
    assert POLICIES.get("sleepy") is Sleepy
    undisturbed = Running(tmp_path / "calm", "--json").finish()
    chance, out = random.Random(0), tmp_path / "killed"
    kept: list[bytes] = []
    for target in (0, 2, 7):  # the first kill hits the start
        run = Running(out, "--json", seeds=5)
        run.wait_for_lines(target)
        time.sleep(chance.uniform(0, 0.4))
        assert run.kill() == -signal.SIGKILL
        lines = run.lines()
        whole = [line for line in lines if line.endswith(b"\n")]
        assert lines[: len(kept)] == kept, "a finished episode was lost"
        kept = whole
    assert 7 <= len(kept) <= 10
    output = Running(out, "--json").finish()
    lines = run.lines()
    assert lines[: len(kept)] == kept
    names = [(r["seed"], r["memory"]) for r in map(json.loads, lines)]
    assert len(names) == len(set(names)) == 12
    assert rows_without_clock(output) == rows_without_clock(undisturbed)
    deadline = time.monotonic() + 600
    while alive := [pid for pid in worker_ids(out) if not gone(pid)]:
        assert time.monotonic() < deadline, f"workers outlived the run: {alive}"
        time.sleep(0.05)


def test_interrupted_run_reports_and_can_be_resumed(tmp_path: Path) -> None:
    out = tmp_path / "run"
    kept: list[bytes] = []
    for how, times, seeds in (
        (signal.SIGINT, 1, 1),
        (signal.SIGTERM, 1, 2),
        (signal.SIGHUP, 1, 3),
        (signal.SIGINT, 10_000, 4),  # to the very end of the process
    ):
        run = Running(out, seeds=seeds)
        run.wait_for_lines(2 * seeds)
        while times and run.process.poll() is None:
            run.process.send_signal(how)
            times -= 1
            time.sleep(0.01)
        _, errors = run.process.communicate(timeout=600)
        assert run.process.returncode == 130
        assert "run the command again to continue" in " ".join(errors.split())
        assert "Traceback" not in errors
        assert run.lines()[: len(kept)] == kept
        kept = run.lines()
        assert len(kept) == 2 * seeds
        assert all(gone(pid) for pid in worker_ids(out))
    Running(out).finish()
    assert run.lines()[: len(kept)] == kept
    assert len(run.lines()) == 12


def test_a_full_disk_is_one_line_and_loses_nothing(tmp_path: Path) -> None:
    """Limit the size of files, and keep what was complete."""
    words = ["compare", "--import", "run_plugin", "-e", "FakeHouse", "-m", "none", "-p", "greedy"]
    words += ["--seeds", "0:12", "-w", "1", "--out", str(tmp_path / "run")]
    command = [sys.executable, "-m", "gym_memory", *words]

    resource = pytest.importorskip("resource")

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, resource.RLIM_INFINITY))

    full = subprocess.run(command, cwd=HERE, preexec_fn=limited, capture_output=True, text=True)
    assert full.returncode == 2
    assert "Traceback" not in full.stderr
    assert "error: cannot write to" in full.stderr
    held = (tmp_path / "run" / "episodes.jsonl").read_bytes()
    kept = held[: held.rfind(b"\n") + 1]
    assert 0 < kept.count(b"\n") < 12
    again = subprocess.run(command, cwd=HERE, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    lines = (tmp_path / "run" / "episodes.jsonl").read_bytes()
    assert lines.startswith(kept)
    assert lines.count(b"\n") == 12


def test_full_disk_fails_no_episode(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    words = ["compare", "--import", "run_plugin", "-e", "FakeHouse", "-m", "none", "-p", "random"]
    words += ["--seeds", "0:1", "--protocol", "trials?k=8", "--out", str(tmp_path / "run")]
    command = [sys.executable, "-m", "gym_memory", *words]
    full = subprocess.run(
        command,
        cwd=HERE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2500, 10**9)),
        capture_output=True,
        text=True,
    )
    assert (full.returncode, full.stderr.count("error: cannot record to")) == (2, 1), full.stderr
    assert "-seed0.jsonl.gz': [Errno 27]" in full.stderr
    assert "Traceback" not in full.stderr
    assert (tmp_path / "run" / "episodes.jsonl").read_bytes() == b""
