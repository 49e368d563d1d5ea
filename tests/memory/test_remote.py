"""A memory in another process: equal to one in this process, with one line per fault."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from latest import SERVICE, Twin

from gym_memory.baselines.base import make_policy
from gym_memory.core.errors import InvalidArgumentError, StoreError
from gym_memory.core.records import Cue, Outcome, Step, Task
from gym_memory.core.trajectory import read_rows
from gym_memory.memory import MEMORIES, make_memory
from gym_memory.memory.remote import TOKEN, Remote
from gym_memory.run import rollout
from gym_memory.run.config import Job, RunConfig
from gym_memory.run.play import play_job
from gym_memory.run.replays import Replays
from gym_memory.wrappers.make import make_env

pytest.importorskip("urllib3", reason="needs the extra llm")

TASK, CUE = Task("house/0", "Find the key."), Cue("You are in the hall.", "Find the key.")


def serve(**env: str) -> tuple[subprocess.Popen[bytes], str]:
    """Start the example in a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(SERVICE), str(port)], env={**os.environ, **env})
    end = time.monotonic() + 600
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return process, f"http://127.0.0.1:{port}"
        except ConnectionRefusedError:
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    process, place = serve()
    yield place
    process.kill()
    process.wait()


def see(memory: Any, *texts: str) -> None:
    memory.begin(TASK, 0)
    for t, text in enumerate(texts):
        memory.observe(Step(t, text, "look" if t else ""))


def test_example_has_sixty_lines() -> None:
    assert sum(bool(line.strip()) for line in SERVICE.read_text().splitlines()) <= 60


def test_name_without_url_gives_one_line() -> None:
    assert "remote" not in MEMORIES.names()
    with pytest.raises(InvalidArgumentError, match=r"'remote' needs url: remote\?url="):
        make_memory("remote")
    with pytest.raises(InvalidArgumentError, match="expected url as http"):
        make_memory("remote?url=127.0.0.1:8700")


@pytest.mark.slow
def test_twenty_games_equal_those_of_the_twin(url: str, tmp_path: Path) -> None:
    MEMORIES.register("twin", Twin)
    found: dict[str, list[Any]] = {}
    try:
        for memory in ("twin", f"remote?url={url}"):
            for seed in range(20):
                job = Job("Fetch?level=hard&max_steps=15", memory, "planner", seed, budget=60)
                path = tmp_path / f"{memory[:4]}{seed}.jsonl.gz"
                (row,) = play_job(job, record=str(path))
                assert not row.result.failed, row.result.failed
                found.setdefault(memory[:4], []).append([_bare(step) for step in read_rows(path)])
    finally:
        del MEMORIES.loaded["twin"]
    assert found["twin"] == found["remo"]
    assert any(step.get("memory") for steps in found["remo"] for step in steps)


def _bare(step: Any) -> Any:
    """Return a recorded step without clocks and without what names or counts the memory."""
    return {k: v for k, v in step.items() if k in ("text", "action", "memory", "score", "reward")}


def test_state_fork_and_file_are_exact(url: str, tmp_path: Path) -> None:
    memory = Remote(url)
    see(memory, "You are in the hall.", "A lamp is here.")
    before, shown, twin = memory.snapshot(), memory.recall(CUE, 50), memory.fork()
    json.dumps(before)
    memory.observe(Step(2, "The lamp is gone."))
    assert memory.recall(CUE, 50).text.startswith("The lamp is gone.")
    assert twin.recall(CUE, 50) == shown
    memory.save(tmp_path / "saved.json")
    memory.restore(before)
    assert memory.recall(CUE, 50) == shown
    other = Remote(url)
    other.load(tmp_path / "saved.json")
    assert other.recall(CUE, 50).text.startswith("The lamp is gone.")
    memory.begin(TASK, 1)
    assert memory.recall(CUE, 50).text == ""


def test_lifetime_forever_keeps_the_session(url: str) -> None:
    # The example forgets at begin, so the same session is what can be seen from here.
    memory = Remote(url, lifetime="forever")
    see(memory, "You are in the hall.")
    memory.end(Outcome())
    session = memory.client
    see(memory, "You are in the attic.")
    assert memory.client is session
    assert [name for name, _ in memory.state()["log"]].count("begin") == 2


def test_credit_of_each_line_is_that_of_the_twin(url: str) -> None:
    MEMORIES.register("twin", Twin)
    try:
        worths = []
        for memory in ("twin", f"remote?url={url}"):
            env = make_env("Fetch", memory=memory, budget=300, level="hard", max_steps=10)
            replays = Replays(env, make_policy("planner"), 3, step=4)
            worths.append(replays.worths(("episode",), 3))
    finally:
        del MEMORIES.loaded["twin"]
    assert worths[0] == worths[1]
    assert len(worths[0]) == 3


def test_token_is_sent_and_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    process, place = serve(**{TOKEN: "secret"})
    try:
        with pytest.raises(StoreError, match=r"refused 'begin' with status 403: .*the token"):
            see(Remote(place))
        monkeypatch.setenv(TOKEN, "secret")
        see(memory := Remote(place), "You are in the hall.")
        assert memory.recall(CUE, 50).text == "You are in the hall."
    finally:
        process.kill()
        process.wait()


def test_wrong_argument_gives_one_line_of_the_example(url: str) -> None:
    see(memory := Remote(url), "You are in the hall.")
    for given, reason in (({"cu": {}}, "unexpected keyword argument 'cu'"), ({}, "'cue'")):
        with pytest.raises(StoreError, match=f"refused 'recall' with status 400: .*{reason}"):
            memory.client("recall", given)
    assert memory.recall(CUE, 50).text == "You are in the hall."


# ------------------------------------------------------------ services that fail


class Liar(ThreadingHTTPServer):
    """A service that gives one answer to every recall, and ``{}`` to all else."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.status, self.body, self.seconds = 200, b"{}", 0.0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Answers(BaseHTTPRequestHandler):
    server: Liar

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        recall = self.path == "/recall" or self.headers.get("Mcp-Name") == "recall"
        time.sleep(self.server.seconds * recall)
        body = self.server.body if recall else b"{}"
        self.send_response(self.server.status if recall else 200)
        self.send_header("Location", "http://127.0.0.1:1/recall")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture
def liar() -> Iterator[Liar]:
    with Liar() as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()


LIES = {
    b"": "expected a JSON object from 'recall'",
    b"<html>": "expected a JSON object from 'recall'",
    b'["text"]': "expected a JSON object from 'recall'",
    b'{"text": NaN}': "expected a JSON object from 'recall'",
    b"{}": "expected 'text' as a text",
    b'{"text": 5}': "expected 'text' as a text",
    b'{"text": "' + b"x" * 401 + b'"}': "expected at most 100 tokens .*, got 101",
    b'{"text": "", "episodes": "all"}': "expected 'episodes' as a list of texts",
    b'{"text": "", "lessons": [1]}': "expected 'lessons' as a list of texts",
    b'{"text": "", "triples": [["a", "b"]]}': "expected 'triples' as a list of three texts each",
    b'{"text": "", "triples": {}}': "expected 'triples' as a list of three texts each",
    b'{"text": "\xff"}': "expected a JSON object from 'recall'",
}


@pytest.mark.parametrize("body", LIES, ids=lambda body: repr(body[:24]))
def test_a_lying_service_gives_one_line(body: bytes, liar: Liar) -> None:
    liar.body = body
    see(memory := Remote(liar.url), "You are in the hall.")
    with pytest.raises(StoreError, match=LIES[body]) as raised:
        memory.recall(CUE, 100)
    assert len(str(raised.value).splitlines()) == 1
    assert len(str(raised.value)) < 300


OVER_MCP = {
    b'{"result": {"structuredContent": {"text": ""}}}': "",
    b'event: message\ndata: {"result": {"structuredContent": {"text": ""}}}\n\n': "",
    b'{"error": {"code": 1, "message": "no such\\ntool"}}': "refused 'recall' by MCP: no such tool",
    b'{"result": {"isError": true, "content": [{"text": "full"}]}}': "by MCP: full",
    b'{"result": {"isError": true, "content": []}}': r"by MCP: \[\]",
    b'{"result": {"content": []}}': "expected structured content from 'recall'",
    b'{"result": 5}': "by MCP",
    b"[]": "expected a JSON object from 'recall'",
}


@pytest.mark.parametrize("body", OVER_MCP, ids=lambda body: repr(body[:40]))
def test_answers_of_tools_are_recalls_or_one_line(body: bytes, liar: Liar) -> None:
    liar.body = body
    memory = Remote(liar.url, protocol="mcp")
    if not OVER_MCP[body]:
        assert memory.recall(CUE, 100).text == ""
        return
    with pytest.raises(StoreError, match=OVER_MCP[body]) as raised:
        memory.recall(CUE, 100)
    assert len(str(raised.value).splitlines()) == 1


@pytest.mark.parametrize("status", [302, 404, 500])
def test_a_refusal_gives_its_status_and_is_not_followed(status: int, liar: Liar) -> None:
    liar.status, liar.body = status, b'{"error":\n "full"}'
    see(memory := Remote(liar.url), "You are in the hall.")
    with pytest.raises(StoreError, match=rf'refused \'recall\' with status {status}: .*"full"'):
        memory.recall(CUE, 100)


def test_a_dead_or_slow_service_fails_its_episode_alone(liar: Liar, url: str) -> None:
    liar.seconds = 5.0
    specs = (
        f"remote?timeout=0.2&url={liar.url}",
        "remote?url=http://127.0.0.1:1",
        f"remote?url={url}",
    )
    config = RunConfig(("Fetch?level=easy",), specs, ("planner",), (0,), budgets=(60,))
    slow, dead, well = (next(play_job(job)).result for job in config.jobs())
    assert "no whole response from the memory service" in slow.failed
    assert "cannot reach the memory service http://127.0.0.1:1" in dead.failed
    assert not well.failed


@pytest.mark.slow
def test_a_service_that_restarts_names_the_lost_session(url: str) -> None:
    process, place = serve()
    see(memory := Remote(place), "You are in the hall.")
    process.kill()
    process.wait()
    with pytest.raises(StoreError, match=r"cut by|cannot reach"):
        memory.recall(CUE, 100)
    env = make_env("Fetch", memory=f"remote?url={place}", level="easy")
    with pytest.raises(StoreError, match="cannot reach"):
        rollout(env, make_policy("planner"), 0)
