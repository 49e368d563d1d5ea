"""Slow, endless or endlessly nested answers are cut off."""

from __future__ import annotations

import gzip
import http.server
import json
import socket
import threading
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress

import pytest
from test_llm_client import ENTITIES, EXPLORE, Depths, ask, key  # noqa: F401 - key is a fixture

from gym_memory.core.errors import (
    ModelError,
)
from gym_memory.llm import Request
from gym_memory.llm.client import OpenAIChat
from gym_memory.llm.model import prompt_ceiling


def _whole(content: str) -> bytes:
    return json.dumps(
        {"choices": [{"message": {"role": "assistant", "content": content}}]}
    ).encode()


_BOMB = gzip.compress(b" " * 100_000_000)
_NESTED = b'{"choices": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


_DRIPS = {
    "header": (b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a"),
    "continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "chunk": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;x=", b"a"),
    "body": (b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n", b"a"),
    "trailer": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X: a\r\n"),
}
"""What is sent at once, and then again and again, by the part of a response that never ends."""


@pytest.mark.parametrize("part", _DRIPS)
def test_one_deadline_holds_from_first_to_last_byte(part):
    first, drip = _DRIPS[part]
    listening, ended = socket.create_server(("127.0.0.1", 0)), threading.Event()

    def send() -> None:
        with listening.accept()[0] as connection, suppress(OSError):
            connection.sendall(first)
            while not ended.wait(0.05):
                connection.sendall(drip)

    threading.Thread(target=send, daemon=True).start()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    model = OpenAIChat("m", url, retries=0, timeout=0.5, max_tokens=10_000)
    try:
        with pytest.raises(ModelError) as caught:  # else it never returns
            ask(model)
    finally:
        ended.set()
        listening.close()
    assert caught.value.kind == "timeout"
    assert model.budget.spent()[0] == prompt_ceiling(EXPLORE) + 512


class _Endless(http.server.BaseHTTPRequestHandler):
    """Answers in the way that the model's name says."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.headers["Accept-Encoding"] == "identity"
        how = request["model"]
        self.send_response(400 if how.startswith("error") else 200)
        self.send_header("Content-Type", "application/json")
        if how == "bomb":
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        with suppress(OSError):
            for piece in self._pieces(how):
                self.wfile.write(piece)

    def _pieces(self, how: str) -> Iterator[bytes]:
        if how.endswith("slow"):
            for _ in range(100):
                yield b" "
                time.sleep(0.1)
        elif how == "bomb":
            yield _BOMB
        elif how.endswith("large"):
            for _ in range(1000):
                yield b" " * 1_000_000
        elif how.endswith("nested"):
            yield _NESTED
        else:
            yield _whole("[" * 100_000 + "]" * 100_000)

    def log_message(self, *args: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def endless() -> Iterator[str]:
    """Yield the address of a server of such answers."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Endless)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "kind"),
    [
        ("slow", "timeout"),
        ("error-slow", "timeout"),
        ("large", "answer"),
        ("error-large", "answer"),
        ("bomb", "answer"),
        ("nested", "answer"),
        ("error-nested", "request"),
    ],
)
def test_a_response_has_limits(endless, how, kind):
    timeout = 0.5 if kind == "timeout" else 60.0  # a busy machine is slow to send much
    model = OpenAIChat(how, endless, retries=0, timeout=timeout, max_tokens=100_000)
    tracemalloc.start()
    try:
        with pytest.raises(ModelError) as caught:
            ask(model)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert caught.value.kind == kind
    assert peak < 50_000_000
    if kind != "request":
        ceiling = prompt_ceiling(EXPLORE) + 512
        assert model.budget.spent()[0] == ceiling, "the server may bill it"


def test_nested_json_in_an_answer_is_a_bad_answer(endless):
    model = OpenAIChat("content", endless, retries=0)
    with pytest.raises(ModelError) as caught:
        model.complete(Request(ENTITIES, schema=Depths))
    assert caught.value.kind == "answer"
