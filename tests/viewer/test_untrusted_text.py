"""Text of games and models is shown as text, whatever it says; foreign pages are refused."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from chromium import Browser, serving

from gym_memory.core.trajectory import RowWriter
from gym_memory.draw.escape import text, visible
from gym_memory.draw.page import inline_page
from gym_memory.run import EpisodeResult
from gym_memory.run.config import EpisodeRow, Job
from gym_memory.run.results.pages import report_page
from gym_memory.run.results.score import differences, units
from gym_memory.viewer.recordings import Recording, find, write_replay
from gym_memory.viewer.server import RUNS, Guard, runs_body

pytestmark = pytest.mark.slow

EVIL = '<img src=x onerror="window.hacked=1"><script>window.hacked=2</script></script><!--'
ROOM = "<img src=x onerror=window.hacked=3>"
TURNED = "safe\u202eevil\u2066\x1b[2J\x00\u200f end"
LONG = "x y " * 250_000  # a megabyte
HACKED = "return window.hacked === undefined"


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("evil") / "evil.jsonl.gz"
    writer = RowWriter(file)
    facts = [["you", "is in", ROOM], [EVIL, "is in", ROOM], [TURNED, EVIL, ROOM]]
    facts += [[ROOM, "has exit", EVIL], ["hall", "is east of", ROOM], ["note", "says", LONG]]
    for t, seen in enumerate((EVIL, TURNED, LONG)):
        call = {
            "role": EVIL, "messages": [{"role": EVIL, "content": EVIL + TURNED}], "answer": EVIL,
            "tokens": {"prompt": 1, "cached": 0, "completion": 1}, "cost_usd": 0.5, "hit": False,
            "ms": 1.0,
        }  # fmt: skip
        writer.write(
            {
                "episode": 0, "t": t, "task_id": EVIL, "task": EVIL, "dialect": "textworld",
                "action": EVIL if t else "", "text": seen, "inventory": EVIL, "reward": 0.0,
                "terminated": False, "truncated": t == 2, "score": 0, "max_score": 1,
                "normalized_score": 0.0, "success": False, "lost": False, "is_action_valid": True,
                "facts": facts if not t else [], "came": list(range(6)) if not t else [],
                "went": [[1, EVIL]] if t == 1 else [], "recalled": [0, 1, 2, 5],
                "why": [[4, EVIL, 0.5, [EVIL, ROOM], "said by " + EVIL]], "memory": EVIL + TURNED,
                "episodes": [EVIL], "why_episodes": [[1, EVIL, None, []]], "lessons": [EVIL],
                "focus": EVIL, "valid_actions": [EVIL, TURNED], "stats": {"ms": 1.0},
                "calls": [call],
            }
        )  # fmt: skip
    writer.close()
    return file


@pytest.fixture(scope="module")
def site_of_evil(evil: Path) -> Iterator[str]:
    with serving("view", str(evil), cwd=evil.parent) as address:
        yield address


def look_at_everything(browser: Browser) -> None:
    for seen in (EVIL, TURNED):
        browser.wait(
            "return document.querySelector('.story pre')?.textContent === arguments[0]",
            visible(seen),
        )
        for tab in ("changes", "facts", "text", "recalled"):
            browser.click(f"#A-{tab}")
            assert browser.run(HACKED)
        shown = browser.text("body")
        assert EVIL in shown
        assert f"said by {EVIL}" in shown
        assert "⟨U+202E⟩" in shown
        assert "\u202e" not in shown
        assert browser.run("return document.querySelectorAll('img, main script').length") == 0
        browser.click("#on")
    # A megabyte: its beginning, and the rest when it is asked for.
    browser.wait("return document.querySelector('.story pre')?.textContent.startsWith('x y x y')")
    assert browser.run("return document.querySelector('.story pre').textContent.length") < 10_000
    browser.click(".story pre + button")
    shown_all = "return document.querySelector('.story pre').textContent.length"
    assert browser.run(shown_all) == len(LONG)
    labels = (
        "return document.querySelector('.canvas')._cyreg.cy.nodes().map((n) => n.data('label'))"
    )
    assert any(label.startswith("<img src=x") for label in browser.run(labels))
    assert browser.run(HACKED)


def key_of(file: Path) -> str:
    return find([file])[0].key


def test_served(browser: Browser, site_of_evil: str, evil: Path) -> None:
    browser.open(f"{site_of_evil}/replay?a={key_of(evil)}")
    look_at_everything(browser)


def test_in_one_file(browser: Browser, evil: Path, tmp_path: Path) -> None:
    page = tmp_path / "replay.html"
    write_replay(find([evil]), page)
    assert "onerror" not in page.read_text()  # it stands in the packed data alone
    browser.open(page.as_uri())
    look_at_everything(browser)


def test_report_and_runs(browser: Browser, tmp_path: Path) -> None:
    rows = [
        EpisodeRow(
            Job(EVIL, memory, TURNED, seed), 0, EpisodeResult(failed=EVIL if seed else "", steps=3)
        )
        for memory in ("none", EVIL)
        for seed in (0, 1)
    ]
    found = units(rows)
    page = tmp_path / "report.html"
    page.write_text(report_page(found, differences(found, "memory"), []))
    browser.open(page.as_uri())
    assert browser.run(HACKED)
    assert "<script>window.hacked=2" in browser.text("table")
    recording = Recording("0-0", Path(EVIL), 0, rows[2].job, rows[2])
    body = runs_body([recording])
    for written in (body, page.read_text()):
        assert "<img" not in written
        assert "\u202e" not in written
        assert "<script>window" not in written
    page.write_text(inline_page("runs", body, RUNS))
    browser.open(page.as_uri())
    assert browser.run(HACKED)
    assert EVIL in browser.text("#runs tbody")
    assert "⟨U+202E⟩" in browser.text("#runs tbody")


def test_content_policy_blocks_escaped_scripts(
    browser: Browser, evil: Path, tmp_path: Path
) -> None:
    """Were text ever taken for markup, the policy would keep it from running."""
    page = tmp_path / "replay.html"
    write_replay(find([evil]), page)
    browser.open(page.as_uri())
    browser.run("document.querySelector('main').innerHTML += arguments[0]", ROOM)
    browser.run("const s = document.createElement('script'); s.textContent = 'window.hacked = 4';"
                "document.body.append(s)")  # fmt: skip
    assert browser.run(HACKED)
    refused = browser.errors()  # the browser tells of each
    assert refused
    assert all("Content Security Policy" in message or "x" in message for message in refused)


def test_escaping() -> None:
    assert text('<a b="c">\u2066&') == "&lt;a b=&quot;c&quot;&gt;⟨U+2066⟩&amp;"
    assert visible("tab\tline\nend") == "tab\tline\nend"


# ---------------------------------------------------------------- foreign pages


def ask(site: str, path: str = "/", **headers: str) -> tuple[int, dict[str, str], str]:
    where = urlsplit(site)
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=600)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.putrequest("GET", path, skip_host="Host" in names)
    for name, value in names.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read().decode()


UPGRADE = {
    "Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Version": "13",
    "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ==",
}  # fmt: skip


def test_foreign_hosts_and_origins_are_refused(site_of_evil: str, evil: Path) -> None:
    host = urlsplit(site_of_evil).netloc
    status, headers, _ = ask(site_of_evil)
    assert status == 200
    assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
    assert "unsafe" not in headers["content-security-policy"]
    for path in ("/", f"/episode/{key_of(evil)}", "/static/page.js"):
        assert ask(site_of_evil, path, Host="evil.example")[0] == 403
        assert ask(site_of_evil, path, Host=f"evil.example:{host.split(':')[1]}")[0] == 403
        assert ask(site_of_evil, path, Origin="http://evil.example")[0] == 403
        assert ask(site_of_evil, path, Origin="null")[0] == 403
        assert ask(site_of_evil, path, Origin=f"http://{host}")[0] == 200
    assert ask(site_of_evil, "/talk", Origin="http://evil.example", **UPGRADE)[0] == 403
    assert ask(site_of_evil, "/talk", **UPGRADE)[0] == 403
    # No game can be started in a viewer, see test_strangers.
    assert ask(site_of_evil, "/talk", Origin=f"http://{host}", **UPGRADE)[0] == 403


@pytest.mark.parametrize(
    "path",
    [
        *("/static/../../../../etc/passwd", "/static/..%2f..%2fpyproject.toml", "/static/guard.py"),
        *("/episode/..%2f..%2fetc%2fpasswd", "/episode/0-0", "/episode/evil.jsonl.gz"),
        *(
            "/replay",
            "/replay?a=/etc/passwd",
            "/replay?a=..",
            "/episode/evil-0/%2e%2e",
            "//etc/passwd",
        ),
    ],
)
def test_other_paths_are_refused(site_of_evil: str, path: str) -> None:
    status, _, body = ask(site_of_evil, path)
    assert status == 404
    assert "root:" not in body


def test_other_machines_need_the_token(evil: Path) -> None:
    words = ("view", str(evil), "--host", "0.0.0.0")
    with serving(*words, cwd=evil.parent) as address:
        where = urlsplit(address)
        site, token = f"http://127.0.0.1:{where.port}", where.query
        assert ask(site)[0] == 403
        assert ask(site, "/?token=wrong")[0] == 403
        assert ask(site, "/?token=%C3%A9")[0] == 403
        status, headers, _ = ask(site, f"/?{token}")
        assert status == 200
        cookie = headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert ask(site, f"/episode/{key_of(evil)}", Cookie=cookie.split(";")[0])[0] == 200
        assert ask(site, f"/episode/{key_of(evil)}", Cookie="gym_memory_token=no")[0] == 403
        assert ask(site, f"/?{token}", Origin="http://evil.example")[0] == 403


def test_guard_needs_no_app_to_refuse() -> None:
    import asyncio

    sent: list[dict[str, object]] = []

    async def app(scope: object, receive: object, send: object) -> None:
        raise AssertionError("asked")

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    scope = {"type": "http", "headers": [(b"host", b"evil")], "query_string": b""}
    guard = Guard(app, "127.0.0.1", 80)  # type: ignore[arg-type]
    asyncio.run(guard(scope, None, send))  # type: ignore[arg-type]
    assert sent[0]["status"] == 403
    assert json.dumps(str(sent[1]["body"]))
