"""Connections to a server: one deadline per call, bounded responses, and no secret in errors."""

from __future__ import annotations

import functools
import io
import time
import zlib
from contextvars import ContextVar
from http.client import HTTPResponse
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from gym_memory.core.errors import GymMemoryError, ModelSetupError
from gym_memory.core.optional import require
from gym_memory.llm.model import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from urllib3 import BaseHTTPResponse, HTTPHeaderDict, PoolManager

__all__ = ["Endpoint", "Response", "endpoint"]

_CONNECT_SECONDS = 5.0
_MOST_CONNECTIONS = 64
"""Most idle connections in the pool; more calls at once open others."""
_MAX_BYTES = 1 << 23
"""Most bytes of a response: enough for an answer in escapes and as much reasoning."""
_PIECE = 1 << 16


class Response(NamedTuple):
    """A whole response."""

    status: int
    headers: HTTPHeaderDict
    body: bytes


class Endpoint:
    """A server of a URL, reached directly or through the environment's proxy.

    ``place`` names it in messages.
    """

    def __init__(self, url: str, place: str):
        self._library = require("urllib3", "llm", "calling a model")
        self._url, self._place, self._pool = url, place, _pool(self._library, url)

    def get(self, path: str, headers: Mapping[str, str], seconds: float) -> Response:
        """Request a page; raises :class:`.Failure` as :meth:`post` does."""
        return self._call("GET", path, b"", headers, seconds)

    def post(self, path: str, body: bytes, headers: Mapping[str, str], seconds: float) -> Response:
        """Send ``body``; raise :class:`.Failure` without a whole response within ``seconds``."""
        return self._call("POST", path, body, headers, seconds)

    def _call(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str], seconds: float
    ) -> Response:
        """Send a request and read the response.

        Errors of libraries may quote headers, so none is passed on or chained.
        """
        errors = self._library.exceptions
        deadline = time.monotonic() + seconds
        token = _deadline.set(deadline)
        try:
            return self._send(method, path, body, headers, seconds, deadline)
        except GymMemoryError:
            raise
        except Failure as failure:
            found = failure
        except (errors.ReadTimeoutError, TimeoutError):
            late = f"no whole response from {self._place} within {seconds:.3g} s"
            found = Failure("timeout", late, tokens=None)
        except (errors.ConnectTimeoutError, errors.NewConnectionError):
            found = Failure("connection", f"cannot reach {self._place}")
        except (errors.ProxyError, errors.SSLError):
            found = Failure("connection", f"cannot reach {self._place}")
        except (errors.HTTPError, OSError):
            found = Failure("connection", f"connection cut by {self._place}", tokens=None)
        except Exception as error:
            what = f"cannot call {self._place}: {type(error).__name__}"
            found = Failure("connection", what, tokens=None)
        finally:
            _deadline.reset(token)
        raise found from None

    def _send(
        self,
        method: str,
        path: str,
        body: bytes,
        headers: Mapping[str, str],
        seconds: float,
        deadline: float,
    ) -> Response:
        connect = min(seconds, _CONNECT_SECONDS)
        response = self._pool.request(
            method,
            self._url + path,
            body=body or None,
            headers=headers,
            timeout=self._library.Timeout(connect=connect, read=seconds),
            retries=False,
            redirect=False,
            preload_content=False,
            decode_content=False,
        )
        try:
            return _read(response, deadline)
        except BaseException:
            response.close()
            raise
        finally:
            response.release_conn()


@functools.cache
def endpoint(url: str, place: str) -> Endpoint:
    """Return the endpoint that all models of a URL share in this process."""
    return Endpoint(url, place)


_deadline: ContextVar[float] = ContextVar("gym_memory_llm_deadline")


class _TimedReader(io.RawIOBase):
    """A reader of a connection with a deadline.

    The timeout of a socket would start again with every byte.
    """

    def __init__(self, raw: io.RawIOBase, sock: Any, deadline: float):
        self._raw, self._sock, self._until = raw, sock, deadline

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._raw.fileno()

    def readinto(self, buffer: Any) -> int | None:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._sock.settimeout(left)
        count: int | None = self._raw.readinto(buffer)
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


class _TimedResponse(HTTPResponse):
    """A response whose status, headers, chunks and trailers must arrive before the deadline."""

    def __init__(self, sock: Any, *args: Any, **kwargs: Any):
        super().__init__(sock, *args, **kwargs)
        self.fp.close()
        raw = sock.makefile("rb", buffering=0)
        self.fp = io.BufferedReader(_TimedReader(raw, sock, _deadline.get()))


def _timed(connection: type[Any]) -> type[Any]:
    """Return a class of connections with a deadline."""

    class TimedConnection(connection):
        response_class = _TimedResponse

        def connect(self) -> None:
            left = _deadline.get() - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self.timeout = min(left, _CONNECT_SECONDS)
            super().connect()

    return TimedConnection


def _read(response: BaseHTTPResponse, deadline: float) -> Response:
    pieces, size, unpack = [], 0, _unpacking(response.headers.get("Content-Encoding", ""))
    while piece := response.read1(_PIECE):
        plain = unpack(piece, _MAX_BYTES + 1)
        pieces.append(plain)
        size += len(plain)
        if time.monotonic() > deadline:
            raise TimeoutError
        if size > _MAX_BYTES:
            most = f"expected a response of at most {_MAX_BYTES} bytes"
            raise Failure("answer", most, tokens=None)
    return Response(response.status, response.headers, b"".join(pieces))


def _unpacking(encoding: str) -> Callable[[bytes, int], bytes]:
    """Return a function that decompresses a piece of a response, up to a number of bytes.

    No compression is requested, but some gateways always compress.
    """
    if encoding in ("", "identity"):
        return lambda piece, most: piece
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise Failure("answer", f"expected a response without compression, got {encoding!r:.20}")
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 32).decompress

    def plain(piece: bytes, most: int) -> bytes:
        try:
            return unpack(piece, most)
        except zlib.error as error:
            raise Failure("server", f"a compressed response is damaged: {error}") from None

    return plain


def _pool(urllib3: ModuleType, url: str) -> PoolManager:
    parts, proxies = urlsplit(url), getproxies()
    settings = {"maxsize": _MOST_CONNECTIONS}
    if parts.scheme == "https":
        settings["ca_certs"] = require("certifi", "llm", "an endpoint with https").where()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.hostname or ""):
        pool: PoolManager = urllib3.PoolManager(**settings)
    else:
        proxy = proxy if "://" in proxy else f"http://{proxy}"
        if urlsplit(proxy).scheme not in ("http", "https"):
            raise ModelSetupError("expected a proxy of http:// or https:// in the environment")
        user = urllib3.util.parse_url(proxy).auth
        headers = urllib3.make_headers(proxy_basic_auth=user) if user else None
        pool = urllib3.ProxyManager(proxy, proxy_headers=headers, **settings)
    kinds: dict[str, Any] = dict(pool.pool_classes_by_scheme)
    pool.pool_classes_by_scheme = {
        scheme: type(kind.__name__, (kind,), {"ConnectionCls": _timed(kind.ConnectionCls)})
        for scheme, kind in kinds.items()
    }
    return pool
