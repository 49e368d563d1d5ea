"""The papers' agents by name, in ``run`` and ``compare``, against the scripted server."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from gym_memory.cli import main, options
from gym_memory.cli.compare import agent_of
from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.names import Spec
from gym_memory.memory import make_memory
from gym_memory.papers.presets import (
    PRESETS,
    make_preset,
    memory_with_model,
    policy_with_model,
)
from gym_memory.run.config import RunConfig
from gym_memory.run.protocols import make_protocol
from gym_memory.run.results.folder import read_config
from gym_memory.testing.chat import ScriptedServer
from gym_memory.wrappers.make import make_env

GAME = "Cooking?level=rl-1&max_steps=4"


def call(capsys: Any, *words: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as end:
        main(words)
    return int(end.value.code or 0), capsys.readouterr().out


LOADS = pytest.param("ariadne", marks=pytest.mark.slow)  # the weights of its encoder


@pytest.mark.parametrize("name", [LOADS if name == "ariadne" else name for name in PRESETS])
def test_every_preset_can_be_built(name: str) -> None:
    preset = make_preset(name)
    assert make_memory(preset.memory)
    assert make_protocol(preset.protocol)
    assert preset.about
    asked = options.RunChoices(model="m", base_url="http://127.0.0.1:9/v1", memory_llm=True)
    config = asked.config(["FakeHouse"], [preset.memory], [preset.policy], "0", preset.protocol)
    assert "model=m" in config.policies[0]
    ours = make_preset(f"{name}?variant=ours")
    assert (ours.policy, ours.memory) == tuple(Spec(spec).name for spec in preset[:2])
    assert not ours.llm
    with pytest.raises(UnknownNameError, match="variant"):
        make_preset(f"{name}?variant=mine")


def test_parameters_go_to_the_policy_else_to_the_memory() -> None:
    both = make_preset("ariadne?history=0&exploration=false")
    assert "history=0" in both.policy
    assert "exploration=false" in both.memory
    with pytest.raises(UnknownNameError, match="rounds"):
        make_preset("stma?round=2")
    with pytest.raises(UnknownNameError, match="ariadne"):
        make_preset("ariadn")
    with pytest.raises(InvalidArgumentError, match="policy"):
        agent_of("ariadne", "random")


def test_model_goes_to_parts_that_take_it(tmp_path: Path) -> None:
    model = {"model": "m", "base_url": "http://h/v1"}
    assert policy_with_model("ariadne?model=own", model) == (
        "ariadne?base_url=http://h/v1&model=own"
    )
    assert policy_with_model("planner", model) == "planner"
    for served in ({"model": "m"}, model, {"model": "smollm", "base_url": "http://h/v1"}):
        assert policy_with_model("choose", served) == "choose"  # it scores local weights
    assert policy_with_model("choose", {"model": str(tmp_path)}) == f"choose?model={tmp_path}"
    assert memory_with_model("none", model) == "none"
    assert make_memory(memory_with_model("arigraph", model))


def test_go_to_needs_a_graph() -> None:
    for memory, offered in (("arigraph", True), ("none", False)):
        env = make_env("FakeHouse", memory=memory, navigate=True)
        env.reset(seed=0)
        obs, *_ = env.step("go west")
        assert any(action.startswith("go to ") for action in obs["valid_actions"]) == offered
    with pytest.raises(InvalidArgumentError, match="navigate"):
        make_env("FakeHouse", navigate="yes")  # type: ignore[arg-type]


@pytest.mark.slow
def test_agents_of_papers_share_a_table(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with ScriptedServer() as server:
        chat = ("--model", "scripted", "--base-url", server.base_url, "--max-tokens", "900000")
        words = ("compare", "-e", GAME, "--preset", "ariadne?variant=ours", "-m", "none")
        words += ("--preset", "stma?encoder=")
        rest = (
            "-s",
            "0",
            "-w",
            "1",
            "--concurrency",
            "2",
            "-o",
            str(tmp_path / "out"),
            "--json",
            *chat,
        )
        status, out = call(capsys, *words, *rest)
        assert status == 0
    rows = [json.loads(line) for line in out.splitlines()]
    cells = [(row["env"], *(Spec(row[key]).name for key in ("memory", "policy"))) for row in rows]
    assert cells == [
        (f"{GAME}&navigate=true", "arigraph", "ariadne"),
        (f"{GAME}&navigate=true", "none", "ariadne"),
        (GAME, "stma", "stma"),
        (GAME, "none", "stma"),
    ]
    assert (tmp_path / "out" / "report.md").exists()
    assert (tmp_path / "out" / "spending.sqlite").exists()
    memory, none = read_config(tmp_path / "out" / "stma").memories
    assert none == "none"
    assert "scripted" in memory, "the model plays the roles of the memory, too"


@pytest.mark.slow
def test_two_variants_of_an_agent_have_numbered_folders(
    tmp_path: Path, capsys: Any, server: ScriptedServer
) -> None:
    words = ("compare", "-e", "Fetch?level=easy&max_steps=2", "-s", "0", "-w", "1")
    words += ("--preset", "react", "--preset", "react?history=2", "-o", str(tmp_path / "out"))
    words += ("--model", "scripted", "--base-url", server.base_url, "--max-tokens", "900000")
    status, out = call(capsys, *words)
    assert status == 0
    assert out.count("react") == 2, "a table of two rows"
    policies = [read_config(tmp_path / "out" / name).policies for name in ("1-react", "2-react")]
    assert [Spec(spec).kwargs.get("history") for (spec,) in policies] == [None, 2]


def test_requested_settings_are_in_the_configuration() -> None:
    asked = options.RunChoices(model="m", memory_llm=True, navigate=False, max_steps=7)
    agent = agent_of("ariadne")
    config = asked.config(
        ["FakeHouse"], [agent.memory], [agent.policy], "0:2", agent.protocol, agent
    )
    assert config.envs == ("FakeHouse?max_steps=7",)
    assert config.memories == (memory_with_model(agent.memory, {"model": "m"}),)
    assert config.policies == ("ariadne?history_tokens=4000&model=m",)
    assert config.budgets == (4000,)
    plain = options.RunChoices().config(["FakeHouse"], ["none"], ["random"], "0", "trials?k=2")
    assert plain == RunConfig(("FakeHouse",), ("none",), ("random",), (0,), "trials?k=2")


def test_two_ways_to_name_the_policy_are_refused(capsys: Any) -> None:
    assert call(capsys, "compare", "-e", GAME, "--preset", "stma", "-p", "random")[0] == 2
    assert call(capsys, "run", "-e", GAME, "--preset", "stma", "-p", "random")[0] == 2


def test_group_of_options_has_one_option_per_field(
    capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    for command in ("run", "compare"):
        _, help_text = call(capsys, command, "--help")
        for group in (options.RunChoices, options.Playing):
            for field in dataclasses.fields(group):
                named = {"plugins": "import", "json_lines": "json", "callbacks": "callback"}.get(
                    field.name, field.name
                )
                assert f"--{named.replace('_', '-')}" in help_text
