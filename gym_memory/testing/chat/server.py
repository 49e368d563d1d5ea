"""Speak HTTP for the scripted chat server: wire format, streaming, faults, latency, counters."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import math
import re
import socket
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs

from gym_memory.core.errors import GymMemoryError, InvalidArgumentError
from gym_memory.core.files import parse_json
from gym_memory.core.settings import check_int, check_name
from gym_memory.memory.base import CHARS_PER_TOKEN, count_tokens
from gym_memory.testing.chat.registry import answer, prompt_of, slots_of

__all__ = ["FAULTS", "Faults", "ScriptedServer"]

MODEL = "scripted"
_LARGEST_REQUEST = 32 * 2**20
_BLOCK = 64
"""Characters of a block of the prefix cache (16 tokens, as in vLLM)."""
_MOST_BLOCKS = 1 << 16
_STREAMED = 64
"""Characters of a piece of a stream."""

FAULTS = {
    "429": "too many requests, with Retry-After",
    "quota": "429 because the money is gone: waiting does not help",
    "401": "wrong key",
    "400": "a request that the server rejects (prompt too long)",
    "500": "internal error",
    "503": "overloaded, with Retry-After",
    "timeout": "no response for an hour, or until the client leaves",
    "cut": "the connection closes in the middle of the response",
    "half_json": "the body of the response ends in the middle, its length is right",
    "no_choice": "a response without an answer",
    "refusal": "the model refuses",
    "empty": "an empty answer",
    "wrong_json": "an answer in JSON that was not requested",
    "other_action": "the answer, with an action in it that was never possible",
    "unasked_text": "an answer in prose that was not requested",
    "half_answer": "the first half of the answer, finish reason stop",
    "huge": "an answer of one megabyte",
    "slow": "one second late",
}
"""Faults and their effects."""
_STATUS_FAULTS = {
    "429": (429, "rate_limit_exceeded", "too many requests"),
    "quota": (429, "insufficient_quota", "you have used up your quota"),
    "401": (401, "invalid_api_key", "incorrect key"),
    "400": (400, "context_length_exceeded", "the prompt is too long"),
    "500": (500, "internal_error", "internal error"),
    "503": (503, "overloaded", "overloaded"),
}
_OTHER_ANSWERS = {
    "empty": "",
    "wrong_json": '{"unasked": [1, 2, 3]}',
    "unasked_text": "What a lovely day for a walk.",
    "huge": "all work and no play " * 50_000,
}


class Faults:
    """A choice of the fault of each request.

    The first requests meet the faults of ``schedule`` in order; an empty name is none. Later ones
    meet a fault with the probability in ``rates``, drawn by ``seed``.
    """

    def __init__(
        self,
        schedule: Sequence[str] = (),
        rates: Mapping[str, float] | None = None,
        seed: int = 0,
    ):
        self.schedule, self.rates, self.seed = tuple(schedule), dict(rates or {}), seed
        for name in (*self.schedule, *self.rates):
            _check_fault(name)
        if not all(rate >= 0 for rate in self.rates.values()) or sum(self.rates.values()) > 1:
            raise InvalidArgumentError(
                f"expected rates >= 0 that add up to at most 1, got {self.rates}"
            )

    def of(self, request: int) -> str:
        """Return the fault of the request of that number (from 0), empty for none."""
        if request < len(self.schedule):
            return self.schedule[request]
        draw = hashlib.sha256(f"{self.seed}/{request}".encode()).digest()
        point = int.from_bytes(draw[:8], "big") / 2**64
        for name in sorted(self.rates):
            point -= self.rates[name]
            if point < 0:
                return name
        return ""


def _check_fault(name: str) -> str:
    if name:
        check_name("fault", name, FAULTS)
    return name


class ScriptedServer:
    """A server of the chat format on localhost, in threads of this process.

    A request may name its own fault in the header ``X-Scripted-Fault`` or the query ``fault``. It
    counts ``received`` chat requests, with failed ones, ``served`` ones by name of the prompt, and
    ``most_active``, the maximum at once.

    Args:
        port: TCP port; 0 takes a free one.
        host: Address to listen on.
        latency: Seconds before every response.
        faults: Which requests meet which fault.
        retry_after: Seconds to wait, as stated by 429 and 503.
        key: Key that every request must carry; None for any or none.
        patience: Seconds that a client may take to send a request or to receive an answer.

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
        self.compresses = False
        self.faults = faults or Faults()
        self.closing = threading.Event()
        self.received = self.most_active = self._active = 0
        self.served: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._prefixes: OrderedDict[bytes, None] = OrderedDict()
        self._http = _Http((host, port), _Handler)
        self._http.scripted, self._http.handlers = self, set()
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """Return the port that the server listens on."""
        return int(self._http.server_address[1])

    @property
    def base_url(self) -> str:
        """Return the base URL for a client."""
        return f"http://{self._http.server_address[0]!s}:{self.port}/v1"

    @property
    def connections(self) -> list[socket.socket]:
        """Return the open connections of clients."""
        return [handler.connection for handler in self._http.handlers]

    def serve_forever(self) -> None:
        """Serve in this thread until it is interrupted."""
        self._http.serve_forever()

    def close(self) -> None:
        """Stop serving and free the port."""
        self.closing.set()
        if self._thread is not None:
            self._http.shutdown()
            self._thread.join()
        self._http.server_close()

    def __enter__(self) -> Self:
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # ------------------------------------------------------------ called by the handler

    @contextlib.contextmanager
    def count(self) -> Iterator[int]:
        """Count a request while it is under way; yield its number."""
        with self._lock:
            number = self.received
            self.received += 1
            self._active += 1
            self.most_active = max(self.most_active, self._active)
        try:
            yield number
        finally:
            with self._lock:
                self._active -= 1

    def refuse(self, request: dict[str, Any], number: int) -> Any:
        """Return status, body and headers of an error instead of an answer; None to answer."""
        return None

    def dress(self, completion: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
        """Return a completion in the form that is sent."""
        return completion

    def complete(self, messages: list[dict[str, Any]], max_tokens: int) -> dict[str, Any]:
        """Return a chat completion in the wire format."""
        text = answer(messages)
        room = max_tokens * CHARS_PER_TOKEN
        finish = "stop" if len(text) <= room else "length"
        text = text[:room]
        message = {"role": "assistant", "content": text, "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
        prompt = "\n".join(f"{m.get('role')}: {m.get('content')}" for m in messages)
        with self._lock:
            self.served[prompt_of(messages) or "unknown"] += 1
            cached = self._cached(prompt)
        size, answer_size = count_tokens(prompt), count_tokens(text)
        return {
            "id": "chatcmpl-scripted",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": MODEL,
            "choices": [choice],
            "usage": {
                "prompt_tokens": size,
                "prompt_tokens_details": {"cached_tokens": cached // CHARS_PER_TOKEN},
                "completion_tokens": answer_size,
                "total_tokens": size + answer_size,
            },
        }

    def _cached(self, text: str) -> int:
        """Return the length of the known prefix, in characters, and note the new one."""
        chain, known, unbroken = hashlib.blake2b(), 0, True
        for start in range(0, len(text) - _BLOCK + 1, _BLOCK):
            chain.update(text[start : start + _BLOCK].encode("utf-8", "replace"))
            digest = chain.digest()[:12]
            unbroken = unbroken and digest in self._prefixes
            known += _BLOCK * unbroken
            self._prefixes[digest] = None
            self._prefixes.move_to_end(digest)
        while len(self._prefixes) > _MOST_BLOCKS:
            self._prefixes.popitem(last=False)
        return known


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256
    scripted: ScriptedServer
    handlers: set[_Handler]

    def service_actions(self) -> None:
        """Cut off clients that are too slow; called several times a second."""
        now = time.monotonic()
        for handler in tuple(self.handlers):
            if now > handler.due:
                with contextlib.suppress(OSError):  # it has already disconnected
                    handler.connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Do nothing: a disconnected client is not an error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http
    due = math.inf
    """Time at which the server stops waiting for the client."""

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: requests contain keys."""

    def setup(self) -> None:
        super().setup()
        # Header and body go out as two writes; without this each response waits for an ACK.
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.server.handlers.add(self)

    def finish(self) -> None:
        self.server.handlers.discard(self)
        super().finish()

    def handle_one_request(self) -> None:
        self._wait_for_client()
        with contextlib.suppress(ConnectionError):
            super().handle_one_request()
            return
        self.close_connection = True

    def _wait_for_client(self) -> None:
        self.due = time.monotonic() + self.server.scripted.patience

    def do_GET(self) -> None:
        """Send the list of models, or the health status."""
        path = self.path.partition("?")[0].rstrip("/")
        if path.endswith("/models"):
            model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "gym-memory"}
            self._send(200, {"object": "list", "data": [model]})
        elif path.endswith("/health"):
            self._send(200, {"status": "ok"})
        else:
            self._error(404, "not_found", f"no such path: {path}")

    def do_POST(self) -> None:
        """Send a chat completion."""
        with self.server.scripted.count() as number:
            self._chat(self.server.scripted, number)

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
        key = self.headers.get("Authorization")
        if scripted.key is not None and key != f"Bearer {scripted.key}":
            return self._error(401, "invalid_api_key", "incorrect key")
        try:
            request = parse_json(body)
            messages = [_plain(message) for message in request["messages"]]
            limit = request.get("max_completion_tokens") or request.get("max_tokens") or 4096
            max_tokens = check_int("max_tokens", limit, 1)
            options = dict(request.get("stream_options") or {})
            named = self.headers.get("X-Scripted-Fault") or parse_qs(query).get("fault", [""])[0]
            fault = _check_fault(named) or scripted.faults.of(number)
        except (GymMemoryError, KeyError, TypeError, ValueError) as error:
            return self._error(400, "invalid_request", f"expected a chat completion: {error}")
        scripted.closing.wait(scripted.latency)
        refusal = scripted.refuse(request, number)
        if refusal is not None:
            status, body, headers = refusal
            return self._send(status, body, headers=headers)
        if fault in _STATUS_FAULTS:
            return self._error(*_STATUS_FAULTS[fault])
        if fault == "timeout":
            return self._wait_for_leave(3600.0)
        if fault == "slow":
            scripted.closing.wait(1.0)
        try:
            completion = scripted.complete(messages, max_tokens)
        except Exception as error:  # an error of ours must not look like a cut connection
            return self._error(500, "scripted_answer", f"{type(error).__name__}: {error}")
        _spoil(completion, fault, messages)
        completion = scripted.dress(completion, request)
        if request.get("stream"):
            return self._stream(completion, bool(options.get("include_usage")), fault)
        return self._send(200, completion, fault)

    def _wait_for_leave(self, seconds: float) -> None:
        """Wait until the client closes the connection, the server stops, or time is up."""
        deadline = time.monotonic() + seconds
        self.close_connection = True
        self.connection.settimeout(0.1)
        while time.monotonic() < deadline and not self.server.scripted.closing.is_set():
            with contextlib.suppress(TimeoutError):
                if not self.connection.recv(1):
                    return

    def _error(self, status: int, code: str, message: str) -> None:
        kind = "server_error" if status >= 500 else "invalid_request_error"
        error = {"message": message, "type": kind, "param": None, "code": code}
        self._send(status, {"error": error})

    def _send(
        self,
        status: int,
        value: dict[str, Any],
        fault: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._wait_for_client()
        body = json.dumps(value).encode()
        if fault == "half_json":
            body = body[: len(body) // 2]
        known = {one.value for one in HTTPStatus}
        self.send_response(status, HTTPStatus(status).phrase if status in known else "Overloaded")
        self.send_header("Content-Type", "application/json")
        if self.server.scripted.compresses:
            body = gzip.compress(body)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        if status in (429, 503) and headers is None:
            self.send_header("Retry-After", str(self.server.scripted.retry_after))
        self.end_headers()
        if fault == "cut":
            body = body[: len(body) // 2]
            self.close_connection = True
        self.wfile.write(body)

    def _stream(self, completion: dict[str, Any], with_usage: bool, fault: str) -> None:
        """Send the completion in pieces, as server-sent events."""
        self._wait_for_client()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        base = {key: completion[key] for key in ("id", "created", "model")}
        base["object"] = "chat.completion.chunk"
        events: list[dict[str, Any]] = []
        for choice in completion["choices"]:
            text = choice["message"]["content"] or ""
            deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
            starts = range(0, len(text), _STREAMED)
            deltas += [{"content": text[at : at + _STREAMED]} for at in starts]
            parts = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
            parts.append({"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]})
            events += [{**base, "choices": [part]} for part in parts]
        if with_usage and "usage" in completion:
            events.append({**base, "choices": [], "usage": completion["usage"]})
        pieces = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
        if fault in ("cut", "half_json"):
            pieces = pieces[: len(pieces) // 2]
            self.close_connection = True
        else:
            pieces += [b"data: [DONE]\n\n", b""]
        for piece in pieces:
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")


def _plain(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message whose content is one text, even if it came in parts."""
    found = dict(message)
    if isinstance(parts := found.get("content"), list):
        texts = (part.get("text") for part in parts if isinstance(part, Mapping))
        found["content"] = "".join(text for text in texts if isinstance(text, str))
    return found


def _spoil(completion: dict[str, Any], fault: str, messages: list[dict[str, Any]]) -> None:
    """Put the answer of a fault into a completion."""
    message = completion["choices"][0]["message"]
    text = message["content"]
    if fault == "no_choice":
        completion["choices"] = []
    elif fault == "refusal":
        message.update(content=None, refusal="I cannot help with that.")
    elif fault == "half_answer":
        message["content"] = text[: len(text) // 2]
    elif fault == "other_action":
        actions = slots_of(messages).get("actions", "").split("\n")
        for action in sorted(filter(None, actions), key=len, reverse=True):
            text = re.sub(rf"(?<!\w){re.escape(action)}(?!\w)", "fly to the moon", text)
        message["content"] = text
    else:
        message["content"] = _OTHER_ANSWERS.get(fault, text)
