"""POST JSON to an endpoint over kept connections, which all threads of this process share.

The package openai takes five times the processor time a call, under the interpreter's lock.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from gym_memory.core.errors import ModelSetupError
from gym_memory.core.optional import require

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse, HTTPHeaderDict, PoolManager

__all__ = ["CutError", "Endpoint", "LateError", "Response", "UnreachableError", "endpoint"]

_CONNECT_SECONDS = 5.0
_MOST_CONNECTIONS = 64
"""Idle connections that are kept; more calls at once open others."""
_MAX_BYTES = 1 << 23
"""Bytes of a response; a whole answer in escapes, and as much reasoning, fit into it."""
_PIECE = 1 << 16


class UnreachableError(Exception):
    """No connection: the server did not get the request."""


class CutError(Exception):
    """Signal that the connection ended before the response was whole."""


class LateError(Exception):
    """Signal that the response was not whole in time."""


class Response(NamedTuple):
    """A response; ``body`` is None if it is compressed or too long, and ``reason`` says which."""

    status: int
    headers: HTTPHeaderDict
    body: bytes | None
    reason: str = ""


class Endpoint:
    """Reach the server of a URL, directly or behind the proxy that the environment names."""

    def __init__(self, url: str):
        self._library = require("urllib3", "llm", "calling a model")
        self._url, self._pool = url, _pool(self._library, url)

    def post(self, path: str, body: bytes, headers: Mapping[str, str], seconds: float) -> Response:
        """Send ``body``; raise UnreachableError, CutError or LateError without a response."""
        exceptions = self._library.exceptions
        deadline = time.monotonic() + seconds
        try:
            response = self._pool.request(
                "POST",
                self._url + path,
                body=body,
                headers=headers,
                timeout=self._library.Timeout(connect=min(seconds, _CONNECT_SECONDS), read=seconds),
                retries=False,
                redirect=False,
                preload_content=False,
                decode_content=False,
            )
            try:
                return _read(response, deadline)
            finally:
                response.release_conn()
        except (exceptions.NewConnectionError, exceptions.ConnectTimeoutError) as error:
            raise UnreachableError from error
        except (exceptions.ProxyError, exceptions.SSLError) as error:
            raise UnreachableError from error
        except (exceptions.ReadTimeoutError, TimeoutError) as error:
            raise LateError(f"within {seconds:.3g} s") from error
        except (exceptions.HTTPError, OSError) as error:
            raise CutError from error


@functools.cache
def endpoint(url: str) -> Endpoint:
    """Return what all models of this process share for a URL; each episode has its own model."""
    return Endpoint(url)


def _pool(urllib3: ModuleType, url: str) -> PoolManager:
    parts, proxies = urlsplit(url), getproxies()
    settings = {"maxsize": _MOST_CONNECTIONS}
    if parts.scheme == "https":
        settings["ca_certs"] = require("certifi", "llm", "an endpoint with https").where()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(parts.hostname or ""):
        pool: PoolManager = urllib3.PoolManager(**settings)
        return pool
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if urlsplit(proxy).scheme not in ("http", "https"):
        raise ModelSetupError("expected a proxy of http:// or https:// in the environment")
    user = urllib3.util.parse_url(proxy).auth
    headers = urllib3.make_headers(proxy_basic_auth=user) if user else None
    behind: PoolManager = urllib3.ProxyManager(proxy, proxy_headers=headers, **settings)
    return behind


def _read(response: BaseHTTPResponse, deadline: float) -> Response:
    found = Response(response.status, response.headers, None)
    # Compressed, a few bytes could become gigabytes.
    if response.headers.get("Content-Encoding", "identity") != "identity":
        response.close()
        return found._replace(reason="a response without compression")
    pieces, size = [], 0
    while piece := response.read1(_PIECE):
        pieces.append(piece)
        size += len(piece)
        left = deadline - time.monotonic()
        if left <= 0:
            response.close()
            raise TimeoutError
        if size > _MAX_BYTES:
            response.close()
            return found._replace(reason=f"a response of at most {_MAX_BYTES} bytes")
        sock = getattr(response.connection, "sock", None)
        if sock is not None:
            sock.settimeout(left)
    return found._replace(body=b"".join(pieces))
