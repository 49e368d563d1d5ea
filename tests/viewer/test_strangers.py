"""A stranger's exploits against real servers: pages that start games, folders that name stores."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from chromium import serving
from strangers import CANARY, knocked, listener, set_trap
from test_trust import results_of
from test_untrusted_text import UPGRADE, ask

from gym_memory.memory.base import MEMORIES
from gym_memory.viewer import server
from gym_memory.viewer.play import PlayDefaults
from gym_memory.viewer.recordings import find, write_replay
from gym_memory.viewer.server import Guard, Site, make_app

pytestmark = pytest.mark.slow

client = pytest.importorskip("websockets.sync.client", reason="pip install 'gym-memory[viewer]'")
pytest.importorskip("uvicorn", reason="pip install 'gym-memory[viewer]'")

HOUSE = "FakeHouse?max_steps=5"
PLAIN = {"env": "Cooking", "memory": "none", "seed": 0, "budget": 100, "task_id": ""}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Yield the address of a server that starts games, with its token, and its folder."""
    cwd = tmp_path_factory.mktemp("table")
    plugin = "from gym_memory.testing.fake_env import register_fake\nregister_fake()\n"
    (cwd / "house_plugin.py").write_text(plugin)
    set_trap(cwd)
    words = ("play", "--web", "--import", "house_plugin", "-e", HOUSE, "-m", "history?window=3")
    with serving(*words, cwd=cwd) as address:
        yield address, cwd


def talk(address: str, query: str, *messages: str) -> list[dict[str, Any]]:
    """Return the answers to messages of a page, one each."""
    host = urlsplit(address).netloc
    where, answers = f"ws://{host}/talk{query}", []
    with client.connect(where, origin=f"http://{host}", proxy=None) as socket:
        for message in messages:
            socket.send(message)
            answers.append(json.loads(socket.recv(timeout=600)))
    return answers


def start(**changes: Any) -> str:
    return json.dumps({"start": {**PLAIN, **changes}})


def test_a_game_needs_the_token_on_this_machine_too(table: tuple[str, Path]) -> None:
    where = urlsplit(table[0])
    site, same = f"http://{where.netloc}", f"http://{where.netloc}"
    assert where.hostname == "127.0.0.1"
    for path in ("/", "/play", "/play?token=wrong", "/static/play.js"):
        assert ask(site, path)[0] == 403
    for query in ("", "?token=", "?token=wrong"):
        assert ask(site, f"/talk{query}", Origin=same, **UPGRADE)[0] == 403
    status, headers, _ = ask(site, f"/play?{where.query}")
    assert status == 200
    cookie = headers["set-cookie"].split(";")[0]
    assert ask(site, "/talk", Origin=same, Cookie=cookie, **UPGRADE)[0] == 101
    assert ask(site, "/talk", Origin="http://evil.example", Cookie=cookie, **UPGRADE)[0] == 403
    # Another server of this machine has a cookie of its own in the same browser.
    other = cookie.replace(str(where.port), "1")
    assert ask(site, "/talk", Origin=same, Cookie=f"{other}; {cookie}", **UPGRADE)[0] == 101
    assert ask(site, "/talk", Origin=same, Cookie=other, **UPGRADE)[0] == 403


def test_app_that_starts_games_without_a_token_is_refused(tmp_path: Path) -> None:
    from gym_memory.core.errors import InvalidArgumentError

    with pytest.raises(InvalidArgumentError, match="expected a token"):
        make_app(Site((), PlayDefaults(out=tmp_path)), "127.0.0.1", 80)
    assert isinstance(make_app(Site(()), "127.0.0.1", 80), Guard)


def test_a_page_cannot_name_code_files_or_stores(table: tuple[str, Path]) -> None:
    address, cwd = table
    before = sorted(path.name for path in cwd.iterdir())
    with listener() as server:
        names = [name.format(port=server.getsockname()[1]) for name in set_trap(cwd)]
        names += ["Foreign?entry=os:system&command=true", "FakeHouse?max_steps=6"]
        bad = [start(env=name) for name in names] + [start(memory=name) for name in names]
        bad += [start(seed=float("inf")), start(budget=float("nan")), "[" * 30_000, "3", "{"]
        answers = talk(address, f"?{urlsplit(address).query}", *bad)
        time.sleep(0.2)
        assert not knocked(server)
    for answer in answers:
        assert list(answer) == ["error"]
        assert len(answer["error"].splitlines()) == 1
    assert "unknown environment of a page 'Foreign'" in answers[0]["error"]
    assert sorted(path.name for path in cwd.iterdir()) == before


def test_page_may_play_the_game_of_the_command(table: tuple[str, Path]) -> None:
    address, cwd = table
    given = start(env=HOUSE, memory="history?window=3")
    (answer,) = talk(address, f"?{urlsplit(address).query}", given)
    assert "begin" in answer
    assert [path.name[:17] for path in (cwd / "results" / "human").iterdir()] == [
        "fakehouse-history"
    ]


def test_view_starts_no_games(tmp_path: Path) -> None:
    folder = results_of(tmp_path / "run")
    with serving("view", str(folder), cwd=tmp_path) as address:
        assert ask(address)[0] == 200
        assert "/play" not in ask(address)[2]
        assert ask(address, "/play")[0] == 404
        assert ask(address, "/talk")[0] == 404
        assert ask(address, "/talk", Origin=address, **UPGRADE)[0] == 403


def test_folder_builds_no_named_component(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.mkdir()
    with listener() as server:
        port = server.getsockname()[1]
        for number, name in enumerate(set_trap(trap)):
            results_of(tmp_path / "runs" / f"{number}", memories=name.format(port=port))
        for recording in find([tmp_path / "runs"]):
            write_replay([recording], tmp_path / f"{recording.key}.html")
        with serving("view", str(tmp_path / "runs"), cwd=trap) as address:
            keys = [recording.key for recording in find([tmp_path / "runs"])]
            heads = [json.loads(ask(address, f"/episode/{key}")[2])["head"] for key in keys]
        assert not knocked(server)
    assert len(heads) == 12
    for head in heads:
        name = head["memory"].partition("?")[0]
        if name in MEMORIES.names() and "llm" not in head["memory"]:
            assert f"learnt again from the recorded steps, by {name} with its" in head["note"]
        else:
            assert "was not recorded, and" in head["note"]
    assert sorted(path.name for path in trap.iterdir()) == [f"{CANARY}.py", "server.log"]


def test_a_game_that_cannot_be_made_leaves_no_folder(table: tuple[str, Path]) -> None:
    address, cwd = table
    before = sorted((cwd / "results" / "human").glob("*"))
    query = f"?{urlsplit(address).query}"
    (answer,) = talk(address, query, start(env="Cooking?level=none"))
    assert "unknown level" in answer["error"]
    deadline = time.monotonic() + 600
    while sorted((cwd / "results" / "human").glob("*")) != before:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_missing_body_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "BODY_SECONDS", 0.05)
    sent: list[Any] = []

    async def receive() -> Any:
        await asyncio.sleep(30)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "headers": [(b"host", b"127.0.0.1:1")], "query_string": b""}
    asyncio.run(Guard(None, "127.0.0.1", 1)(scope, receive, send))  # type: ignore[arg-type]
    assert sent[0]["status"] == 408
    assert b"within 0.05 s" in sent[1]["body"]


def test_unknown_keys_do_not_search_all_folders_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = []
    monkeypatch.setattr(server, "find", lambda paths: looked.append(1) or find(paths))
    shelf = server.RecordingShelf(Site((results_of(tmp_path / "run"),)))
    for number in range(50):
        with pytest.raises(KeyError):
            shelf.recording(f"none-{number}")
    assert len(looked) == 2
