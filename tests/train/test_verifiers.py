"""The taskset for verifiers: the same games, through verifiers' own agents, traces and rewards."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from twenty import BUDGET, ENV, MEMORY, Games, observation

from gym_memory.train.steps import opening, state_prompt, turn_text

pytestmark = pytest.mark.slow

vf = pytest.importorskip("verifiers.v1", reason="needs the extra verifiers, in a venv of its own")


class Replay(ThreadingHTTPServer):
    """A chat endpoint that says a list of replies and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies: list[str] = []
        self.asked: list[list[dict[str, Any]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Replay

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body["messages"])
        message = {"role": "assistant", "content": self.server.replies.pop(0)}
        answer = {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def replay() -> Iterator[Replay]:
    with Replay() as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def taskset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the taskset under the name of a module, as verifiers wants it."""
    source = "from gym_memory.train.verifiers import *\n"
    source += "from gym_memory.train.verifiers import __all__\n"
    (tmp_path / "text_games.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    return {"id": "text_games", "game": ENV, "memory": MEMORY, "budget": BUDGET}


def play(config: dict[str, Any], replay: Replay, scripts: list[list[str]]) -> list[Any]:
    """Play one episode per script; return verifiers' records and the prompts of each."""
    from gym_memory.train.verifiers import GameEnv, GameEnvConfig

    async def episodes() -> list[Any]:
        env = GameEnv(GameEnvConfig.model_validate(config))
        client = vf.EvalClientConfig(base_url=replay.url, api_key_var="NO_KEY")
        ctx = vf.ModelContext(model="replay", client=client)
        found = []
        async with env.serving():
            for task, replies in zip(env.taskset.take(len(scripts)), scripts, strict=True):
                replay.replies, replay.asked = list(replies), []
                found.append((await env.run_episode(task, ctx), replay.asked))
        return found

    return asyncio.run(episodes())


@pytest.mark.parametrize("prompts", ["turns", "state"])
def test_twenty_games_are_those_of_a_run(
    prompts: str,
    games: Games,
    taskset: dict[str, Any],
    replay: Replay,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_KEY", "none")
    recorded = [games.recorded[seed].rows for seed in range(20)]
    config = {"taskset": taskset, "prompts": prompts, "max_actions": None}
    scripts = [[row["action"] for row in rows[1:]] for rows in recorded]
    for seed, (episode, asked) in enumerate(play(config, replay, scripts)):
        assert episode.ok, episode.errors or [trace.errors for trace in episode.traces]
        assert episode.task.data.name == recorded[seed][0]["task_id"]
        seen = [observation(row) for row in recorded[seed][:-1]]
        if prompts == "turns":
            expected = [opening(seen[0], None), *(turn_text(obs, None) for obs in seen[1:])]
            assert [len(messages) for messages in asked] == [2 + 2 * n for n in range(len(seen))]
            assert len(episode.traces) == 1
        else:
            expected = [state_prompt(obs, None)[-1]["content"] for obs in seen]
            assert [len(messages) for messages in asked] == [2] * len(seen)
            assert len(episode.traces) == len(seen)
        assert [messages[-1]["content"] for messages in asked] == expected
        score = games.results[seed].result.normalized
        assert [trace.rewards["score"].score for trace in episode.traces] == [score] * len(
            episode.traces
        )
