"""A model that does not answer is reported at once, and never scored."""

from __future__ import annotations

import itertools
import os
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from waited import Clock

from gym_memory.core.errors import ModelError, ModelSetupError
from gym_memory.core.names import Spec
from gym_memory.llm import Request, client, make_model
from gym_memory.llm.model import Failure
from gym_memory.llm.usage import episode_usage
from gym_memory.run.compare import compare
from gym_memory.run.config import Job, RunConfig
from gym_memory.run.play import play_job
from gym_memory.run.results import read_episodes
from gym_memory.run.results.score import table, units, with_fallbacks
from gym_memory.testing.chat import Faults, ScriptedServer

pytest.importorskip("openai", reason="needs the extra llm")

ROOT = Path(__file__).parents[2]
ASK = Request([{"role": "user", "content": "hello"}])


def url(port: int) -> str:
    return f"http://127.0.0.1:{port}/v1"


def silent() -> socket.socket:
    """Return a socket that takes connections and answers nothing."""
    found = socket.socket()
    found.bind(("127.0.0.1", 0))
    found.listen(16)
    return found


def waiting(listening: socket.socket) -> int:
    """Return how many connections were made and not taken."""
    listening.settimeout(0)
    for number in itertools.count():
        try:
            listening.accept()[0].close()
        except BlockingIOError:
            return number
    raise AssertionError


def agent(base_url: str, **model: object) -> str:
    llm = {"model": "scripted", "base_url": base_url, "retries": 0, "backoff": 0.01, **model}
    return Spec.of("react", {"llm": Spec.of("openai", llm)})


def config(policy: str, seeds: int = 1) -> RunConfig:
    return RunConfig(("Fetch?level=easy&max_steps=6",), ("none",), (policy,), tuple(range(seeds)))


@pytest.mark.slow
@pytest.mark.parametrize("who", ["-p react?model=gpt-4o", "-p random --memory-llm --model gpt-4o"])
@pytest.mark.parametrize("kind", ["refusing", "silent"])
def test_a_dead_endpoint_ends_the_command(kind: str, who: str, tmp_path: Path) -> None:
    with silent() as listening:
        port = listening.getsockname()[1]
        if kind == "refusing":
            listening.close()
        done = subprocess.run(
            [
                *(sys.executable, "-m", "gym_memory", "run", "-e", "Fetch", "-w", "1"),
                *(*who.split(), "--base-url", url(port)),
            ],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
        )
        calls = waiting(listening) if kind == "silent" else 1
    assert done.returncode == 2
    (line,) = done.stderr.strip().splitlines()
    assert url(port) in line
    assert "Start the server of model 'gpt-4o', or name another endpoint by --base-url" in line
    assert calls == 1  # it takes the whole time of a preflight


@pytest.mark.parametrize(("kind", "calls"), [("refusing", 5), ("silent", 1)])
def test_a_preflight_waits_for_at_most_six_seconds(
    kind: str, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    given: list[float] = []
    monkeypatch.setattr(client, "time", clock)
    with silent() as listening:
        port = listening.getsockname()[1]
        if kind == "refusing":
            listening.close()
        model = client.OpenAIChat("m", url(port))
        get = model.endpoint.get

        def counted(path: str, headers: dict[str, str], seconds: float) -> Any:
            given.append(seconds)
            try:
                return get(path, headers, 0.1)
            except Failure as failure:
                clock.sleep(seconds * (failure.kind == "timeout"))
                raise

        monkeypatch.setattr(model.endpoint, "get", counted)
        with pytest.raises(ModelSetupError, match="Start the server"):
            model.preflight()
    assert len(given) == calls
    assert clock.now <= given[0] == 6


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("401", "incorrect key"),
        ("400", "too long"),
        ("500", "internal error"),
        ("no_choice", "without an answer"),
    ],
)
def test_preflight_reports_the_servers_message(fault: str, says: str) -> None:
    with (
        ScriptedServer(faults=Faults(rates={fault: 1.0})) as server,
        pytest.raises(ModelSetupError, match=says),
    ):
        make_model(f"openai?model=m&base_url={server.base_url}&backoff=0.01").preflight()


class Page(BaseHTTPRequestHandler):
    """A site that answers every request with a page."""

    def do_GET(self) -> None:
        page = b"<title>Log in</title>"
        self.send_response(200)
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    do_POST = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_page_in_place_of_answer_is_shown() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        try:
            address = f"http://127.0.0.1:{site.server_port}"
            model = make_model(f"openai?model=m&base_url={address}&backoff=0.01")
            with pytest.raises(ModelSetupError, match=r"no JSON, but '<title>Log in.* Is /v1 miss"):
                model.preflight()
        finally:
            site.shutdown()


@pytest.mark.parametrize("fault", ["", "429", "refusal", "empty"])
def test_preflight_accepts_a_running_server(fault: str) -> None:
    with ScriptedServer(faults=Faults([fault])) as server:
        make_model(f"openai?model=m&base_url={server.base_url}").preflight()
        assert server.received == 1


def test_preflight_waits_for_a_server_that_is_loading() -> None:
    with ScriptedServer(faults=Faults(["503", "500", "400"])) as server:
        make_model(f"openai?model=m&base_url={server.base_url}&backoff=0.01").preflight()
        assert server.received == 4


def test_preflight_waits_for_an_answer_as_long_as_a_call() -> None:
    with ScriptedServer(latency=0.3) as server:
        given: list[float] = []
        model = client.OpenAIChat("m", server.base_url, timeout=90.0)
        post = model.endpoint.post
        model.endpoint.post = lambda *call: (given.append(call[-1]), post(*call))[1]  # type: ignore[method-assign]
        try:
            model.preflight()
        finally:
            del model.endpoint.post
    assert given == [90.0]


def test_kept_answers_need_no_server(tmp_path: Path) -> None:
    spec = f"openai?model=m&cache={tmp_path / 'kept.sqlite'}&base_url="
    with ScriptedServer() as server:
        model = make_model(spec + server.base_url)
        model.complete(ASK)
    make_model(spec + server.base_url).preflight()


def test_model_that_never_answers_ends_run_after_18_attempts() -> None:
    faults = Faults(rates={"500": 1.0})
    with ScriptedServer(faults=faults) as server, episode_usage(most_failures=18):
        model = make_model(f"openai?model=m&base_url={server.base_url}&backoff=0")
        for _ in range(2):
            with pytest.raises(ModelError):
                model.complete(ASK)
        with pytest.raises(
            ModelSetupError, match=r"18 attempts in a row failed: .*the same command"
        ):
            model.complete(ASK)
        assert server.received == 18


def test_wait_longer_than_all_attempts_ends_run_at_once() -> None:
    server = ScriptedServer(faults=Faults(rates={"429": 1.0}), retry_after=7 * 3600)
    with server, episode_usage(most_failures=18):
        model = make_model(f"openai?model=m&base_url={server.base_url}")
        with pytest.raises(ModelSetupError, match=r"does not answer, 1 .*429"):
            model.complete(ASK)


def test_one_answer_continues_the_run() -> None:
    faults = Faults(["500"] * 17 + [""] + ["500"] * 17 + [""])
    with ScriptedServer(faults=faults) as server, episode_usage(most_failures=18):
        model = make_model(f"openai?model=m&base_url={server.base_url}&retries=17&backoff=0")
        assert model.complete(ASK).text
        assert model.complete(ASK).text


def test_first_unusable_answer_is_noted() -> None:
    with ScriptedServer(faults=Faults(rates={"other_action": 1.0})) as server:
        job = Job("Fetch?level=easy&max_steps=4", "none", agent(server.base_url), 0)
        (row,) = play_job(job)
    (note,) = row.result.notes
    assert note.startswith("an answer could not be used: '")
    assert note.endswith("is not among the possible actions")


def test_an_episode_without_any_answer_is_failed_not_scored() -> None:
    with ScriptedServer(faults=Faults(rates={"500": 1.0})) as server:
        job = Job("Fetch?level=easy&max_steps=4", "none", agent(server.base_url), 0)
        (row,) = play_job(job)
    assert "the model never answered, 4 calls failed" in row.result.failed
    (line,) = table(units([row]))
    assert (line.n_failed, line.score) == (1, 0.0)


@pytest.mark.slow
def test_fallbacks_above_five_percent_are_reported(tmp_path: Path) -> None:
    with ScriptedServer(faults=Faults(rates={"500": 0.3}, seed=2)) as server:
        rows = compare(config(agent(server.base_url), 3), tmp_path / "r")
    (line,) = table(units(rows))
    assert 0.05 < line.fallbacks < 0.7
    assert with_fallbacks([line]) == [line]
    report = (tmp_path / "r" / "report.md").read_text()
    assert f"| {line.fallbacks:.0%} |" in report
    with ScriptedServer() as server:
        (good,) = table(units(compare(config(agent(server.base_url), 1), tmp_path / "good")))
    assert good.fallbacks == 0
    assert "| fallbacks |" not in (tmp_path / "good" / "report.md").read_text()


@pytest.mark.slow
def test_model_dying_mid_run_loses_no_finished_episode(tmp_path: Path) -> None:
    server = ScriptedServer()
    server.__enter__()
    port = server.port
    asked = config(agent(url(port)), 30)

    def die_when_three_are_done() -> None:
        path = tmp_path / "episodes.jsonl"
        while not path.exists() or len(path.read_bytes().splitlines()) < 3:
            time.sleep(0.01)
        server.faults = Faults(rates={"500": 1.0})

    threading.Thread(target=die_when_three_are_done, daemon=True).start()
    with pytest.raises(ModelSetupError, match="finished episodes are kept"):
        compare(asked, tmp_path)
    kept = [row for rows in read_episodes(tmp_path) for row in rows]
    assert 3 <= len(kept) < 30
    server.faults = Faults()
    rows = compare(asked, tmp_path, retry_failed=True)
    server.close()
    assert len(rows) == 30
    assert not any(row.result.failed for row in rows)
    again = {row.key: row for row in rows}
    assert all(again[row.key] == row for row in kept if not row.result.failed)
