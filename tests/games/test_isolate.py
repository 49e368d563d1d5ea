"""Environments in their own process: same play, and a hang or crash costs one episode."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gym_memory.core.errors import (
    BackendError,
    InvalidArgumentError,
    UnknownNameError,
    UntrustedError,
)
from gym_memory.core.trust import check_game
from gym_memory.games.base import ENVIRONMENTS
from gym_memory.games.isolate import IsolatedEnv
from gym_memory.run.config import Job
from gym_memory.run.play import play_job
from gym_memory.train.session import Session

pytestmark = pytest.mark.slow

REPORTS = {
    "hang": "timeout: no answer within 1 s",
    "spin": "timeout: no answer within 1 s",
    "take 10 GB": "MemoryError",
    "exit": "it died with exit status 3",
    "abort": "it died of SIGABRT",
    "say 100 MB": "its answer is longer than 67108864 bytes",
    "print": "",
}


class Hostile:
    """A world whose commands affect its process."""

    actions = tuple(REPORTS)

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        return "You are in the hall.", {"valid_actions": list(self.actions)}

    def step(self, action: str) -> tuple[Any, ...]:
        text = "You are in the hall."
        if action == "hang":
            time.sleep(1000)
        elif action == "spin":
            while True:
                pass
        elif action == "take 10 GB":
            self.held = bytearray(10 << 30)
        elif action == "exit":
            os._exit(3)
        elif action == "abort":
            os.abort()
        elif action == "say 100 MB":
            text = "x" * (100 << 20)
        elif action == "print":
            os.write(1, b'["ok", null, {}]\n')
        return text, 0.0, False, False, {"valid_actions": list(self.actions)}


class Dying(Hostile):
    """A world that ends its process or prints a line, and never waits."""

    actions = ("exit", "print")


@pytest.fixture
def hostile() -> Any:
    """Yield a world with enough time to start and step on a busy machine."""
    world = {"id": f"{__name__}:Hostile"}
    env = IsolatedEnv("Foreign", world, memory=1 << 30, reset_s=600.0, step_s=600.0)
    yield env
    env.close()


@pytest.mark.parametrize("action", REPORTS)
def test_hostile_process_costs_one_episode(
    hostile: Any, action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = hostile.reset(seed=0)
    if REPORTS[action]:
        seconds = 1.0 if action in ("hang", "spin") else 600.0
        with monkeypatch.context() as until:
            until.setattr(hostile, "_step_s", seconds)
            with pytest.raises(BackendError) as raised:
                hostile.step(action)
        assert str(raised.value).endswith(REPORTS[action])
    else:
        hostile.step(action)
    assert hostile.reset(seed=0) == first
    assert hostile.step("wait")[0]["text"] == "You are in the hall."


def test_job_of_dead_process_fails_and_next_plays() -> None:
    env = f"Foreign?entry={__name__}:Dying&isolate=process&max_steps=3"
    rows = [row for seed in range(4) for row in play_job(Job(env, "arigraph", "random", seed))]
    reasons = [row.result.failed.partition("in step: ")[2] for row in rows]
    assert "it died with exit status 3" in reasons
    assert len(rows) == 4


def test_pages_and_servers_isolate_unless_command_line_says_otherwise() -> None:
    for spec, isolated in (
        ("Cooking?level=rl-1", True),
        ("Cooking?level=rl-1&isolate=none", False),
    ):
        session = Session(spec, "none", isolate="process")
        job = Job(spec, "none", "random", 0).make_env("process")
        for env in (session.env, job):
            assert isinstance(env.unwrapped, IsolatedEnv) is isolated
            env.close()
    with pytest.raises(UntrustedError):
        check_game("Cooking?level=rl-1&isolate=none")  # a page says nothing about it


@pytest.mark.parametrize(("name", "kwargs"), [("Cooking", {"level": "rl-1"}), ("NetHack", {})])
def test_isolated_game_plays_the_same(name: str, kwargs: dict[str, Any]) -> None:
    here, isolated = ENVIRONMENTS.get(name)(**kwargs), IsolatedEnv(name, kwargs)
    obs, info = here.reset(seed=3)
    assert isolated.reset(seed=3) == (obs, info)
    for t in range(10):
        if t == 5:
            native, number = here.snapshot(), isolated.snapshot()
        action = obs["valid_actions"][t % len(obs["valid_actions"])]
        found = here.step(action)
        assert isolated.step(action) == found
        obs = found[0]
    assert isolated.restore(number) == here.restore(native)
    assert isolated.valid_actions() == here.valid_actions()
    assert isolated.oracle().facts == here.oracle().facts
    assert isolated.oracle().walkthrough == here.oracle().walkthrough
    assert isolated.task_ids == tuple(here.task_ids)
    assert isolated.versions() == here.versions()
    assert (isolated.dialect, isolated.split) == (here.dialect, here.split)
    isolated.close()
    with pytest.raises(BackendError, match="call reset"):
        isolated.step("look")


def test_mistakes_are_the_same_errors() -> None:
    with pytest.raises(UnknownNameError, match="unknown level of cooking"):
        IsolatedEnv("Cooking", {"level": "no"})
    env = IsolatedEnv("Cooking", {"level": "rl-1"})
    with pytest.raises(UnknownNameError, match="task_id"):
        env.reset(options={"task_id": "no"})
    with pytest.raises(InvalidArgumentError, match="snapshots"):
        env.restore(7)
    env.close()


def test_isolated_process_ends_with_its_parent() -> None:
    code = (
        "import os, signal\nfrom gym_memory.games.isolate import IsolatedEnv\n"
        "env = IsolatedEnv('Cooking', {'level': 'rl-1'})\n"
        "print(env._process.pid, flush=True)\nos.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    deadline = time.monotonic() + 600
    while Path(f"/proc/{int(done.stdout)}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_mutated_stories_cost_their_own_episodes(tmp_path: Path) -> None:
    pytest.importorskip("textworld")
    script = Path(__file__).parents[2] / "benchmarks" / "isolation.py"
    words = [sys.executable, str(script), "--stories", "50", "--step-seconds", "600"]
    words += ["--out", str(tmp_path / "out.json")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=1100)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "out.json").read_text())
    assert sum(record["isolation"]["episodes"].values()) == 50
