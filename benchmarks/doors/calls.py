"""Measure a call through a door beside the bare step, and print the messages for mistakes, in JSON.

python benchmarks/doors/calls.py mcp        # in an environment that has the door's package
"""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.baselines.base import make_policy
from gym_memory.core.names import import_plugin
from gym_memory.core.records import Cue, Task
from gym_memory.memory import make_memory
from gym_memory.run.config import RunConfig
from gym_memory.run.play import play_job
from gym_memory.testing.chat.server import ScriptedServer
from gym_memory.train.session import Session

ENV, MEMORY, BUDGET, STEPS, REPEATS = "Cooking?level=rl-1", "arigraph", 1000, 20, 5
TOKEN = "token-of-ours"
TEXT = "You are in the hall. You see a chest that is closed."
EXAMPLES = Path(__file__).parents[2] / "examples"
DEAD = "http://127.0.0.1:1"

Call = Callable[[], Any]


def least(begin: Call, step: Call) -> float:
    """Return the milliseconds of a step: the median over steps of the minimum of the repeats."""
    rows = []
    for _ in range(REPEATS):
        begin()
        row = []
        for _ in range(STEPS):
            began = time.perf_counter()
            step()
            row.append((time.perf_counter() - began) * 1e3)
        rows.append(row)
    return statistics.median(map(min, zip(*rows, strict=True)))


def bare_step(memory: str = MEMORY) -> float:
    session = Session(ENV, memory, BUDGET)
    return least(partial(session.reset, seed=0), partial(session.step, "look"))


class Calls(NamedTuple):
    """Ways through a door with their measurements in ms, and mistakes to make at it."""

    ways: dict[str, Callable[[], float]]
    mistakes: dict[str, Call]
    bare: Callable[[], float] = bare_step


def line_of(call: Call) -> str:
    """Return the message for a mistake."""
    try:
        said = str(call())
    except BaseException as error:
        inner: Any = error
        while getattr(inner, "exceptions", None):
            inner = inner.exceptions[0]
        said = f"{type(inner).__name__}: {inner}"
    return " ".join(said.replace(f"{EXAMPLES.parent}/", "").split())[:300]


@contextmanager
def process(*words: str, **env: str) -> Iterator[str]:
    """Run a server that takes its port as the last argument; yield its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    running = subprocess.Popen(
        [sys.executable, *words, str(port)], env={**os.environ, **env}, stdout=subprocess.DEVNULL
    )
    try:
        while running.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        running.terminate()
        running.wait()


def mcp(stack: ExitStack) -> Calls:
    import httpx2
    from anyio.from_thread import start_blocking_portal
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters
    from mcp.client.streamable_http import streamable_http_client

    words = ("-m", "gym_memory", "mcp", "-e", ENV, "-m", MEMORY)
    more = ("--http", "--max-sessions", "20", "--port")
    url = stack.enter_context(process(*words, *more, GYM_MEMORY_TOKEN=TOKEN))
    portal = stack.enter_context(start_blocking_portal())

    def connect(transport: Any) -> Callable[..., Any]:
        client = stack.enter_context(portal.wrap_async_context_manager(Client(transport)))
        return lambda tool, **given: portal.call(partial(client.call_tool, tool, given))

    def over(url: str) -> Any:
        http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60)
        return streamable_http_client(f"{url}/mcp", http_client=http)

    def way(call: Callable[..., Any]) -> Callable[[], float]:
        game: dict[str, Any] = {}
        return partial(
            least,
            lambda: game.update(call("new_game", seed=0).structured_content),
            lambda: call("act", handle=game["handle"], command="look"),
        )

    http = connect(over(url))
    stdio = connect(StdioServerParameters(command=sys.executable, args=[*words]))
    return Calls(
        {"stdio": way(stdio), "HTTP": way(http)},
        {
            "token": lambda: httpx2.post(f"{url}/mcp", json={}).text,
            "handle": lambda: http("act", handle="none", command="look").content[0].text,
            "schema": lambda: http("act", handle="none", order="look").content[0].text,
            "dead": lambda: connect(over(DEAD)),
        },
    )


def openenv(stack: ExitStack) -> Calls:
    from openenv import GenericEnvClient

    words = ("-m", "gym_memory", "serve", "-e", ENV, "-m", MEMORY, "--port")
    url = stack.enter_context(process(*words, GYM_MEMORY_TOKEN=TOKEN))

    def connect(url: str) -> Any:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        client = GenericEnvClient(base_url=url, headers=headers, connect_timeout_s=60)
        return stack.enter_context(client.sync())

    game = connect(url)
    step = partial(game.step, {"text": "look"})
    wrong = urllib.request.Request(f"{url}/health", headers={"Authorization": "Bearer no"})
    return Calls(
        {"WebSocket": partial(least, partial(game.reset, seed=0), step)},
        {
            "token": lambda: urllib.request.urlopen(wrong),
            "schema": lambda: game.step({"order": "look"}),
            "dead": lambda: connect(DEAD),
        },
    )


def remote(stack: ExitStack) -> Calls:
    words, task = str(EXAMPLES / "memory_service.py"), Task("", "open the chest", "plain")
    url = stack.enter_context(process(words))
    closed = stack.enter_context(process(words, GYM_MEMORY_REMOTE_TOKEN=TOKEN))

    def begun(url: str) -> Any:
        memory: Any = make_memory(f"remote?url={url}")
        memory.begin(task, 0)
        return memory

    return Calls(
        {"HTTP": partial(bare_step, f"remote?url={url}")},
        {
            "token": lambda: begun(closed),
            "handle": lambda: make_memory(f"remote?url={url}").recall(Cue(TEXT), BUDGET),
            "schema": lambda: begun(url).client("recall", {"cu": {}}),
            "dead": lambda: begun(DEAD),
        },
        partial(bare_step, "none"),
    )


def inspect(stack: ExitStack) -> Calls:
    import inspect_ai
    from inspect_ai.model import GenerateConfig, ModelOutput, ModelUsage, get_model

    from gym_memory.doors.inspect import tasks

    folder = stack.enter_context(tempfile.TemporaryDirectory())

    def say(*_: Any) -> Any:
        output = ModelOutput.from_content("mockllm/model", "look")
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    def log_of(model: Any) -> Any:
        task = tasks["cooking"](memory=MEMORY, budget=BUDGET, level="rl-1", max_steps=STEPS)
        return inspect_ai.eval(task, model=model, limit=1, log_dir=folder, display="none")[0]

    def ms() -> float:
        log = log_of(get_model("mockllm/model", custom_outputs=say))
        began, *_, last = [e.timestamp for e in log.samples[0].events if e.event == "info"]
        return float((last - began).total_seconds()) * 1e3 / STEPS

    def reason(url: str) -> str:
        config = GenerateConfig(max_retries=0)
        name, key = "openai-api/ours/scripted", {"base_url": url, "api_key": "wrong"}
        return str(log_of(get_model(name, config=config, **key)).error.message)

    url = stack.enter_context(ScriptedServer(key=TOKEN)).base_url
    return Calls(
        {"a mock model": lambda: min(ms() for _ in range(REPEATS))},
        {
            "token": lambda: reason(url),
            "handle": lambda: tasks["cooking"](split="exam"),
            "schema": lambda: tasks["cooking"](memory="arigraf"),
            "dead": lambda: reason(DEAD),
        },
    )


def verl(stack: ExitStack) -> Calls:
    from gym_memory.train.verl import GameManager

    games = GameManager(ENV, MEMORY, BUDGET)
    step = partial(games.step, ["<action>look</action>"])
    return Calls(
        {"one game": partial(least, games.reset, step)}, {"schema": lambda: games.step([])}
    )


def sdk(stack: ExitStack) -> Calls:
    path = EXAMPLES / "sdk" / f"{sys.argv[2]}.py"
    import_plugin(str(path))
    os.environ["OPENAI_API_KEY"] = TOKEN
    url = stack.enter_context(ScriptedServer(key=TOKEN)).base_url

    def player(url: str, name: str = f"{path}:Player") -> str:
        return f"{name}?model=scripted&base_url={url}"

    def way(name: str) -> Callable[[], float]:
        session, policy = Session(ENV, MEMORY, BUDGET), make_policy(name)
        return partial(
            least,
            partial(session.reset, seed=0),
            lambda: (policy.act(session.turn.obs, session.turn.info), session.step("look")),
        )

    def reason(url: str, key: str = TOKEN) -> str:
        os.environ["OPENAI_API_KEY"] = key
        config = RunConfig(("Fetch?level=easy&max_steps=2",), ("none",), (player(url),), (0,))
        return str(next(play_job(next(iter(config.jobs())))).result.failed)

    return Calls(
        {"its client": way(player(url)), "our client": way(player(url, "prompted"))},
        {
            "token": lambda: reason(url, "wrong"),
            "schema": lambda: make_policy(f"{path}:Player?models=scripted"),
            "dead": lambda: reason(DEAD),
        },
    )


def main() -> None:
    doors = {d.__name__: d for d in (mcp, openenv, remote, inspect, verl, sdk)}
    with ExitStack() as stack:
        calls = doors[sys.argv[1]](stack)
        ms = {way: round(measure(), 2) for way, measure in calls.ways.items()}
        mistakes = {kind: line_of(call) for kind, call in calls.mistakes.items()}
        bare = round(calls.bare(), 3)
    print(json.dumps({"bare": bare, "ms": ms, **mistakes}))


if __name__ == "__main__":
    main()
