"""The examples of agent SDKs as policies, over the scripted server."""

from __future__ import annotations

from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

from gym_memory.core.names import import_plugin
from gym_memory.core.trajectory import read_rows
from gym_memory.run.config import RunConfig
from gym_memory.run.play import play_job
from gym_memory.testing.chat.server import ScriptedServer

pytestmark = pytest.mark.slow

SDK = Path(__file__).parents[2] / "examples" / "sdk"
NEEDS = {
    "openai_agents": "agents",
    "langgraph_agent": "langgraph",
    "pydantic_ai_agent": "pydantic_ai",
    "smolagents_agent": "smolagents",
}


@pytest.mark.parametrize("name", sorted(path.stem for path in SDK.glob("*.py")))
def test_twenty_games_of_an_sdk_are_those_of_the_prompt(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = SDK / f"{name}.py"
    assert len(path.read_text().splitlines()) <= 60
    if NEEDS[name] not in packages_distributions():  # a folder on the path may share its name
        pytest.skip(f"needs the package {NEEDS[name]}, in a venv of its own")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    import_plugin(str(path))
    games: list[list[Any]] = []
    with ScriptedServer() as server:
        model = f"model=scripted&base_url={server.base_url}"
        env = ("Fetch?level=easy&max_steps=8",)
        for player in (f"{path}:Player?{model}", f"prompted?{model}"):
            before = server.received
            for job in RunConfig(env, ("arigraph",), (player,), tuple(range(20))).jobs():
                record = tmp_path / f"{len(games)}.jsonl.gz"
                (row,) = play_job(job, record=str(record))
                assert not row.result.failed, row.result.failed + row.result.detail
                assert row.result.steps > 0
                shown = ("task_id", "text", "action", "memory", "reward", "score")
                games.append([[step.get(key) for key in shown] for step in read_rows(record)])
            assert server.received - before >= sum(len(game) - 1 for game in games[-20:])
    assert games[:20] == games[20:]
