"""A worker and then the driver are killed amid real games; see benchmarks for the full size."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from benchmark import load

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent


@pytest.fixture
def chaos(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the benchmark with one short game and one worker."""
    module = load("benchmarks/chaos.py")
    for name, value in {
        "ENVIRONMENTS": ("Cooking?level=rl-1&max_steps=10",),
        "MEMORIES": ("arigraph",),
        "POLICY": "sleepy",
        "WORKERS": 1,
    }.items():
        monkeypatch.setattr(module, name, value)
    return module


@contextlib.contextmanager
def playing(chaos: ModuleType, out: Path, gate: str = "") -> Iterator[subprocess.Popen[bytes]]:
    """Yield the run; seeds from ``gate`` on wait without end."""
    paths = [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "SLEEPY_GATE": gate}
    words = [*chaos.command(out, 4), "--import", "run_plugin"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, env=env) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 600
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_killed_run_equals_an_undisturbed_one(chaos: ModuleType, tmp_path: Path) -> None:
    gate, out = tmp_path / "gate", tmp_path / "killed"
    log = out / "logs" / "worker-0.log"
    gate.write_text("2")

    def rows() -> list[str]:
        file = out / "episodes.jsonl"
        return file.read_text().splitlines() if file.exists() else []

    with playing(chaos, out, str(gate)) as driver:
        wait_for(lambda: "seed 2 waits" in log.read_text() if log.exists() else False)
        assert len(rows()) == 2
        (worker,) = chaos.victims(driver.pid)["worker"]
        os.kill(worker, signal.SIGKILL)
        wait_for(lambda: len(rows()) == 3)
        assert '"failed": ""' not in rows()[-1]
        driver.kill()
    for folder in (out, tmp_path / "calm"):
        with playing(chaos, folder) as driver:
            assert driver.wait(600) == 0
    killed = chaos.table(out)
    assert len(killed) == 4
    assert killed == chaos.table(tmp_path / "calm")
