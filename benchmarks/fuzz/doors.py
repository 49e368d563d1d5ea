"""Messages to the OpenEnv and MCP servers, for strangers.py; each needs its extra.

The servers run as in the commands, behind the guard and its limits. A message is a valid one with
changes, over raw HTTP or a socket; a game is begun once, so that most messages reach it.
"""

from __future__ import annotations

import contextlib
import json
import random
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

from fuzz import invented
from targets import Target

from gym_memory.core import serving
from gym_memory.core.optional import require
from gym_memory.viewer.server import Guard

__all__ = ["WAIT_SECONDS", "Play", "exchange", "mcp", "openenv", "serving_thread"]

Play = Callable[[random.Random], str]
"""Plays one input; returns its faults, empty if there are none."""
WAIT_SECONDS = 60.0
TOKEN = "token"
GAME = "Fetch?level=easy&max_steps=20"


@contextlib.contextmanager
def serving_thread(make: Callable[[int], Any], extra: str) -> Iterator[int]:
    """Serve the result of ``make`` for a port, in a thread; return the port."""
    uvicorn = require("uvicorn", extra, "a server")
    listener = serving.listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    config = uvicorn.Config(make(port), http=serving._protocol(extra), log_level="critical")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield port
    server.should_exit = True
    thread.join(WAIT_SECONDS)


def exchange(port: int, data: bytes, *, leaves: bool = True) -> bytes:
    """Send raw bytes; return the response until the server closes.

    A client that ``leaves`` sends nothing more, so that the server does not wait for half a
    request.
    """
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_SECONDS) as line:
        answer = b""
        with contextlib.suppress(ConnectionError):
            line.sendall(data)
            if leaves:
                line.shutdown(socket.SHUT_WR)
            while piece := line.recv(1 << 16):
                answer += piece
    return answer


def _request(port: int, path: str, body: str, **headers: str) -> bytes:
    data = body.encode(errors="replace")
    lines = {
        "Host": f"127.0.0.1:{port}", "Authorization": f"Bearer {TOKEN}",
        "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
        "Content-Length": str(len(data)), "Connection": "close", **headers,
    }  # fmt: skip
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + data


def _wrong(answer: bytes) -> str:
    for sign in (b"HTTP/1.1 500", b"Traceback", b"-32603"):
        if sign in answer:
            return f"{sign.decode()}: {answer[-300:]!r}"
    return ""


def openenv(seed: int) -> Iterator[Play]:
    """Yield a target for an OpenEnv server: requests, and messages on the socket of one session."""
    client: Any = require("websockets.sync.client", "openenv", "sockets")
    closed: Any = require("websockets.exceptions", "openenv", "sockets").ConnectionClosed
    door: Any = require("gym_memory.train.openenv", "openenv", "the OpenEnv server")
    app = door.make_app(GAME, "arigraph", 300, max_sessions=2)
    steps = [
        {"type": "reset", "data": {"seed": 0}}, {"type": "step", "data": {"text": "look"}},
        {"type": "step", "data": {"text": "go east"}}, {"type": "state", "data": {}},
    ]  # fmt: skip
    said = [json.dumps(step) for step in steps]
    lines: list[Any] = []

    with serving_thread(lambda port: Guard(app, "127.0.0.1", port, TOKEN, programs=True),
                        "openenv") as port:  # fmt: skip
        raw = [
            _request(port, "/step", json.dumps({"action": {"text": "look"}})),
            _request(port, "/reset", json.dumps({"seed": 0, "split": "nothing"})),
            _request(port, "/state", "").replace(b"POST", b"GET", 1),
        ]

        def open_line() -> Any:
            address = f"ws://127.0.0.1:{port}/ws"
            bearer = {"Authorization": f"Bearer {TOKEN}"}
            line = client.connect(address, additional_headers=bearer, proxy=None)
            line.send(said[0])
            line.recv(WAIT_SECONDS)
            return line

        def play(chance: random.Random) -> str:
            if chance.random() < 0.3:
                return _wrong(exchange(port, invented(Target(print, "bytes", raw), chance)))
            text = invented(Target(print, "json", said), chance)
            if not lines:
                lines.append(open_line())
            data = text.encode(errors="replace")
            try:
                lines[0].send(data if chance.random() < 0.1 else data.decode())
                return _wrong(str(lines[0].recv(WAIT_SECONDS)).encode(errors="replace"))
            except closed:
                return f"closed with {code}" if (code := lines.pop().close_code) == 1011 else ""

        yield play
        for line in lines:
            line.close()


def mcp(seed: int) -> Iterator[Play]:
    """Yield a target for an MCP server of games: raw requests, and changed calls of its tools."""
    door: Any = require("gym_memory.doors.mcp", "mcp", "the MCP server")
    server = door.game_server(GAME, "arigraph", 300, most=2)
    app = server.streamable_http_app(host="127.0.0.1")
    hello = {
        "protocolVersion": "2025-03-26", "capabilities": {},
        "clientInfo": {"name": "fuzz", "version": "1"},
    }  # fmt: skip
    headers: dict[str, str] = {}

    def call(tool: str, **given: Any) -> str:
        return _rpc("tools/call", {"name": tool, "arguments": given})

    with serving_thread(lambda port: Guard(app, "127.0.0.1", port, TOKEN, programs=True),
                        "mcp") as port:  # fmt: skip
        begun = exchange(port, _request(port, "/mcp", _rpc("initialize", hello)), leaves=False)
        for line in begun.decode(errors="replace").splitlines():
            name, _, value = line.partition(": ")
            if name.lower() == "mcp-session-id":
                headers["Mcp-Session-Id"] = value
        new = _request(port, "/mcp", call("new_game", seed=0), **headers)
        shown = exchange(port, new, leaves=False)
        handle = shown.decode(errors="replace").partition("handle")[2].strip('\\": ')[:16]
        assert len(handle) == 16, shown[-500:]
        calls: list[tuple[str, dict[str, Any]]] = [
            ("act", {"command": "look"}), ("valid_actions", {}), ("new_game", {"seed": 1}),
            ("recall", {"question": "where?", "tokens": 50}), ("map", {"step": 0}),
            ("what_is_where", {"about": "key"}), ("save", {}), ("go_back", {"snapshot": "0"}),
        ]  # fmt: skip
        said = [call(tool, handle=handle, **given) for tool, given in calls]
        said += [_rpc("tools/list", {}), _rpc("initialize", hello)]
        raw = [_request(port, "/mcp", text, **headers) for text in said[:2]]

        def play(chance: random.Random) -> str:
            if chance.random() < 0.3:
                return _wrong(exchange(port, invented(Target(print, "bytes", raw), chance)))
            text = invented(Target(print, "json", said), chance)
            if chance.random() < 0.7:  # the tool is reached
                tool, given = chance.choice(calls)
                sample = json.dumps({"handle": handle, **given})
                text = call(tool).replace("{}", invented(Target(print, "json", [sample]), chance))
            return _wrong(exchange(port, _request(port, "/mcp", text, **headers), leaves=False))

        yield play


def _rpc(method: str, params: dict[str, Any]) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
