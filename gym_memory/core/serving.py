"""Server of an ASGI application with bounded connections, deadlines, and a line per exception."""

from __future__ import annotations

import logging
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from gym_memory.core.errors import GymMemoryError, InvalidArgumentError
from gym_memory.core.optional import require
from gym_memory.core.secrets import scrubbed

__all__ = ["HEADER_SECONDS", "App", "Message", "Receive", "Scope", "Send", "answer_faults"]
__all__ += ["listen", "run_server"]

HEADER_SECONDS = 10.0
"""Seconds in which the headers of a request must arrive after the connection or last answer."""
_MOST_CONNECTIONS = 256
_MOST_FRAME = 1 << 20
_LOG = logging.getLogger("gym_memory")

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


async def answer_faults(app: App, scope: Scope, receive: Receive, send: Send) -> None:
    """Call an application; turn any exception into a status and one line, or close the socket."""
    begun = False

    async def note(message: Message) -> None:
        nonlocal begun
        begun = True
        await send(message)

    try:
        await app(scope, receive, note)
    except Exception as error:
        line = " ".join(scrubbed(error).split())[:500] or type(error).__name__
        status = 422 if isinstance(error, GymMemoryError) else 500
        _LOG.warning("%s %s: %s: %s", scope["type"], scope["path"], type(error).__name__, line)
        if scope["type"] == "websocket":
            reason = line.encode()[:120].decode(errors="ignore")
            await _quietly(send, {"type": "websocket.close", "code": 1011, "reason": reason})
        elif not begun:
            headers = [(b"content-type", b"text/plain; charset=utf-8")]
            start = {"type": "http.response.start", "status": status, "headers": headers}
            await _quietly(send, start)
            body = f"{line}\n" if status == 422 else f"{type(error).__name__}: {line}\n"
            await _quietly(send, {"type": "http.response.body", "body": body.encode()})


async def _quietly(send: Send, message: Message) -> None:
    try:
        await send(message)
    except Exception:
        _LOG.debug("the client has left", exc_info=True)


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; a ``port`` of 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Name the protocol: otherwise asyncio delays an answer by some 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()  # a browser now gets an answer
    except OSError as error:
        listener.close()
        raise InvalidArgumentError(f"cannot listen on {host}:{port}: {error}") from error
    return listener


def run_server(
    app: App, listener: socket.socket, extra: str, *, most_frame: int = _MOST_FRAME
) -> None:
    """Serve an application until it is interrupted.

    Args:
        app: The application.
        listener: Socket of :func:`listen`.
        extra: Extra of this package that installs uvicorn.
        most_frame: Most bytes of a WebSocket message.
    """
    uvicorn = require("uvicorn", extra, "a server")
    config = uvicorn.Config(app, http=_protocol(extra), log_level="warning", ws_max_size=most_frame)
    uvicorn.Server(config).run(sockets=[listener])


def _most_connections() -> int:
    """Return the number of connections that use half of the files that this process may open."""
    try:
        import resource
    except ImportError:  # no such limits on this platform
        return _MOST_CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return min(_MOST_CONNECTIONS, files // 2) if files > 0 else _MOST_CONNECTIONS


def _protocol(extra: str) -> Any:
    """Return uvicorn's protocol with a deadline for headers and a limit on connections."""
    base: Any = require("uvicorn.protocols.http.h11_impl", extra, "a server").H11Protocol
    most = _most_connections()

    class BoundedProtocol(base):
        """A connection with a deadline for its request."""

        _late: Any = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(self.connections) > most:
                transport.abort()
            else:
                self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self._late.cancel() if self._late else None
            super().connection_lost(exc)

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._wait()

        def _wait(self) -> None:
            if self._late:
                self._late.cancel()
            self._late = self.loop.call_later(HEADER_SECONDS, self._leave)

        def _leave(self) -> None:
            idle = self.cycle is None or self.cycle.response_complete
            if idle and self.transport.get_protocol() is self:
                self.transport.abort()

    return BoundedProtocol
