"""The HTTP side of the scripted chat server: wire format, streaming, errors, latency, counters."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import re
import socket
import threading
import time
from collections import Counter, OrderedDict
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs

from gym_memory.core.errors import GymMemoryError
from gym_memory.core.files import parse_json
from gym_memory.core.settings import check_int
from gym_memory.core.tokens import CHARS_PER_TOKEN, count_tokens
from gym_memory.testing.chat.answers import answer, asked_slots, prompt_of
from gym_memory.testing.chat.faults import Faults, check_fault

__all__ = ["ScriptedServer"]

MODEL = "scripted"
_LARGEST_REQUEST = 32 * 2**20
_BLOCK = 64
"""Characters of a block of the prefix cache (16 tokens, as in vLLM)."""
_MOST_BLOCKS = 1 << 16
"""Blocks that the prefix cache keeps; the oldest give way."""

_IMPOSSIBLE = "fly to the moon"
_STATUS_FAULTS = {
    "429": (429, "rate_limit_exceeded", "too many requests"),
    "quota": (429, "insufficient_quota", "you have used up your quota"),
    "401": (401, "invalid_api_key", "incorrect key"),
    "400": (400, "context_length_exceeded", "the prompt is too long"),
    "500": (500, "internal_error", "internal error"),
    "503": (503, "overloaded", "overloaded"),
}


class ScriptedServer:
    """A chat server on localhost, in threads of this process.

    A request may name its own fault in the header ``X-Scripted-Fault`` or the query ``fault``.

    Args:
        port: TCP port; 0 takes a free one.
        host: Address to listen on.
        latency: Seconds before every response.
        faults: Which requests meet which fault.
        retry_after: Seconds that 429 and 503 ask to wait.
        key: Key that every request must carry; None for any or none.
        patience: Seconds that a client may take to send a request or to take in an answer; one
            that is slower is cut off, for it holds a thread.

    Example:
        >>> with ScriptedServer() as server:
        ...     server.base_url.startswith("http://127.0.0.1:")
        True
    """

    def __init__(
        self,
        port: int = 0,
        host: str = "127.0.0.1",
        *,
        latency: float = 0.0,
        faults: Faults | None = None,
        retry_after: float = 0.05,
        key: str | None = None,
        patience: float = 30.0,
    ):
        self.latency, self.retry_after, self.key = latency, retry_after, key
        self.patience = patience
        self.faults = faults or Faults()
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._prefixes: OrderedDict[bytes, None] = OrderedDict()
        self._received = self._active = 0
        self.served: Counter[str] = Counter()
        """Requests answered as they should be, by name of the prompt."""
        self.most_active = 0
        """Most requests that were under way at once."""
        self._http = _Http((host, port), _Handler)
        self._http.scripted, self._http.handlers = self, set()
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The port that the server listens on."""
        return int(self._http.server_address[1])

    @property
    def base_url(self) -> str:
        """What a client takes as its base URL."""
        return f"http://{self._http.server_address[0]!s}:{self.port}/v1"

    @property
    def received(self) -> int:
        """Chat requests received so far, those that met a fault included."""
        with self._lock:
            return self._received

    def start(self) -> ScriptedServer:
        """Serve in a thread until :meth:`close`."""
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()
        return self

    def serve_forever(self) -> None:
        """Serve in this thread until it is interrupted."""
        self._http.serve_forever()

    def close(self) -> None:
        """Stop serving and let go of the port."""
        self.closing.set()
        if self._thread is not None:
            self._http.shutdown()
            self._thread.join()
        self._http.server_close()

    def __enter__(self) -> ScriptedServer:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # ------------------------------------------------------------ called by the handler

    def enter(self) -> int:
        """Count a request in; gives its number."""
        with self._lock:
            self._received += 1
            self._active += 1
            self.most_active = max(self.most_active, self._active)
            return self._received - 1

    def leave(self) -> None:
        """Count a request out."""
        with self._lock:
            self._active -= 1

    def complete(self, messages: list[dict[str, Any]], max_tokens: int) -> dict[str, Any]:
        """A chat completion as the wire has it."""
        text = answer(messages)
        room = max_tokens * CHARS_PER_TOKEN
        finish = "stop" if len(text) <= room else "length"
        with self._lock:
            self.served[prompt_of(messages) or "unknown"] += 1
        return _completion(text[:room], finish, self._usage(messages))

    def _usage(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """Prompt tokens, and how many of them stand in a prefix that was seen before."""
        text = "\n".join(f"{m.get('role')}: {m.get('content')}" for m in messages)
        chain, known, unbroken = hashlib.blake2b(), 0, True
        with self._lock:
            for start in range(0, len(text) - _BLOCK + 1, _BLOCK):
                chain.update(text[start : start + _BLOCK].encode("utf-8", "replace"))
                digest = chain.digest()[:12]
                unbroken = unbroken and digest in self._prefixes
                known += _BLOCK * unbroken
                self._prefixes[digest] = None
                self._prefixes.move_to_end(digest)
            while len(self._prefixes) > _MOST_BLOCKS:
                self._prefixes.popitem(last=False)
        return {
            "prompt_tokens": count_tokens(text),
            "prompt_tokens_details": {"cached_tokens": known // CHARS_PER_TOKEN},
        }


def _completion(text: str, finish: str, usage: dict[str, Any]) -> dict[str, Any]:
    size = count_tokens(text)
    message = {"role": "assistant", "content": text, "refusal": None}
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {
            **usage,
            "completion_tokens": size,
            "total_tokens": usage["prompt_tokens"] + size,
        },
    }


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256
    scripted: ScriptedServer
    handlers: set[_Handler]

    def service_actions(self) -> None:
        """Cut off clients that are out of patience's reach; called several times a second."""
        now = time.monotonic()
        for handler in tuple(self.handlers):
            if now > handler.due:
                with contextlib.suppress(OSError):  # it has left by itself
                    handler.connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that left is no error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http
    due = math.inf
    """When the client must have sent or taken what it is about."""

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: requests carry keys."""

    def setup(self) -> None:
        super().setup()
        # Header and body go out as two writes; without this each response waits for an ACK.
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.server.handlers.add(self)

    def finish(self) -> None:
        self.server.handlers.discard(self)
        super().finish()

    def handle_one_request(self) -> None:
        self._hurry()
        with contextlib.suppress(ConnectionError):
            super().handle_one_request()
            return
        self.close_connection = True

    def _hurry(self) -> None:
        """From here on the client is waited for."""
        self.due = time.monotonic() + self.server.scripted.patience

    def do_GET(self) -> None:
        """The list of models, and a sign of life."""
        path = self.path.partition("?")[0].rstrip("/")
        if path.endswith("/models"):
            model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "gym-memory"}
            self._send(200, {"object": "list", "data": [model]})
        elif path.endswith("/health"):
            self._send(200, {"status": "ok"})
        else:
            self._error(404, "not_found", f"no such path: {path}")

    def do_POST(self) -> None:
        """A chat completion."""
        scripted = self.server.scripted
        number = scripted.enter()
        try:
            self._chat(scripted, number)
        finally:
            scripted.leave()

    def _chat(self, scripted: ScriptedServer, number: int) -> None:
        try:
            size = int(self.headers.get("Content-Length", ""))
        except ValueError:
            size = -1
        if not 0 <= size <= _LARGEST_REQUEST:
            self.close_connection = True
            return self._error(411, "length", "expected Content-Length up to 32 MiB")
        body = self.rfile.read(size)
        self.due = math.inf
        path, _, query = self.path.partition("?")
        if not path.rstrip("/").endswith("/chat/completions"):
            return self._error(404, "not_found", f"no such path: {path}")
        if scripted.key is not None and self.headers.get("Authorization") != (
            f"Bearer {scripted.key}"
        ):
            return self._error(401, "invalid_api_key", "incorrect key")
        try:
            request = parse_json(body)
            messages = [dict(message) for message in request["messages"]]
            limit = request.get("max_completion_tokens") or request.get("max_tokens") or 4096
            max_tokens = check_int("max_tokens", limit, 1)
            options = dict(request.get("stream_options") or {})
            asked = parse_qs(query).get("fault", [""])[0]
            asked = check_fault(self.headers.get("X-Scripted-Fault") or asked)
        except (GymMemoryError, KeyError, TypeError, ValueError) as error:
            return self._error(400, "invalid_request", f"expected a chat completion: {error}")
        fault = asked or scripted.faults.of(number)
        self._sleep(scripted.latency)
        if fault and self._fails(fault):
            return None
        try:
            completion = scripted.complete(messages, max_tokens)
        except Exception as error:  # a fault of ours must show, not look like a cut connection
            return self._error(500, "scripted_answer", f"{type(error).__name__}: {error}")
        completion = _spoilt(completion, fault, messages)
        if request.get("stream"):
            return self._stream(completion, bool(options.get("include_usage")), fault)
        return self._send(200, completion, fault)

    def _sleep(self, seconds: float) -> None:
        if seconds > 0:
            self.server.scripted.closing.wait(seconds)

    def _fails(self, fault: str) -> bool:
        """Play a fault that leaves no answer; False for any other."""
        if fault in _STATUS_FAULTS:
            self._error(*_STATUS_FAULTS[fault])
        elif fault == "timeout":
            self._wait_for_leave(3600.0)
            self.close_connection = True
        else:
            self._sleep(1.0 if fault == "slow" else 0.0)
            return False
        return True

    def _wait_for_leave(self, seconds: float) -> None:
        """Wait until the client closes the connection, the server stops, or time is up."""
        deadline = time.monotonic() + seconds
        self.connection.settimeout(0.1)
        while time.monotonic() < deadline and not self.server.scripted.closing.is_set():
            with contextlib.suppress(TimeoutError):
                if not self.connection.recv(1):
                    return

    def _error(self, status: int, code: str, message: str) -> None:
        kind = "server_error" if status >= 500 else "invalid_request_error"
        error = {"message": message, "type": kind, "param": None, "code": code}
        self._send(status, {"error": error})

    def _send(self, status: int, value: dict[str, Any], fault: str = "") -> None:
        self._hurry()
        body = json.dumps(value).encode()
        if fault == "half_json":
            body = body[: len(body) // 2]
        self.send_response(status, HTTPStatus(status).phrase)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status in (429, 503):
            self.send_header("Retry-After", str(self.server.scripted.retry_after))
        self.end_headers()
        if fault == "cut":
            self.wfile.write(body[: len(body) // 2])
            self.close_connection = True
        else:
            self.wfile.write(body)

    def _stream(self, completion: dict[str, Any], with_usage: bool, fault: str) -> None:
        """The completion in pieces, as server-sent events."""
        self._hurry()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        choice = completion["choices"][0] if completion["choices"] else None
        base = {key: completion[key] for key in ("id", "created", "model")}
        base["object"] = "chat.completion.chunk"
        events: list[dict[str, Any]] = []
        if choice is not None:
            text = choice["message"]["content"] or ""
            deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
            deltas += [{"content": text[at : at + 64]} for at in range(0, len(text), 64)]
            events += [
                {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
                for delta in deltas
            ]
            end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
            events.append({**base, "choices": [end]})
        if with_usage:
            events.append({**base, "choices": [], "usage": completion["usage"]})
        pieces = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
        if fault in ("cut", "half_json"):
            for piece in pieces[: len(pieces) // 2]:
                self._chunk(piece)
            self.close_connection = True
            return
        for piece in (*pieces, b"data: [DONE]\n\n", b""):
            self._chunk(piece)

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


def _spoilt(
    completion: dict[str, Any], fault: str, messages: list[dict[str, Any]]
) -> dict[str, Any]:
    """A completion with the answer that a fault puts in its place."""
    message = completion["choices"][0]["message"]
    if fault == "no_choice":
        return {**completion, "choices": []}
    if fault == "refusal":
        message.update(content=None, refusal="I cannot help with that.")
    elif fault == "empty":
        message["content"] = ""
    elif fault == "wrong_json":
        message["content"] = '{"unasked": [1, 2, 3]}'
    elif fault == "other_action":
        message["content"] = _with_other_action(message["content"], messages)
    elif fault == "unasked_text":
        message["content"] = "What a lovely day for a walk."
    elif fault == "half_answer":
        message["content"] = message["content"][: len(message["content"]) // 2]
    elif fault == "huge":
        message["content"] = "all work and no play " * 50_000
    return completion


def _with_other_action(text: str, messages: list[dict[str, Any]]) -> str:
    """An answer with an impossible action wherever it names a possible one."""
    actions = asked_slots(messages).get("actions", "").split("\n")
    for action in sorted(filter(None, actions), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(action)}(?!\w)", _IMPOSSIBLE, text)
    return text
