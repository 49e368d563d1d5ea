"""Measure a call through a door beside the bare step, and show what mistakes give; one JSON line.

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
from typing import Any

from gym_memory.core.records import Cue, Step, Task
from gym_memory.memory import make_memory
from gym_memory.train.session import Session

ENV, MEMORY, BUDGET, STEPS, REPEATS = "Cooking?level=rl-1", "arigraph", 1000, 20, 5
TOKEN = "token-of-ours"
TEXT = "You are in the hall. You see a chest that is closed."
SERVICE = Path(__file__).parents[2] / "examples" / "memory_service.py"
DEAD = "http://127.0.0.1:1"


def least(begin: Callable[[], Any], step: Callable[[], Any]) -> float:
    """Return the milliseconds of a step: the median over steps of the least of the repeats."""
    rows = []
    for _ in range(REPEATS):
        begin()
        row = []
        for _ in range(STEPS):
            began = time.perf_counter()
            step()
            row.append((time.perf_counter() - began) * 1e3)
        rows.append(row)
    return round(statistics.median(map(min, zip(*rows, strict=True))), 2)


def bare() -> float:
    session = Session(ENV, MEMORY, BUDGET)
    found = least(lambda: session.reset(seed=0), lambda: session.step("look"))
    session.close()
    return found


def fault(call: Callable[[], Any]) -> str:
    """Return the line that a mistake gives."""
    try:
        found = call()
    except BaseException as error:
        inner: Any = error
        while getattr(inner, "exceptions", None):
            inner = inner.exceptions[0]
        return f"{type(inner).__name__}: {' '.join(str(inner).split())}"[:300]
    return " ".join(str(found).split())[:300]


@contextmanager
def process(*words: str, **env: str) -> Iterator[str]:
    """Run a server that takes its port as the last word; give its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    running = subprocess.Popen(
        [sys.executable, *words, str(port)], env={**os.environ, **env}, stdout=subprocess.DEVNULL
    )
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                if running.poll() is not None:
                    raise SystemExit(f"{words} ended") from None
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        running.terminate()
        running.wait()


def mcp() -> dict[str, Any]:
    import httpx2
    from anyio.from_thread import start_blocking_portal
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters
    from mcp.client.streamable_http import streamable_http_client

    words = ("-m", "gym_memory", "mcp", "-e", ENV, "-m", MEMORY)
    with ExitStack() as stack:
        portal = stack.enter_context(start_blocking_portal())

        def connect(transport: Any) -> Callable[..., Any]:
            client = stack.enter_context(portal.wrap_async_context_manager(Client(transport)))

            def call(tool: str, **given: Any) -> Any:
                return portal.call(partial(client.call_tool, tool, given))

            return call

        def over(url: str) -> Any:
            http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60)
            return streamable_http_client(f"{url}/mcp", http_client=http)

        url = stack.enter_context(
            process(*words, "--http", "--max-sessions", "20", "--port", GYM_MEMORY_TOKEN=TOKEN)
        )
        stdio = connect(StdioServerParameters(command=sys.executable, args=[*words]))
        ways, handle = {"stdio": stdio, "HTTP": connect(over(url))}, ""
        ms = {}
        for way, call in ways.items():

            def begin(call: Any = call) -> None:
                nonlocal handle
                handle = call("new_game", seed=0).structured_content["handle"]

            ms[way] = least(begin, lambda call=call: call("act", handle=handle, command="look"))

        def said(tool: str, **given: Any) -> str:
            return str(ways["HTTP"](tool, **given).content[0].text)

        return {
            "ms": ms,
            "token": fault(lambda: httpx2.post(f"{url}/mcp", json={}).text),
            "handle": fault(lambda: said("act", handle="none", command="look")),
            "schema": fault(lambda: said("act", handle=handle, order="look")),
            "dead": fault(lambda: connect(over(DEAD))),
        }


def remote() -> dict[str, Any]:
    sys.path.insert(0, str(SERVICE.parent))
    from memory_service import Latest

    with ExitStack() as stack:
        url = stack.enter_context(process(str(SERVICE)))
        memory = make_memory(f"remote?url={url}")
        twin = Latest()

        def step() -> None:
            memory.observe(Step(1, TEXT, "look"))
            memory.recall(Cue(TEXT), BUDGET)

        def same() -> None:
            twin.observe({"text": TEXT})
            twin.recall({}, BUDGET)

        task = Task("", "open the chest", "plain")
        ms = {"HTTP": least(lambda: memory.begin(task, 0), step)}
        closed = stack.enter_context(process(str(SERVICE), GYM_MEMORY_REMOTE_TOKEN=TOKEN))
        lost = make_memory(f"remote?url={url}")
        return {
            "bare": least(lambda: twin.begin(None, None), same),
            "ms": ms,
            "token": fault(lambda: make_memory(f"remote?url={closed}").begin(task, 0)),
            "handle": fault(lambda: lost.recall(Cue(TEXT), BUDGET)),
            "schema": fault(lambda: memory.client("recall", {"cu": {}})),
            "dead": fault(lambda: make_memory(f"remote?url={DEAD}").begin(task, 0)),
        }


def inspect() -> dict[str, Any]:
    import inspect_ai
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from gym_memory.doors.inspect import tasks

    def say(*_: Any) -> Any:
        output = ModelOutput.from_content("mockllm/model", "look")
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    times = []
    for _ in range(REPEATS):
        task = tasks["cooking"](memory=MEMORY, budget=BUDGET, level="rl-1", max_steps=STEPS)
        model = get_model("mockllm/model", custom_outputs=say)
        with tempfile.TemporaryDirectory() as folder:
            (log,) = inspect_ai.eval(task, model=model, limit=1, log_dir=folder, display="none")
        began, *_, last = [e.timestamp for e in log.samples[0].events if e.event == "info"]
        times.append((last - began).total_seconds() * 1e3 / STEPS)
    return {
        "ms": {"a mock model": round(min(times), 2)},
        "schema": fault(lambda: tasks["cooking"](memory="arigraf")),
    }


def verl() -> dict[str, Any]:
    from gym_memory.train.verl import GameManager

    games = GameManager(ENV, MEMORY, BUDGET)
    return {
        "ms": {"one game": least(games.reset, lambda: games.step(["<action>look</action>"]))},
        "schema": fault(lambda: games.step([])),
    }


def openenv() -> dict[str, Any]:
    from openenv import GenericEnvClient

    words = ("-m", "gym_memory", "serve", "-e", ENV, "-m", MEMORY)

    def connect(url: str, token: str = TOKEN) -> Any:
        headers = {"Authorization": f"Bearer {token}"}
        return GenericEnvClient(base_url=url, headers=headers, connect_timeout_s=60).sync()

    def reset(client: Any, **given: Any) -> Any:
        with client:
            return client.reset(**given)

    with process(*words, "--port", GYM_MEMORY_TOKEN=TOKEN) as url:
        with connect(url) as game:
            ms = least(lambda: game.reset(seed=0), lambda: game.step({"text": "look"}))
            schema = fault(lambda: game.step({"order": "look"}))
        request = urllib.request.Request(f"{url}/health", headers={"Authorization": "Bearer no"})
        return {
            "ms": {"WebSocket": ms},
            "token": fault(lambda: urllib.request.urlopen(request)),
            "schema": schema,
            "dead": fault(lambda: reset(connect(DEAD))),
        }


def main() -> None:
    found = {"mcp": mcp, "remote": remote, "inspect": inspect, "verl": verl, "openenv": openenv}
    print(json.dumps({"bare": bare(), **found[sys.argv[1]]()}))


if __name__ == "__main__":
    main()
