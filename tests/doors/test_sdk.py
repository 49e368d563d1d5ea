"""The examples of agent SDKs as policies, over the scripted server."""

from __future__ import annotations

from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from gym_memory.core.names import import_plugin
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
def test_example_of_an_sdk_plays_a_game(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = SDK / f"{name}.py"
    assert len(path.read_text().splitlines()) <= 60
    if NEEDS[name] not in packages_distributions():  # a folder on the path may share its name
        pytest.skip(f"needs the package {NEEDS[name]}, in a venv of its own")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    import_plugin(str(path))
    with ScriptedServer() as server:
        player = f"{path}:Player?model=scripted&base_url={server.base_url}"
        config = RunConfig(("Fetch?level=easy&max_steps=8",), ("arigraph",), (player,), (0,))
        (job,) = config.jobs()
        (row,) = play_job(job)
        assert not row.result.failed, row.result.failed + row.result.detail
        assert row.result.steps > 0
        assert server.received >= row.result.steps
