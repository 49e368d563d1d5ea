"""Settings of learners: each has a meaning, wrong values are named before anything is trained."""

from __future__ import annotations

import dataclasses
import inspect
import json
from typing import Any

import pytest

from gym_memory.baselines.base import POLICIES, learner_classes, make_policy
from gym_memory.baselines.llm.language import LanguageSettings
from gym_memory.baselines.llm.react import React
from gym_memory.cli import main
from gym_memory.cli.train import read_settings
from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.settings import list_settings, make_settings

pytestmark = pytest.mark.slow  # imports torch

LEARNERS = learner_classes()


def test_trainable_learners_are_listed() -> None:
    assert {"drrn", "bc", "a2c", "gata", "text", "lm"} <= LEARNERS.keys()


@pytest.mark.parametrize("name", LEARNERS)
def test_every_setting_has_meaning_and_its_default_is_value(name: str) -> None:
    settings_class = LEARNERS[name].settings_class
    found = list_settings(settings_class)
    assert all(setting.help.text.endswith(".") for setting in found)
    values = {setting.name: setting.default for setting in found}
    assert make_settings(settings_class, values) == settings_class()
    assert values == dataclasses.asdict(settings_class())


def test_long_name_of_a_setting_suggests_its_short_one() -> None:
    with pytest.raises(UnknownNameError, match=r"Did you mean 'lr'\?"):
        make_settings(LEARNERS["drrn"].settings_class, {"lerning_rate": 1.0})


AGENTS = [
    name
    for name in POLICIES.names()
    if issubclass(getattr(POLICIES.get(name), "settings_class", object), LanguageSettings)
]


def test_agents_with_a_model_are_listed() -> None:
    assert {"plain", "react", "reflexion", "ariadne", "stma", "clin", "ldm2"} <= set(AGENTS)
    assert {"netplay", "choose", "answerer"} <= set(AGENTS)


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_takes_its_settings_and_nothing_else(name: str) -> None:
    """A call, a name with parameters and the list agree on what there is."""
    agent = POLICIES.get(name)
    found = list_settings(agent.settings_class)
    assert all(setting.help.text.endswith(".") and setting.kind for setting in found)
    assert [*inspect.signature(agent).parameters] == [setting.name for setting in found]
    assert agent.settings_class() == agent.settings_class(**{s.name: s.default for s in found})
    with pytest.raises(UnknownNameError, match=rf"parameter of policy '{name}' 'temperatur'"):
        make_policy(f"{name}?temperatur=1")
    kinds = {setting.name: setting.kind for setting in found}
    expected = "a number >= 0" + " or None" * kinds["temperature"].endswith("None")
    with pytest.raises(InvalidArgumentError, match=f"temperature as {expected}, got"):
        make_policy(f"{name}?temperature=cold")
    with pytest.raises(dataclasses.FrozenInstanceError):
        agent.settings_class().model = "other"


def test_fixed_parameter_of_an_agent_cannot_be_set() -> None:
    for spec in ("choose?base_url=x", "answerer?history=3"):
        with pytest.raises(UnknownNameError, match="unknown parameter"):
            make_policy(spec)
    with pytest.raises(UnknownNameError, match="unknown score 'words'"):
        make_policy("choose?score=words")


def test_own_constructor_of_an_agent_is_shown() -> None:
    class Mine(React):
        def __init__(self, mood: str = "calm", *, history: int = 1):
            super().__init__("openai?model=m&base_url=http://127.0.0.1:9/v1", history=history)
            self.mood = mood

    assert [*inspect.signature(Mine).parameters] == ["mood", "history"]
    assert (Mine("glad", history=2).mood, Mine(history=2).settings.history) == ("glad", 2)


def test_help_explains_each_parameter(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def listed(*words: str) -> dict[str, dict[str, Any]]:
        with pytest.raises(SystemExit):
            main(["list", *words, "--json"])
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        return {row["name"]: row for row in rows}

    history = listed("policies", "stma")["history"]
    assert (history["type"], history["default"]) == ("int | None", 0)
    assert history["about"].startswith("Past observations to show; none by default")
    assert listed("policies", "react")["history"]["about"].startswith(
        "Past observations to show at"
    )
    assert listed("memories", "arigraph")["depth"]["type"] == "int"
    assert listed("environments", "Cooking")["split"]["about"]
    assert listed("protocols", "trials")["k"]["default"] == 5
    assert listed("settings", "drrn")["gamma"]["type"] == "float"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("policies", "ariadn"), "Did you mean 'ariadne'?"),
        (("settings", "random"), "unknown baseline to train 'random'"),
        (("presets", "stma"), "expected one of environments, memories, policies"),
    ],
)
def test_a_mistake_of_list_is_one_line(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["list", *words])
    assert end.value.code == 2
    assert message in capsys.readouterr().err


def test_the_nearest_docstring_counts() -> None:
    gata, drrn = (
        {setting.name: setting for setting in list_settings(LEARNERS[name].settings_class)}
        for name in ("gata", "drrn")
    )
    assert gata["dim"].help.text.startswith("Size of an encoding; half of DRRN's")
    assert gata["batch"] == drrn["batch"]
    assert gata["facts"].help.text.startswith("Use of recalled facts")


@pytest.mark.parametrize(
    ("baseline", "values", "message"),
    [
        ("drrn", {"lr": "abc"}, "lr as a number > 0, got 'abc'"),
        ("drrn", {"lr": True}, "lr as a number > 0, got True"),
        ("drrn", {"lr": 0}, "lr as a number > 0, got 0"),
        ("drrn", {"batch": 0}, "batch as an int >= 1, got 0"),
        ("drrn", {"batch": 1.5}, "batch as an int >= 1, got 1.5"),
        ("drrn", {"capacity": 63}, "capacity as an int >= 64, got 63"),
        ("drrn", {"alpha": 3}, r"alpha as a number in \[0, 1\], got 3"),
        ("drrn", {"words": "never"}, "unknown words 'never': expected one of always, auto"),
        (
            "drrn",
            {"facts": "greedy"},
            "unknown facts 'greedy': expected one of plain, related, rendered",
        ),
        ("drrn", {"facts": "plane"}, "unknown facts 'plane'.*Did you mean 'plain'"),
        ("gata", {"neighbourhood": "maybe"}, "neighbourhood as True or False, got 'maybe'"),
        ("gata", {"tokens": 0}, "tokens as an int >= 1"),
        ("gata", {"gama": 0.9}, "unknown setting 'gama'.*Did you mean 'gamma'"),
        ("a2c", {"n_steps": 0}, "n_steps as an int >= 1"),
        ("bc", {"rl_after": -1}, "rl_after as an int >= 0"),
    ],
)
def test_a_wrong_value_is_named(baseline: str, values: dict[str, Any], message: str) -> None:
    with pytest.raises((InvalidArgumentError, UnknownNameError), match=message):
        make_settings(LEARNERS[baseline].settings_class, values)


def test_command_line_lists_settings(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["list", "settings", "--json"])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    defaults = [(row["name"], row["default"]) for row in rows]
    assert (
        "gamma",
        dict.fromkeys(("drrn", "bc", "a2c", "text", "gata", "ltl-gata"), 0.9),
    ) in defaults
    assert ("teacher", {"bc": "planner"}) in defaults
    assert ("rank", {"lm": 8}) in defaults


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("random",),
            "unknown baseline to train 'random': expected one of a2c, bc, drrn, gata, lm, ltl-gata",
        ),
        (("nothing",), "unknown baseline to train 'nothing': expected one of a2c, bc, drrn"),
        (("drrn", "--set", "lr"), "expected --set name=value, got 'lr'"),
        (("drrn", "--set", "lr=high"), "expected lr as a number > 0, got 'high'"),
        (("drrn", "--device", "tpu"), "expected device as one of cpu"),
    ],
)
def test_a_mistake_of_train_is_one_line(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["train", *words, "-e", "Cooking?level=rl-1"])
    assert end.value.code == 2
    err = capsys.readouterr().err
    assert message in err
    assert len(err.splitlines()) == 1


def test_values_are_read_literally() -> None:
    found = read_settings(["teacher=/my runs/a+b&c=1%20", "lr=1e-4", "neighbourhood=false"])
    assert found == {"teacher": "/my runs/a+b&c=1%20", "lr": 1e-4, "neighbourhood": False}
