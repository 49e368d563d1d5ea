"""Clients that never finish a request, and applications that fail: a deadline and a line each."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import resource
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from gym_memory.core import serving
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.serving import answer_faults, listen

uvicorn = pytest.importorskip("uvicorn", reason="pip install 'gym-memory[viewer]'")


async def hello(scope: Any, receive: Any, send: Any) -> None:
    """Answer every request."""
    assert scope["type"] == "http"
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello"})


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Yield the port of a server that leaves a silent client after half a second."""
    monkeypatch.setattr(serving, "HEADER_SECONDS", 0.5)
    monkeypatch.setattr(serving, "_MOST_CONNECTIONS", 40)
    listener = listen("127.0.0.1", 0)
    config = uvicorn.Config(
        hello, http=serving._protocol("viewer"), lifespan="off", log_level="critical"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join(600)


def said(port: int) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    connection.request("GET", "/")
    body = connection.getresponse().read()
    connection.close()
    return body


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nHost: a\r\n", b"GET / HTTP/1.1\r\nX"])
def test_unfinished_request_is_dropped(port: int, begun: bytes) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=600) as client:
        client.sendall(begun)
        with contextlib.suppress(ConnectionError):
            assert client.recv(100) == b""
    assert said(port) == b"hello"


def drip(client: socket.socket) -> None:
    """Send a header at a time without end."""
    while True:
        client.sendall(b"X-A: b\r\n")
        time.sleep(0.1)


def test_slow_header_is_dropped(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=600) as client:
        client.sendall(b"GET / HTTP/1.1\r\n")
        with pytest.raises(OSError):  # noqa: PT011 - reset, or a broken pipe
            drip(client)


def test_second_unfinished_request_is_dropped(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=600) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        answer = b""
        while b"hello" not in answer:
            answer += client.recv(1000)
        client.sendall(b"GET /")
        with contextlib.suppress(ConnectionError):
            while client.recv(1000):
                pass


def test_unfinished_requests_leave_room_for_others(port: int) -> None:
    """So many that a server without a limit would have no file left to open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    clients = []
    try:
        for _ in range(min(200, files // 4)):
            client = socket.create_connection(("127.0.0.1", port), timeout=600)
            clients.append(client)
            with contextlib.suppress(OSError):
                client.sendall(b"GET / HTTP/1.1\r\n")
        deadline = time.monotonic() + 600
        while True:
            with contextlib.suppress(OSError, http.client.HTTPException):
                if said(port) == b"hello":
                    return
            assert time.monotonic() < deadline
            time.sleep(0.1)
    finally:
        for client in clients:
            client.close()


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (InvalidArgumentError("expected a split"), 422, b"expected a split\n"),
        (KeyError("t"), 500, b"KeyError: 't'\n"),
        (RecursionError("deep\nin"), 500, b"RecursionError: deep in\n"),
    ],
)
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_exception_is_status_and_line(
    error: Exception, status: int, line: bytes, kind: str
) -> None:
    async def fail(scope: Any, receive: Any, send: Any) -> None:
        raise error

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": kind, "path": "/"}
    asyncio.run(answer_faults(fail, scope, None, send))  # type: ignore[arg-type]
    if kind == "http":
        assert sent[0]["status"] == status
        assert sent[1]["body"] == line
    else:
        assert sent[0]["code"] == 1011
