"""``gym-memory doctor --model`` against the zoo."""

from __future__ import annotations

import json

import pytest
from waited import Clock

from gym_memory.cli import main
from gym_memory.llm import client
from gym_memory.testing.chat import Faults, ScriptedServer, ZooServer


@pytest.mark.parametrize("dialect", ["plain", "reasoning", "think", "no_usage", "no_system"])
def test_answering_model_is_reported_well(dialect: str, capsys: pytest.CaptureFixture[str]) -> None:
    with ZooServer(dialect) as server, pytest.raises(SystemExit) as ended:
        main(["doctor", "--model", "unknown", "--base-url", server.base_url, "--json"])
    assert ended.value.code == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = {row["name"]: row["found"] for row in rows}
    assert found["an answer in JSON"].startswith("read as ")
    assert found["thinks before it answers"].startswith("yes") == (
        dialect in ("reasoning", "think")
    )
    assert ("estimated" in found["tokens"]) == (dialect == "no_usage")


def test_unreachable_model_gives_status_2(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "time", Clock())
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--model", "m", "--base-url", "http://127.0.0.1:9/v1"])
    assert ended.value.code == 2
    assert "Start the server of model 'm'" in capsys.readouterr().err


def test_model_without_json_is_a_finding(capsys: pytest.CaptureFixture[str]) -> None:
    faults = Faults(rates={"wrong_json": 1.0})
    with ScriptedServer(faults=faults) as server, pytest.raises(SystemExit) as ended:
        main(["doctor", "--model", "m", "--base-url", server.base_url, "--json"])
    assert ended.value.code == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    states = {row["name"]: row["state"] for row in rows}
    assert states["an answer in JSON"] == states["an answer with a thought"] == "broken"
    assert states["tokens"] == "ok"
