"""POST JSON to an endpoint over kept connections, which all threads of this process share.

The package openai takes five times the processor time a call, under the interpreter's lock.
"""

from __future__ import annotations

import base64
import functools
import http.client
import socket
import ssl
import time
from collections import deque
from collections.abc import Mapping
from email.message import Message
from multiprocessing.connection import wait
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from gym_memory.core.optional import require

__all__ = ["CutError", "Endpoint", "LateError", "Response", "UnreachableError", "endpoint"]

_CONNECT_SECONDS = 5.0
_MAX_BYTES = 1 << 23
"""Bytes of a response; a whole answer in escapes, and as much reasoning, fit into it."""
_PIECE = 1 << 16


class UnreachableError(Exception):
    """No connection: the server did not get the request."""


class CutError(Exception):
    """The connection ended before the response was whole."""


class LateError(Exception):
    """The response was not whole in time."""


class Response(NamedTuple):
    """A response; ``body`` is None if it is compressed or too long, and ``reason`` says which."""

    status: int
    headers: Message
    body: bytes | None
    reason: str = ""


class Endpoint:
    """The server of a URL, directly or behind the proxy that the environment names."""

    def __init__(self, url: str):
        parts = urlsplit(url)
        self._secure, self._path = parts.scheme == "https", parts.path
        self._host, self._port = parts.hostname or "", parts.port
        self._proxy = _proxy(parts)
        if self._proxy is not None and not self._secure:
            self._path = url
        self._idle: deque[http.client.HTTPConnection] = deque()

    def post(self, path: str, body: bytes, headers: Mapping[str, str], seconds: float) -> Response:
        """Send ``body``; raise UnreachableError, CutError or LateError without a response."""
        deadline = time.monotonic() + seconds
        connection = self._kept() or self._connect(min(seconds, _CONNECT_SECONDS))
        sock = connection.sock
        try:
            sock.settimeout(seconds)
            extra = {} if self._secure or self._proxy is None else _authorization(self._proxy)
            connection.request("POST", self._path + path, body, {**headers, **extra})
            found = connection.getresponse()
            response = Response(found.status, found.headers, None, "a response without compression")
            # Compressed, a few bytes could become gigabytes.
            if found.headers.get("Content-Encoding", "identity") == "identity":
                response = _read(found, sock, deadline, response)
        except TimeoutError as error:
            connection.close()
            raise LateError(f"within {seconds:.3g} s") from error
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise CutError from error
        except BaseException:
            connection.close()
            raise
        if response.body is None or found.will_close:
            connection.close()
        else:
            self._idle.append(connection)
        return response

    def _kept(self) -> http.client.HTTPConnection | None:
        """Return an idle connection that the server has not closed."""
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # another thread took the last one
                return None
            if not wait([connection.sock], 0):  # readable: it was closed
                return connection
            connection.close()
        return None

    def _connect(self, seconds: float) -> http.client.HTTPConnection:
        host, port = self._host, self._port
        proxy = self._proxy
        if proxy is not None:
            host, port = proxy.hostname or "", proxy.port
        connection = (
            http.client.HTTPSConnection(host, port, timeout=seconds, context=_context())
            if self._secure
            else http.client.HTTPConnection(host, port, timeout=seconds)
        )
        if proxy is not None and self._secure:
            connection.set_tunnel(self._host, self._port, _authorization(proxy))
        try:
            connection.connect()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise UnreachableError from error
        return connection


@functools.cache
def endpoint(url: str) -> Endpoint:
    """Return what all models of this process share for a URL; each episode has its own model."""
    return Endpoint(url)


def _read(
    found: http.client.HTTPResponse, sock: socket.socket, deadline: float, response: Response
) -> Response:
    pieces, size = [], 0
    while piece := found.read1(_PIECE):
        pieces.append(piece)
        size += len(piece)
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if size > _MAX_BYTES:
            return response._replace(reason=f"a response of at most {_MAX_BYTES} bytes")
        if not found.will_close:  # else http.client has closed its side of the socket
            sock.settimeout(left)
    if found.length:
        raise http.client.IncompleteRead(b"", found.length)
    found.close()  # the connection takes the next request
    return response._replace(body=b"".join(pieces))


def _proxy(parts: SplitResult) -> SplitResult | None:
    proxies = getproxies()
    url = proxies.get(parts.scheme) or proxies.get("all")
    if not url or proxy_bypass(parts.hostname or ""):
        return None
    return urlsplit(url if "://" in url else f"http://{url}")


def _authorization(proxy: SplitResult) -> dict[str, str]:
    if not proxy.username:
        return {}
    user = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(user.encode()).decode()}"}


@functools.cache  # reading certificates is slow
def _context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.load_verify_locations(require("certifi", "llm", "an endpoint with https").where())
    return context
