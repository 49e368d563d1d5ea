"""The OpenEnv server through OpenEnv's own client: same games, many sessions, nothing left."""

from __future__ import annotations

import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from twenty import BUDGET, ENV, MEMORY, Games

from gym_memory.cli import main
from gym_memory.core.errors import InvalidArgumentError, UnknownNameError

pytestmark = pytest.mark.slow

openenv = pytest.importorskip("openenv")
httpx = pytest.importorskip("httpx")
uvicorn = pytest.importorskip("uvicorn")
pytest.importorskip("textworld")

SESSIONS = 64


class Running:
    """A server in a thread; ``made`` and ``closed`` count environments."""

    def __init__(self, sessions: int, idle_s: float, memory: str = MEMORY, app: Any = None):
        from gym_memory.train import openenv as door

        app = app or door.make_app(ENV, memory, BUDGET, max_sessions=sessions, idle_s=idle_s)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._server = uvicorn.Server(
            uvicorn.Config(app, host="127.0.0.1", port=self.port, log_level="error")
        )
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        wait_for(lambda: self._server.started)
        self.url = f"http://127.0.0.1:{self.port}"

    def client(self) -> Any:
        return openenv.GenericEnvClient(
            base_url=self.url, connect_timeout_s=120, message_timeout_s=300
        ).sync()

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(600)


def wait_for(reached: Callable[[], Any], seconds: float = 600) -> None:
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    running = Running(SESSIONS, 300)
    yield running
    running.stop()


@pytest.fixture
def alive(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """Return the sessions' games that are open."""
    from gym_memory.train.session import Session

    held: set[int] = set()
    make, close = Session.__init__, Session.close

    def opened(self: Session, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        held.add(id(self))

    def closed(self: Session) -> None:
        held.discard(id(self))
        close(self)

    monkeypatch.setattr(Session, "__init__", opened)
    monkeypatch.setattr(Session, "close", closed)
    return held


def check(shown: Any, row: Any) -> None:
    obs = shown.observation
    for name in ("text", "task", "inventory", "memory"):
        assert obs[name] == row.get(name, "")
    assert obs["valid_actions"] == list(row.get("valid_actions", ()))
    assert shown.reward == row["reward"]
    assert shown.done == (row["terminated"] or row["truncated"])
    assert obs["metadata"]["score"] == row["score"]
    assert obs["metadata"]["task_id"] == row["task_id"]


def test_twenty_games_are_those_of_a_run(games: Games, server: Running) -> None:
    with server.client() as client:
        for seed, episode in games.recorded.items():
            check(client.reset(seed=seed), episode.rows[0])
            for row in episode.rows[1:]:
                last = client.step({"text": row["action"]})
                check(last, row)
            result = games.results[seed].result
            assert last.observation["metadata"]["normalized_score"] == result.normalized


def test_sixty_four_sessions_side_by_side(games: Games, server: Running, alive: set[int]) -> None:
    together = threading.Barrier(SESSIONS, timeout=300)

    def play(number: int) -> int:
        rows = games.recorded[number % 20].rows
        with server.client() as client:
            check(client.reset(seed=number % 20), rows[0])
            together.wait()  # all are connected
            for row in rows[1:4]:
                check(client.step({"text": row["action"]}), row)
            together.wait()
        return number

    with ThreadPoolExecutor(SESSIONS) as pool:
        assert list(pool.map(play, range(SESSIONS))) == list(range(SESSIONS))
    wait_for(lambda: not alive)


def test_notes_are_those_of_this_process() -> None:
    from gym_memory.train.session import Session

    memory = "notes?free=2"
    session, running = Session(ENV, memory, BUDGET), Running(1, 300, memory)
    with running.client() as client:
        turn, shown = session.reset(seed=3), client.reset(seed=3)
        for action in (
            "note: cook",
            "find: cook",
            "note 1: eat",
            "look",
            "note: done",
            "forget: 1",
        ):
            turn, shown = session.step(action), client.step({"text": action})
            assert shown.observation["memory"] == turn.obs["memory"]
            assert shown.observation["lessons"] == list(turn.obs["lessons"])
            assert shown.observation["metadata"]["moves"] == turn.info["moves"]
    assert turn.info["moves"] == 2  # the third operation in a row takes a step
    session.close()
    running.stop()


def test_tasks_health_and_schema(server: Running) -> None:
    def post(route: str, **asked: Any) -> Any:
        return httpx.post(f"{server.url}/Cooking/{route}", json=asked, timeout=600)

    assert httpx.get(f"{server.url}/health", timeout=600).json() == {"status": "healthy"}
    splits = httpx.get(f"{server.url}/Cooking/splits", timeout=600).json()
    assert [split["name"] for split in splits] == ["train", "valid", "test", "held_out"]
    assert post("num_tasks", split="test").json() == {"num_tasks": 20}
    task = {"id": "cooking/rl-1/test/3", "index": 3}
    assert post("task", split="test", index=3).json() == {"task": task}
    assert post("task_range", split="test", start=3, stop=4).json()["tasks"] == [task]
    assert post("task", split="test", index=20).status_code == 400
    assert httpx.get(f"{server.url}/schema", timeout=600).json()["action"]["required"] == ["text"]
    with server.client() as client:
        shown = client.reset(split="test", index=3, seed=5)
        assert shown.observation["metadata"]["task_id"] == task["id"]
        assert client.state()["task_id"] == task["id"]
        with pytest.raises(RuntimeError, match="unknown split"):
            client.reset(split="exam")
        assert client.step({"text": "look"}).observation["text"]  # the session goes on


def test_bare_reset_draws_from_the_training_split() -> None:
    from gym_memory.train.openenv import GameAction, GameEnvironment

    game = GameEnvironment("Fetch?level=easy", "none")
    drawn = {game.reset().metadata["task_id"] for _ in range(8)}
    assert all(name.startswith("fetch/easy/train/") for name in drawn)
    assert len(drawn) > 1
    again = []
    for _ in range(2):
        game.reset(seed=5)
        again.append([game.reset().metadata["task_id"] for _ in range(3)])
    assert again[0] == again[1]
    first = game.state.episode_id
    assert first
    game.reset(episode_id="mine")
    game.step(GameAction(text="look"))
    assert game.state.episode_id == "mine"
    with pytest.raises(UnknownNameError, match="unknown argument of reset 'foo'"):
        game.reset(foo=1)
    game.close()
    own = GameEnvironment("Fetch?level=easy&split=test", "none")
    assert own.reset().metadata["task_id"].startswith("fetch/easy/test/")
    own.close()


def test_one_session_too_many_is_refused() -> None:
    running = Running(1, 300)
    try:
        with running.client() as client:
            client.reset(seed=0)
            with pytest.raises(Exception, match=r"(?i)capacity|session"), running.client() as more:
                more.reset(seed=0)
            assert client.step({"text": "look"}).observation["text"]
    finally:
        running.stop()


VANISHES = """
import sys, time
from openenv import GenericEnvClient
client = GenericEnvClient(base_url=sys.argv[1], connect_timeout_s=120).sync().__enter__()
client.reset(seed=0)
print("ready", flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_disconnected_client_leaves_no_session(server: Running, alive: set[int]) -> None:
    threads = threading.active_count()
    client = subprocess.Popen(
        [sys.executable, "-c", VANISHES, server.url], stdout=subprocess.PIPE, text=True
    )
    assert client.stdout is not None
    assert client.stdout.readline() == "ready\n"
    assert len(alive) == 1
    os.kill(client.pid, signal.SIGKILL)
    client.wait()
    wait_for(lambda: not alive)
    wait_for(lambda: threading.active_count() <= threads)


def test_an_idle_session_is_closed(alive: set[int]) -> None:
    running = Running(4, 0.5)
    try:
        with running.client() as client:
            client.reset(seed=0)
            assert len(alive) == 1
            wait_for(lambda: not alive)  # looked for every five seconds
            with pytest.raises(RuntimeError, match=r"reset\(\)|closed"):
                client.step({"text": "look"})
            with pytest.raises(RuntimeError, match="closed"):
                client.reset(seed=0)
    finally:
        running.stop()


PACKAGE = Path(__file__).parents[2] / "packages" / "openenv"


class ThisProcess:
    """A provider of OpenEnv's validation that serves the application without its image."""

    name, supported_network_modes = "process", frozenset({"public"})

    def __init__(self, app: Any):
        from openenv.validation.types import ProviderCapability

        self.capabilities = frozenset({ProviderCapability.IMAGE_BUILD})
        self._app = app

    def build(self, root: Path, execution: Any) -> str:
        assert (root / execution.dockerfile).is_file()
        return "sha256:" + "0" * 64

    def start(self, spec: Any) -> Any:
        running: Any = Running(1, 300, app=self._app)
        running.base_url, running.inspect = running.url, dict
        return running


def test_package_passes_the_checks_of_openenv() -> None:
    from openenv.cli._cli_utils import validate_env_structure
    from openenv.validation import Level, run_validation

    validate_env_structure(PACKAGE)
    app = runpy.run_path(str(PACKAGE / "app.py"))["app"]
    report = run_validation(PACKAGE, max_level=Level.RUNTIME, provider=ThisProcess(app))
    status = {result.check_id: result.status.value for result in report.results}
    for name in ("startup", "observation_schema", "reward_well_formed", "state_contract"):
        assert status.pop(f"runtime.{name}") == "pass"
    assert status.pop("static.manifest") == "pass"
    assert {*status.values()} == {"skip"}  # they are not in this version, or need a container
    running = Running(1, 300, app=app)
    page = httpx.get(f"{running.url}/web/", timeout=600)
    running.stop()
    assert page.status_code == 200
    assert "gradio" in page.text


def test_unsupported_environment_is_named(capsys: Any) -> None:
    from gym_memory.train.openenv import make_app

    with pytest.raises(UnknownNameError, match="level"):
        make_app("Cooking?level=none")
    with pytest.raises(InvalidArgumentError, match="max_sessions"):
        make_app(ENV, max_sessions=0)
    with pytest.raises(SystemExit) as end:
        main(["serve", "-e", "Cooking?level=none"])
    assert end.value.code == 2
    assert "level" in capsys.readouterr().err
