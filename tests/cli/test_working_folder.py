"""The files beside a downloaded story: no command runs or reads one that was not named."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from planted import opened, plant

from gym_memory.cli import COMMANDS
from gym_memory.testing.chat import ScriptedServer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="inotify is of Linux"),
]

SCRIPT = str(Path(sys.executable).with_name("gym-memory"))
GAME = ("-e", "Fetch?isolate=process&max_steps=3", "--seeds", "0:2")
RUN = ("-m", "arigraph", "-p", "random", *GAME)
LINES = {
    "run": (*RUN, "--out", "RUN"),
    "compare": ("-e", "Cooking?level=rl-1&max_steps=3", *RUN, "-m", "rag", "--workers", "2"),
    "demo": ("--out", "GAMES"),
    "play": ("-e", "Fetch?isolate=process"),
    "view": ("OLD", "--no-browser"),
    "report": ("OLD",),
    "verify": ("OLD",),
    "export": ("OLD", "--out", "steps.jsonl"),
    "new": ("policy", "Scout"),
    "panel": ("check", "multihop-qa"),
    "train": ("drrn", "-e", "Cooking?level=rl-1&max_steps=3", "-m", "none", "--out", "learnt",
              "--steps", "6", "--games", "1", "--valid-games", "1"),
    "serve": ("-e", "Fetch"),
    "serve-scripted": ("--port", "0"),
    "mcp": ("-e", "Fetch"),
    "check": ("arigraph",),
    "rank": ("none", "--tier", "check", "--out", "GAMES"),
    "exam": ("-e", "Fetch", "-m", "arigraph", "--seeds", "0:1"),
    "quality": ("-e", "Fetch", "-m", "arigraph", "--seeds", "0:1"),
    "credit": ("-e", "Fetch", "-p", "random", "--seeds", "1"),
    "memory": ("inspect", "STEPS"),
    "paper": ("arigraph-fig3", "--model", "scripted", "--base-url", "URL", "--memory-rules",
              "--encoder", "hash", "--out", "GAMES"),
    "transfer": ("adapt", "-e", "Fetch?max_steps=3", "-m", "clin", "-p", "random", "--seeds", "0:1",
                 "--trials", "2", "--out", "moved"),
    "ldm2": ("form", "OLD/steps", "-m", "ldm2?store=tuples.db"),
    "list": ("environments",),
    "doctor": (),
}  # fmt: skip
"""One call of each command; servers and dialogues are ended after their first line.

What would play for minutes is ended once an episode is in its folder.
"""
SERVERS = ("play", "view", "serve", "serve-scripted")
LONG = ("demo", "rank", "paper")
HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-03-26", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}  # fmt: skip
"""The first message to an MCP server; other commands read nothing of it."""


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a results folder with steps, made elsewhere."""
    folder = tmp_path_factory.mktemp("elsewhere")
    done = subprocess.run(
        [SCRIPT, "run", *RUN, "--out", "old"], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return folder / "old"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    here = tmp_path / "downloads"
    here.mkdir()
    plant(here, tmp_path / "mark")
    return here


def untouched(
    folder: Path, words: Sequence[str], *, serves: bool = False, games: Path | None = None
) -> str:
    """Run a command in a planted folder; assert that nothing of it ran or was read.

    It is interrupted after its first line if it ``serves``, else once an episode is in ``games``.
    """
    mark = folder.parent / "mark"
    with opened(folder) as found:
        process = subprocess.Popen(
            words, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip
        assert process.stdout is not None
        try:
            if serves:
                assert select.select([process.stdout], [], [], 300)[0]
                said = process.stdout.readline()
                process.send_signal(signal.SIGINT)
            elif games is not None:
                while not any(path.stat().st_size for path in games.rglob("episodes.jsonl")):
                    assert process.poll() is None, process.stdout.read()
                    time.sleep(0.05)
                process.send_signal(signal.SIGINT)
                said, _ = process.communicate(timeout=500)
            else:
                said, _ = process.communicate(json.dumps(HELLO) + "\n", timeout=500)
            process.wait(600)
        finally:
            os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None
    assert not mark.exists(), mark.read_text()
    assert found == set()
    if "is not installed" in said:
        pytest.skip(said)
    if not serves:
        assert process.returncode == (0 if games is None else 130), said
    return said


def test_every_command_is_tried() -> None:
    assert LINES.keys() == COMMANDS.keys()


@pytest.mark.parametrize("command", LINES)
def test_no_command_touches_planted_files(command: str, folder: Path, old: Path) -> None:
    games = folder.parent / "games" if command in LONG else None
    places = {"OLD": old, "STEPS": next(old.glob("steps/*")), "GAMES": games}
    with ScriptedServer() as model:
        words = [SCRIPT, command]
        for word in LINES[command]:
            place, _, rest = word.partition("/")
            word = word if place not in places else str(places[place]) + (rest and f"/{rest}")
            words.append(model.base_url if word == "URL" else word)
        said = untouched(folder, words, serves=command in SERVERS, games=games)
    assert said


def test_game_started_by_a_page_touches_no_planted_files(folder: Path) -> None:
    """A socket of the play page starts the game in a process of its own."""
    code = (
        "from gym_memory.games.isolate import IsolatedEnv\n"
        "from gym_memory.train.session import Session\n"
        "session = Session('Fetch', 'arigraph', isolate='process')\n"
        "assert isinstance(session.env.unwrapped, IsolatedEnv)\n"
        "print(session.reset()); session.close()"
    )
    assert untouched(folder, [sys.executable, "-P", "-c", code])


def test_replay_of_ranked_memory_touches_no_planted_files(folder: Path) -> None:
    """Rank replays an episode in a process without the game."""
    code = (
        "from gym_memory.core.records import Task\n"
        "from gym_memory.evaluate.rank.watched import _Witness\n"
        "witness = _Witness((), 'arigraph', Task('t', 'Eat.', 'plain'), 0, 100, (), ())\n"
        "print(witness.elsewhere())"
    )
    assert untouched(folder, [sys.executable, "-P", "-c", code]) == "[]\n"


def test_llama_server_touches_no_planted_files(folder: Path) -> None:
    pytest.importorskip("xllamacpp")
    code = (
        "from gym_memory.llm.smollm import LlamaServer\n"
        "with LlamaServer(context=256) as server: print(server.counts())"
    )
    assert "prompt" in untouched(folder, [sys.executable, "-P", "-c", code])


def test_ray_workers_touch_no_planted_files(folder: Path) -> None:
    pytest.importorskip("ray")
    words = [SCRIPT, "compare", *RUN, "--ray", "local", "--out", "rayed"]
    assert untouched(folder, words)


def test_named_file_and_user_path_still_run(folder: Path) -> None:
    """What the user names is imported, with its neighbours; PYTHONPATH reaches every process."""
    shelf = folder.parent / "shelf"
    shelf.mkdir()
    (shelf / "shelved.py").write_text("NAME = 'shelved'\n")
    (folder / "beside.py").write_text("NAME = 'beside'\n")
    (folder / "mine.py").write_text(
        "import beside, shelved\n"
        "from gym_memory.memory.base import Memory\n"
        "from gym_memory.core.records import Recall\n\n\n"
        "class Mine(Memory):\n    name = 'mine'\n\n"
        "    def begin(self, task, seed): pass\n\n"
        "    def observe(self, step): pass\n\n"
        "    def recall(self, cue, budget): return Recall(beside.NAME + shelved.NAME)\n\n"
        "    def state(self): return {}\n\n"
        "    def load_state(self, state): pass\n"
    )
    done = subprocess.run(
        [SCRIPT, "run", "-m", "./mine.py:Mine", "-p", "random", *GAME, "--out", "own", "--json"],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(shelf)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[0])["memory"] == "./mine.py:Mine"


def children() -> Iterator[Path]:
    """Yield the folders of this process's children in /proc."""
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended
            if int(place.joinpath("stat").read_text().rpartition(")")[2].split()[1]) == os.getpid():
                yield place


def test_keys_do_not_reach_an_isolated_game(monkeypatch: pytest.MonkeyPatch) -> None:
    from gym_memory.core.names import PLUGINS
    from gym_memory.games.isolate import IsolatedEnv

    for name in ("OPENAI_API_KEY", "HF_TOKEN", "PGPASSWORD", "DATABASE_URL"):
        monkeypatch.setenv(name, "secret")
    for plugin in tuple(PLUGINS):  # of other tests; the game's process may not find them
        monkeypatch.delitem(PLUGINS, plugin)
    before = set(children())
    env = IsolatedEnv("Fetch", {})
    (place,) = set(children()) - before
    assert b"secret" not in place.joinpath("environ").read_bytes()
    own = Path(os.readlink(place / "cwd"))
    assert own != Path.cwd()
    env.close()
    deadline = time.monotonic() + 600
    while own.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
