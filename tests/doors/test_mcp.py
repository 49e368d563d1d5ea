"""Games and memories over MCP through its own client: stdio, HTTP, in this process."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from served import TOKEN, serving
from twenty import BUDGET, ENV, MEMORY, Games

from gym_memory.core.errors import StoreError
from gym_memory.core.records import Cue, Step, Task
from gym_memory.core.trajectory import read_rows
from gym_memory.memory import make_memory
from gym_memory.run.config import Job
from gym_memory.run.play import play_job

pytestmark = pytest.mark.slow

mcp = pytest.importorskip("mcp")
if not hasattr(mcp, "Client"):
    pytest.skip("needs mcp 2, in a venv of its own", allow_module_level=True)
httpx = pytest.importorskip("httpx2")
from mcp.client.stdio import StdioServerParameters  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402

from gym_memory.doors.mcp import game_server  # noqa: E402
from gym_memory.doors.mcp_memory import memory_server  # noqa: E402

WORDS = ("-m", "gym_memory", "mcp", "-e", ENV, "-m", MEMORY, "--budget", str(BUDGET))
STDIO = StdioServerParameters(command=sys.executable, args=[*WORDS])


async def call(client: Any, tool: str, **given: Any) -> Any:
    """Return the result of a tool; the text of its error, if it has one, is an AssertionError."""
    answer = await client.call_tool(tool, given)
    assert not answer.is_error, answer.content[0].text
    found = answer.structured_content
    return found["result"] if set(found) == {"result"} else found


async def refused(client: Any, tool: str, **given: Any) -> str:
    answer = await client.call_tool(tool, given)
    assert answer.is_error
    return str(answer.content[0].text)


async def play(client: Any, games: Games, seeds: Any) -> None:
    for seed in seeds:
        rows = games.recorded[seed].rows
        shown = await call(client, "new_game", seed=seed)
        check(shown, rows[0])
        for row in rows[1:]:
            shown = await call(client, "act", handle=shown["handle"], command=row["action"])
            check(shown, row)
        await call(client, "close_game", handle=shown["handle"])


def check(shown: Any, row: Any) -> None:
    for name in ("text", "task", "inventory", "memory"):
        assert shown[name] == row.get(name, "")
    assert shown["valid_actions"] == list(row.get("valid_actions", ()))
    assert (shown["reward"], shown["score"]) == (row["reward"], row["score"])
    assert shown["done"] == (row["terminated"] or row["truncated"])
    assert shown["task_id"] == row["task_id"]


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving(*WORDS, "--http", "--max-sessions", "5") as number:
        yield number


@asynccontextmanager
async def over_http(port: int, token: str = TOKEN) -> AsyncIterator[Any]:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(headers=headers, timeout=600) as http:
        transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
        async with mcp.Client(transport) as client:
            yield client


def test_twenty_games_over_stdio_are_those_of_a_run(games: Games) -> None:
    async def main() -> None:
        async with mcp.Client(STDIO) as client:
            await play(client, games, range(20))

    asyncio.run(main())


def test_four_clients_over_http_play_games_of_a_run(games: Games, port: int) -> None:
    async def one(number: int) -> None:
        async with over_http(port) as client:
            await play(client, games, range(number, 20, 4))

    async def main() -> None:
        await asyncio.gather(*map(one, range(4)))

    asyncio.run(main())


def test_one_game_too_many_is_refused(port: int) -> None:
    async def main() -> None:
        async with over_http(port) as client:
            handles = [(await call(client, "new_game", seed=s))["handle"] for s in range(5)]
            assert "expected at most 5 games at once" in await refused(client, "new_game")
            for handle in handles:
                await call(client, "close_game", handle=handle)
            await call(client, "close_game", handle=(await call(client, "new_game"))["handle"])

    asyncio.run(main())


def test_host_origin_and_token_are_checked(port: int) -> None:
    url = f"http://127.0.0.1:{port}/mcp"
    right = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json, text/event-stream"}
    wrong: dict[str, tuple[dict[str, str], str]] = {
        "token": ({"Authorization": "Bearer wrong"}, "expected the token that gym-memory printed"),
        "host": ({"Host": f"evil.example:{port}"}, "as Host"),
        "origin": ({"Origin": "http://evil.example"}, "foreign Origin"),
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    for headers, reason in wrong.values():
        answer = httpx.post(url, json=body, headers={**right, **headers})
        assert answer.status_code == 403
        assert reason in answer.text


def in_process(server: Any, script: Any) -> None:
    async def main() -> None:
        async with mcp.Client(server) as client:
            await script(client)

    asyncio.run(main())


def test_snapshot_brings_back_game_and_memory() -> None:
    async def script(client: Any) -> None:
        begun = await call(client, "new_game", seed=3)
        handle = begun["handle"]
        snapshot = await call(client, "save", handle=handle)
        facts = await call(client, "what_is_where", handle=handle)
        ways = [a for a in begun["valid_actions"] if a.startswith("go ")]
        after = [await call(client, "act", handle=handle, command=way) for way in ways[:1] * 2]
        assert await call(client, "what_is_where", handle=handle) != facts
        assert await call(client, "what_is_where", handle=handle, step=0) == facts
        for _ in range(2):
            assert await call(client, "go_back", handle=handle, snapshot=snapshot) == begun
            assert await call(client, "what_is_where", handle=handle) == facts
            assert await call(client, "act", handle=handle, command=ways[0]) == after[0]
        assert "unknown snapshot" in await refused(client, "go_back", handle=handle, snapshot="x")
        error = await refused(client, "what_is_where", handle=handle, step=-1)
        assert "expected step as an int >= 0, got -1" in error

    in_process(game_server("Fetch?level=hard", "arigraph", 300), script)


def test_recall_keeps_its_budget() -> None:
    async def script(client: Any) -> None:
        handle = (await call(client, "new_game", seed=3))["handle"]
        whole = await call(client, "recall", handle=handle, question="Where is the bookcase?")
        assert "bookcase" in whole
        assert 40 < len(whole) <= 400
        few = await call(client, "recall", handle=handle, question="bookcase", tokens=10)
        assert len(few) <= 40
        assert await call(client, "recall", handle=handle, question="bookcase", tokens=0) == ""
        error = await refused(client, "recall", handle=handle, question="x", tokens=101)
        assert "expected tokens as an int in [0, 100], got 101" in error

    in_process(game_server("Fetch?level=hard", "arigraph", 100), script)


def test_mistakes_give_one_line_of_ours() -> None:
    async def script(client: Any) -> None:
        handle = (await call(client, "new_game"))["handle"]
        for tool, given, reason in (
            ("act", {"handle": "nowhere", "command": "look"}, "unknown game 'nowhere'"),
            ("act", {"handle": handle}, "Field required"),
            ("act", {"handle": handle, "command": 5}, "valid string"),
            ("new_game", {"split": "exam"}, "unknown split 'exam'"),
            ("new_game", {"index": 10**6}, "expected an index below"),
            ("map", {"handle": handle}, "this memory keeps no graph"),
        ):
            assert reason in await refused(client, tool, **given)
        assert (await call(client, "act", handle=handle, command="look"))["text"]

    in_process(game_server("Fetch", "history"), script)


def test_idle_game_is_closed_at_the_next_call() -> None:
    async def script(client: Any) -> None:
        first = (await call(client, "new_game"))["handle"]
        await asyncio.sleep(0.3)
        await call(client, "new_game")
        assert "was idle for 0.2 s" in await refused(client, "valid_actions", handle=first)

    in_process(game_server("Fetch", "none", idle_s=0.2), script)


def test_memory_alone_recalls_what_the_memory_does() -> None:
    texts = ("You are in the attic. You see a chest that is closed.", "You are in the hall.")
    own = make_memory("arigraph")
    own.begin(Task("", "open the chest", "plain"), 0)

    async def script(client: Any) -> None:
        handle = (await call(client, "begin", task={"goal": "open the chest"}))["session"]
        for t, text in enumerate(texts):
            step = Step(t, text, "go east" if t else "")
            own.observe(own.admit(step, "open the chest"))
            seen = {"text": text, "action": step.action}
            assert await call(client, "observe", session=handle, step=seen) == {"t": t}
            if not t:
                snapshot = await call(client, "save", handle=handle)
        question = "Where is the chest?"
        cue = Cue(question, "open the chest", focus=question)
        expected, given = own.recall(cue, 300), {k: v for k, v in cue._asdict().items() if v}
        answer = await client.call_tool("recall", {"session": handle, "cue": given})
        assert [block.text for block in answer.content] == [expected.text]
        assert answer.structured_content["text"] == expected.text
        assert answer.structured_content["triples"] == [list(t) for t in expected.triples]
        assert "attic" in expected.text
        places = {p["place"]: p["here"] for p in await call(client, "map", handle=handle)}
        assert places["hall"]
        assert "chest, is in, attic" in await call(
            client, "what_is_where", handle=handle, about="chest", step=0
        )
        assert await call(client, "go_back", handle=handle, snapshot=snapshot) == 1
        assert not any(
            "hall" in fact for fact in await call(client, "what_is_where", handle=handle)
        )

    in_process(memory_server("arigraph", 300), script)


def test_games_with_a_memory_behind_mcp_equal_those_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GYM_MEMORY_REMOTE_TOKEN", TOKEN)
    found: list[list[Any]] = []
    with serving("-m", "gym_memory", "mcp", "-m", "arigraph", "--http") as number:
        remote = f"remote?protocol=mcp&url=http://127.0.0.1:{number}/mcp"
        for memory in ("arigraph", remote):
            for seed in range(20):
                path = tmp_path / f"{len(found)}.jsonl.gz"
                job = Job("Fetch?level=hard&max_steps=15", memory, "random", seed, budget=60)
                (row,) = play_job(job, record=str(path))
                assert not row.result.failed, row.result.failed
                kept = ("text", "action", "memory", "triples", "score", "reward")
                found.append([[step.get(k) for k in kept] for step in read_rows(path)])
        assert found[:20] == found[20:]
        assert any(memory for steps in found for _, _, memory, *_ in steps)
        monkeypatch.setenv("GYM_MEMORY_REMOTE_TOKEN", "wrong")
        with pytest.raises(StoreError, match=r"status 403: .*expected the token"):
            make_memory(remote).begin(Task("", ""), 0)
