"""Serve pages on this machine: browse, replay and compare runs, play a game."""

from __future__ import annotations

import asyncio
import base64
import functools
import os
import secrets
import time
import webbrowser
from collections.abc import Callable, Sequence
from http.cookies import CookieError, SimpleCookie
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from gym_memory.core.errors import GymMemoryError, InvalidArgumentError
from gym_memory.core.optional import require
from gym_memory.core.serving import (
    App,
    Message,
    Receive,
    Scope,
    Send,
    answer_faults,
    listen,
    run_server,
)
from gym_memory.draw.comparison import COMPARISON, TitledTable, wide_table
from gym_memory.draw.escape import cut, text
from gym_memory.draw.figures import colours
from gym_memory.draw.page import Assets, frame, linked_page, packed
from gym_memory.draw.svg import short_spec
from gym_memory.run.results.folder import iter_folders
from gym_memory.run.results.learning import TrainingRun, is_training, learning_page, read_training
from gym_memory.run.results.losses import losses
from gym_memory.run.results.pages import comparison
from gym_memory.run.results.report import read_source
from gym_memory.run.results.score import Unit, differences, units
from gym_memory.viewer.play import PlayDefaults, play_body, play_socket
from gym_memory.viewer.recordings import (
    PANE,
    REPLAY,
    Recording,
    compared_at,
    find,
    load,
    lost,
    replay_body,
)
from gym_memory.viewer.story import Story

__all__ = ["BODY_SECONDS", "LOOPBACK", "POLICY", "RUNS", "Guard", "RecordingShelf", "Site"]
__all__ += ["make_app", "run_rows", "runs_body", "serve", "serve_programs"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""Content-Security-Policy of the pages: scripts, styles and data of this server alone."""
_HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)

_MOST_BODY = 1 << 20
"""Most bytes of a request's body."""
BODY_SECONDS = 20.0
"""Seconds within which the whole body must arrive."""


class Guard:
    """A guard of an ASGI application that listens on ``host`` and ``port``.

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
                body = await asyncio.wait_for(_body(receive), BODY_SECONDS)
            except TimeoutError:
                reason = f"expected the body within {BODY_SECONDS:g} s"
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

        await answer_faults(self._app, scope, receive, answer)

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
        kind, _, credentials = headers.get("authorization", "").partition(" ")
        if kind.lower() == "basic":  # a program whose address is http://:TOKEN@HOST
            credentials = _password(credentials)
        given.append(credentials)
        # As bytes, because other characters than ASCII must not fail.
        return any(secrets.compare_digest(t.encode(), self._token.encode()) for t in given)


def _password(credentials: str) -> str:
    """Return the password of a Basic authorization; empty if there is none."""
    try:
        return base64.b64decode(credentials, validate=True).decode().partition(":")[2]
    except ValueError:
        return ""


async def _body(receive: Receive) -> bytes | None:
    """Return the body of a request; None if it is too long."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > _MOST_BODY:
            return None
        more = message.get("more_body", False)
    return body


def _again(body: bytes, receive: Receive) -> Receive:
    """Replay a body that was read, then pass on later messages."""
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


RUNS = Assets((("gym_memory.draw", "page.js"), ("gym_memory.viewer", "runs.js")), REPLAY.styles)
"""Scripts and styles of the page that lists recordings."""
_PLAY = Assets((*PANE.scripts, ("gym_memory.viewer", "play.js")), PANE.styles)
_MISS_SECONDS = 1.0
"""Seconds after a search for an unknown key before the folders are searched again."""
_TYPES = {"js": "text/javascript", "css": "text/css"}


class Site(NamedTuple):
    """Content of a server: results folders, folders of them, or files of recorded steps.

    ``play`` has what the page for playing suggests, and where games go; None starts no games.
    """

    paths: tuple[Path, ...]
    play: PlayDefaults | None = None

    @property
    def all_paths(self) -> tuple[Path, ...]:
        """Return the paths, with the folder of games played if it exists."""
        own = self.play.out if self.play else None
        return self.paths if own is None or not own.is_dir() else (*self.paths, own)

    @property
    def links(self) -> tuple[tuple[str, str], ...]:
        """Return name and address of each page in the bar."""
        shown = [("Runs", "/"), ("Compare", "/compare")]
        if any(map(is_training, iter_folders(self.folders))):
            shown.append(("Learning", "/learning"))
        return (*shown, ("Play", "/play")) if self.play else tuple(shown)

    @property
    def folders(self) -> list[Path]:
        """Return the paths that are folders."""
        return [path for path in self.all_paths if path.is_dir()]

    def trainings(self) -> list[TrainingRun]:
        """Read the trainings among the folders."""
        return [read_training(f) for f in iter_folders(self.folders) if is_training(f)]


def make_app(site: Site, host: str, port: int, token: str = "") -> Any:
    """Build the application (ASGI) for an address.

    The token may be empty if only this machine can ask, and without games.
    """
    if site.play and not token:
        raise InvalidArgumentError("expected a token for a server that starts games, got none")
    responses = require("starlette.responses", "viewer", "pages")
    routing = require("starlette.routing", "viewer", "pages")
    applications = require("starlette.applications", "viewer", "pages")
    shelf = RecordingShelf(site)
    assets = {name: package for a in (RUNS, REPLAY, COMPARISON, _PLAY)
              for package, name in (*a.scripts, *a.styles)}  # fmt: skip

    def page(title: str, body: str, parts: Assets, status: int = 200) -> Any:
        return responses.HTMLResponse(linked_page(title, body, parts), status)

    def answered(answer: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return the answer, or the error in one line."""

        @functools.wraps(answer)
        def ask(request: Any) -> Any:
            try:
                return answer(request)
            except KeyError:
                return responses.PlainTextResponse("There is no such episode.\n", 404)
            except GymMemoryError as error:
                return responses.PlainTextResponse(f"{error}\n", 422)

        return ask

    def learning(request: Any) -> Any:
        main = f'<div class="page" data-live="yes">{learning_page(site.trainings())}</div>'
        return page("gym-memory: learning", frame("Learning", main, site.links), COMPARISON)

    def runs(request: Any) -> Any:
        if not shelf.refresh() and site.trainings():
            return learning(request)
        return page("gym-memory: runs", runs_body(shelf.refresh(), site.links), RUNS)

    def rows(request: Any) -> Any:
        return responses.JSONResponse(run_rows(shelf.refresh()))

    def compare(request: Any) -> Any:
        main = f'<div class="page" data-live="yes">{_comparison(site)}</div>'
        return page("gym-memory: compare", frame("Compare", main, site.links), COMPARISON)

    def replay(request: Any) -> Any:
        keys = [request.query_params[n] for n in ("a", "b") if n in request.query_params]
        if not keys:
            raise KeyError("a")
        titles = [shelf.recording(key).title for key in keys]
        attributes = f' data-keys="{text(" ".join(keys))}"'
        if len(keys) == 1:
            for name, key in zip(("before", "after"), shelf.neighbours(keys[0]), strict=True):
                attributes += f' data-{name}="{text(key)}"' * bool(key)
        return page(" | ".join(titles), replay_body("Replay", site.links, attributes), REPLAY)

    def episode(request: Any) -> Any:
        head, story = shelf.story(request.path_params["key"])
        return responses.JSONResponse({"head": head, **story.light()})

    def chunk(request: Any) -> Any:
        _, story = shelf.story(request.path_params["key"])
        return responses.JSONResponse(story.chunk(request.path_params["number"]))

    def static(request: Any) -> Any:
        name = request.path_params["name"]
        if name not in assets:  # the only files that are served, by name
            return responses.PlainTextResponse("There is no such file.\n", 404)
        source = (files(assets[name]) / "static" / name).read_bytes()
        return responses.Response(source, media_type=_TYPES[name.rpartition(".")[2]])

    route = routing.Route
    routes = [
        route("/", answered(runs)),
        route("/learning", answered(learning)),
        route("/rows", answered(rows)),
        route("/compare", answered(compare)),
        route("/replay", answered(replay)),
        route("/episode/{key}", answered(episode)),
        route("/episode/{key}/{number:int}", answered(chunk)),
        route("/static/{name}", static),
    ]
    if site.play:
        games = site.play

        def play(request: Any) -> Any:
            return page("gym-memory: play", frame("Play", play_body(games), site.links), _PLAY)

        async def talk(socket: Any) -> None:
            await play_socket(socket, games, shelf.key_of)

        routes += [route("/play", answered(play)), routing.WebSocketRoute("/talk", talk)]
    return Guard(applications.Starlette(routes=routes), host, port, token)


class RecordingShelf:
    """Recordings that are shown, and the stories that were loaded last."""

    def __init__(self, site: Site):
        self._site = site
        self._found: dict[str, Recording] = {}
        self._missed = -_MISS_SECONDS
        self._story = functools.lru_cache(maxsize=4)(self._load)
        self.refresh()

    def refresh(self) -> list[Recording]:
        """Find the recordings again."""
        found = find(dict.fromkeys(self._site.all_paths))
        self._found = {recording.key: recording for recording in found}
        return found

    def recording(self, key: str) -> Recording:
        """Return a recording by its key; an address can name nothing else."""
        if key not in self._found and time.monotonic() > self._missed + _MISS_SECONDS:
            self.refresh()
            if key not in self._found:
                self._missed = time.monotonic()
        return self._found[key]

    def neighbours(self, key: str) -> tuple[str, str]:
        """Return the keys of the episodes before and after one; empty if there is none."""
        keys = list(self._found)
        at = keys.index(key)
        return (keys[at - 1] if at else ""), (keys[at + 1] if at + 1 < len(keys) else "")

    def key_of(self, file: Path) -> str:
        """Return the key of the first episode of a file; empty if it is not shown."""
        return next((r.key for r in self.refresh() if r.file == file), "")

    def story(self, key: str) -> tuple[dict[str, Any], Story]:
        """Return head and story of a recording."""
        recording = self.recording(key)
        return self._story(key, recording.file.stat().st_mtime_ns)

    def _load(self, key: str, changed: int) -> tuple[dict[str, Any], Story]:
        return load(self._found[key])


def runs_body(recordings: Sequence[Recording], links: Sequence[tuple[str, str]] = ()) -> str:
    """Return the table of recorded episodes, which its script fills."""
    live = ' data-live="yes"' * bool(links)
    main = f'<div id="runs" class="page"{live}></div>'
    data = f'<script type="text/plain" id="rows">{packed(run_rows(recordings))}</script>'
    return frame("Recorded episodes", main, links) + data


def run_rows(recordings: Sequence[Recording]) -> list[dict[str, Any]]:
    """Return the rows of the table of recorded episodes."""
    colour = colours(recording.job.memory for recording in recordings)
    return [_listed(recording, colour[recording.job.memory]) for recording in recordings]


def _listed(recording: Recording, colour: int) -> dict[str, Any]:
    job, row = recording.job, recording.row
    result = row.result if row else None
    end = "unfinished"
    if result:
        end = "won" if result.success else "lost" if result.lost else "out of steps"
        end = "failed" if result.failed else end
    return {
        "key": recording.key,
        "title": recording.title or recording.file.name,
        "run": recording.run,
        "environment": cut(short_spec(job.env) or recording.file.name, 120),
        "memory": cut(short_spec(job.memory), 120),
        "colour": colour,
        "policy": cut(short_spec(job.policy), 120),
        "seed": job.seed,
        "trial": recording.episode + 1,
        "score": result.normalized if result else None,
        "steps": result.steps if result else None,
        "seconds": round(result.seconds, 1) if result else None,
        "tokens": int(sum(result.counters.get(n, 0) for n in _TOKENS)) if result else None,
        "cost": result.cost_usd if result else None,
        "date": _date(recording.file),
        "result": end,
    }


def _date(file: Path) -> str:
    """Return the time at which a file was last written; empty if it is gone."""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(file.stat().st_mtime))
    except OSError:
        return ""


_TOKENS = ("llm_prompt_tokens", "llm_completion_tokens")
"""Counters of language models."""


def _comparison(site: Site) -> str:
    paths = site.folders
    found = dict.fromkeys(iter_folders(paths))
    folders = [f for f in found if (f / "config.json").is_file() and not is_training(f)]
    sources = [read_source(folder) for folder in folders]
    all_units = units(row for source in sources for row in source.rows)
    gaps = [*differences(all_units, "memory"), *differences(all_units, "policy")]
    return comparison(all_units, gaps, folders) + _losses(all_units, find(paths))


def _losses(all_units: Sequence[Unit], recordings: Sequence[Recording]) -> str:
    """Return the most costly games, each linked to its first difference from the best."""
    rows = []
    for loss in losses(all_units):
        pair = [recordings[number] for number in lost(loss, recordings)]
        link = f'<a href="/{text(compared_at(pair))}">First difference</a>' if pair else ""
        unit, best = loss
        names = [*map(short_spec, (unit.env, unit.memory, unit.policy)), str(unit.seed)]
        cells = [*names, f"{unit.score:.2f}", f"{short_spec(best.memory)} {best.score:.2f}"]
        rows.append("".join(f"<td>{text(cell)}</td>" for cell in cells) + f"<td>{link}</td>")
    if not rows:
        return ""
    heads = ("environment", "memory", "policy", "seed", "score", "best", "watch")
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    shown = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return wide_table(TitledTable("Games that cost most", shown))


def serve(
    paths: Sequence[Path],
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    browser: bool = True,
    play: PlayDefaults | None = None,
    start: str = "",
) -> None:
    """Serve pages of results folders, folders of them, or files of recorded steps, until Ctrl-C.

    ``start`` is the address of the page that opens, such as that of :func:`.compared_at`.

    An address that others can reach needs the token that is printed; so does ``play``, without
    which no page can start games. A ``port`` of 0 takes a free one.
    """
    require("uvicorn", "viewer", "pages")
    listener = listen(host, port)
    port = listener.getsockname()[1]
    token = "" if host in LOOPBACK and play is None else secrets.token_urlsafe(24)
    app = make_app(Site(tuple(paths), play), host, port, token)
    shown = f"[{host}]" if ":" in host else host
    page, mark, place = ("play" if play else start).partition("#")
    query = f"{'&' if '?' in page else '?'}token={token}" if token else ""
    address = f"http://{shown}:{port}/{page}{query}{mark}{place}"
    print(f"Pages at {address} (Ctrl-C ends)", flush=True)
    if browser:
        webbrowser.open(address)
    run_server(app, listener, "viewer", most_frame=1 << 16)


def serve_programs(app: App, what: str, host: str, port: int, path: str, extra: str) -> None:
    """Serve an application to programs that send the token, which is printed, until Ctrl-C."""
    listener = listen(host, port)
    token = os.environ.get("GYM_MEMORY_TOKEN") or secrets.token_urlsafe(24)
    print(f"serving {what} at http://{host}:{port}{path} (token: {token})", flush=True)
    run_server(Guard(app, host, port, token, programs=True), listener, extra)
