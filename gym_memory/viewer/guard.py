"""Refuse requests to a local server, except from its own pages and from programs with its token.

A page of a foreign site can make a browser send requests here: its ``Origin`` shows it, and the
``Host`` if its own name points here (DNS rebinding). An address that others can reach, or that
starts games, needs the token too.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

__all__ = ["LOOPBACK", "POLICY", "Guard"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""The pages' Content-Security-Policy: scripts, styles and data of this server alone."""
_HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)

_MOST_BODY = 1 << 20
"""Bytes of a request's body, at most."""
_BODY_SECONDS = 20.0
"""Seconds to wait for the next part of a body."""

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Guard:
    """Guard an ASGI application that listens on ``host`` and ``port``.

    A request needs the token; with an empty one every page of this machine may ask. ``programs``
    takes sockets without an ``Origin``, which no browser opens.
    """

    def __init__(self, app: App, host: str, port: int, token: str = "", *, programs: bool = False):
        self._app, self._token, self._programs = app, token, programs
        self._cookie = f"gym_memory_token_{port}"  # browsers share cookies over all ports
        names = LOOPBACK if host in LOOPBACK else ()
        self._hosts = {f"[{name}]:{port}" if ":" in name else f"{name}:{port}" for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        reason = self._refusal(scope, headers)
        if reason:
            await _refuse(scope, receive, send, 403, reason)
            return
        if scope["type"] == "http":
            try:
                body = await _body(receive)
            except TimeoutError:
                reason = f"expected the next part of a body within {_BODY_SECONDS:g} s"
                await _refuse(scope, receive, send, 408, reason)
                return
            if body is None:
                reason = f"expected a body of at most {_MOST_BODY} bytes"
                await _refuse(scope, receive, send, 413, reason)
                return
            receive = _again(body, receive)
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
                if self._token and given:
                    cookie = f"{self._cookie}={self._token}; HttpOnly; SameSite=Strict; Path=/"
                    message["headers"].append((b"set-cookie", cookie.encode()))
            await send(message)

        await self._app(scope, receive, answer)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> str:
        """Return why a request is refused; empty if it is not."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if self._hosts and host not in self._hosts:
            return f"expected one of {', '.join(sorted(self._hosts))} as Host"
        if origin is not None and origin != f"http://{host}":
            return "expected a request of a page of this server, got a foreign Origin"
        if scope["type"] == "websocket" and origin is None and not self._programs:
            return "expected a request of a page of this server, got no Origin"
        if self._token and not self._knows(scope, headers):
            return "expected the token that gym-memory printed"
        return ""

    def _knows(self, scope: Scope, headers: dict[str, str]) -> bool:
        cookies: SimpleCookie = SimpleCookie()
        try:
            cookies.load(headers.get("cookie", ""))
        except CookieError:
            cookies.clear()
        given = [*parse_qs(scope["query_string"].decode("latin-1")).get("token", ())]
        if self._cookie in cookies:
            given.append(cookies[self._cookie].value)
        given.append(headers.get("authorization", "").removeprefix("Bearer "))
        # As bytes: others than ASCII characters are no reason to fail.
        return any(secrets.compare_digest(t.encode(), self._token.encode()) for t in given)


async def _body(receive: Receive) -> bytes | None:
    """Return the body of a request, None where it is too long."""
    body, more = b"", True
    while more:
        message = await asyncio.wait_for(receive(), _BODY_SECONDS)
        body += message.get("body", b"")
        if len(body) > _MOST_BODY:
            return None
        more = message.get("more_body", False)
    return body


def _again(body: bytes, receive: Receive) -> Receive:
    """Give a body that was read, then what comes after it."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def give() -> Message:
        return waiting.pop() if waiting else await receive()

    return give


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, reason: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": reason[:120]})
        return
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *_HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"Refused: {reason}.\n".encode()})
