"""A memory written in any language and served over HTTP or MCP (docs/remote-memory.md)."""

from __future__ import annotations

import contextlib
import json
import os
import uuid
import weakref
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

from gym_memory.core.errors import InvalidArgumentError, StoreError
from gym_memory.core.files import parse_json
from gym_memory.core.records import Cue, Outcome, Recall, Step, Task, Triple
from gym_memory.core.settings import Help, checked
from gym_memory.core.version import __version__
from gym_memory.llm.client import endpoint
from gym_memory.llm.model import Failure
from gym_memory.memory.base import check_budget, count_tokens
from gym_memory.memory.external import External

__all__ = ["TOKEN", "Remote"]

TOKEN = "GYM_MEMORY_REMOTE_TOKEN"
"""Environment variable whose value is sent to the service as a bearer token."""

_LISTS = ("episodes", "lessons")
_SHOWN_CHARS = 120
_CLOSE_SECONDS = 1.0
_VERSION = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "gym-memory", "version": __version__},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_MCP_HEADERS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": _VERSION,
    "Mcp-Method": "tools/call",
}


class Remote(External):
    """A memory that a service keeps, called over HTTP or MCP.

    Each session of the service is one copy of the memory. This side keeps only the list of calls
    and repeats them in a new session to restore a snapshot, so the service must be deterministic.
    """

    name: ClassVar[str] = "remote"

    @checked
    def __init__(
        self,
        url: Annotated[str, Help("Address of the service, such as http://127.0.0.1:8700.")],
        *,
        lifetime: Annotated[
            Literal["episode", "forever"], Help("Lifetime of what the service learns.")
        ] = "episode",
        protocol: Annotated[
            Literal["http", "mcp"], Help("Interface of the service: HTTP paths or MCP tools.")
        ] = "http",
        timeout: Annotated[float, Help("Seconds to wait for an answer.", above=0)] = 30.0,
    ):
        super().__init__(lifetime)
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise InvalidArgumentError(
                f"expected url as http://HOST:PORT or https://HOST, got {url!r}"
            )
        kind = _ToolService if protocol == "mcp" else _Service
        self._service = kind(url.rstrip("/"), timeout)

    def begin(self, task: Task, seed: int | None) -> None:
        """Start an episode, in a new session if the last one is forgotten."""
        super().begin(task, seed)
        self._learn(["begin", {"task": task._asdict(), "seed": seed}])

    def observe(self, step: Step) -> None:
        """Send a step."""
        self._learn(
            ["observe", {"step": {**step._asdict(), "valid_actions": [*step.valid_actions]}}]
        )

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Return the recall of the service; a malformed answer is a StoreError."""
        given = {**cue._asdict(), "valid_actions": [*cue.valid_actions]}
        found = self.client("recall", {"cue": given, "budget": check_budget(budget)})
        return _recall(found, budget, self._service.url)

    def end(self, outcome: Outcome) -> None:
        """Send the outcome of the episode."""
        self._learn(["end", {"outcome": outcome._asdict()}])

    def _open(self) -> _RemoteSession:
        return _RemoteSession(self._service)

    def _take(self, client: _RemoteSession, entry: Any) -> None:
        name, body = entry
        client(name, body)


class _Service:
    """Calls of one service."""

    def __init__(self, url: str, timeout: float):
        self.url, self._timeout = url, timeout
        self._endpoint: Any = None

    def post(self, name: str, body: dict[str, Any], timeout: float | None = None) -> dict[str, Any]:
        """Return the JSON object of the answer; raise StoreError if there is none."""
        return self._ask(name, f"/{name}", body, {}, timeout)

    def _ask(
        self, name: str, path: str, body: Any, more: dict[str, str], timeout: float | None
    ) -> dict[str, Any]:
        if self._endpoint is None:
            self._endpoint = endpoint(self.url, f"the memory service {self.url}")
        headers = {"Content-Type": "application/json", **more}
        if token := os.environ.get(TOKEN):
            headers["Authorization"] = f"Bearer {token}"
        try:
            sent = json.dumps(body).encode()
            answer = self._endpoint.post(path, sent, headers, timeout or self._timeout)
        except Failure as failure:
            raise StoreError(f"{failure} (call {name!r}): start it, or correct the url") from None
        if answer.status != 200:
            raise self._refused(name, f"with status {answer.status}", answer.body)
        data = answer.body
        if data.startswith((b"event:", b"data:", b":")):  # an event stream ends with the answer
            data = data.rpartition(b"data:")[2]
        try:
            found = parse_json(data)
        except ValueError:
            found = data[:_SHOWN_CHARS]
        if not isinstance(found, dict):
            raise _unexpected(self.url, f"a JSON object from {name!r}", found)
        return found

    def _refused(self, name: str, how: str, reason: bytes) -> StoreError:
        line = " ".join(reason[:_SHOWN_CHARS].decode("utf-8", "replace").split())
        return StoreError(f"the memory service {self.url} refused {name!r} {how}: {line}")


class _ToolService(_Service):
    """Calls of a service that offers them as tools of MCP 2026-07-28."""

    def post(self, name: str, body: dict[str, Any], timeout: float | None = None) -> dict[str, Any]:
        """Return the structured content of a tool's answer; StoreError without one."""
        params = {"name": name, "arguments": body, "_meta": _META}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = self._ask(name, "", request, {**_MCP_HEADERS, "Mcp-Name": name}, timeout)
        result = answer.get("result")
        if not isinstance(result, dict):
            result = {"isError": True, "content": answer.get("error", result)}
        if result.get("isError"):
            said = result.get("content")
            first = said[0] if isinstance(said, list) and said else said
            reason = first.get("text", first.get("message")) if isinstance(first, dict) else first
            raise self._refused(name, "by MCP", str(reason).encode())
        found = result.get("structuredContent")
        if not isinstance(found, dict):
            raise _unexpected(self.url, f"structured content from {name!r}", found)
        return found


class _RemoteSession:
    """A copy of the memory at a service, which may forget it when this object is collected."""

    def __init__(self, service: _Service):
        self._service, self._id = service, uuid.uuid4().hex
        weakref.finalize(self, _close, service, self._id)

    def __call__(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        return self._service.post(name, {"session": self._id, **body})


def _close(service: _Service, session: str) -> None:
    with contextlib.suppress(StoreError):  # it was never opened, or the service is down
        service.post("close", {"session": session}, timeout=_CLOSE_SECONDS)


def _recall(found: dict[str, Any], budget: int, url: str) -> Recall:
    """Return the recall of an answer, checked part by part."""
    text = found.get("text")
    if not isinstance(text, str):
        raise _unexpected(url, "'text' as a text", text)
    if count_tokens(text) > budget:
        raise _unexpected(url, f"at most {budget} tokens", f"{count_tokens(text)}")
    for name in _LISTS:
        if not _is_texts(found.get(name, [])):
            raise _unexpected(url, f"{name!r} as a list of texts", found[name])
    triples = found.get("triples", [])
    if not isinstance(triples, list) or not all(_is_texts(t) and len(t) == 3 for t in triples):
        raise _unexpected(url, "'triples' as a list of three texts each", triples)
    facts = tuple(Triple(*triple) for triple in triples)
    return Recall(text, facts, *(tuple(found.get(name, ())) for name in _LISTS))


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _unexpected(url: str, wanted: str, found: Any) -> StoreError:
    shown = found if isinstance(found, str) else repr(found)
    return StoreError(
        f"expected {wanted} from the memory service {url}, got {shown[:_SHOWN_CHARS]}"
    )
