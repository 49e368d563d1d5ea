"""Configurations: contents, files, refusals."""

from __future__ import annotations

import dataclasses
import json
import shlex
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from work import guarded

from gym_memory.core.errors import InvalidArgumentError, ResultsError, UnknownNameError
from gym_memory.core.names import Spec
from gym_memory.run import EpisodeResult
from gym_memory.run.config import EpisodeRow, Job, RunConfig, format_seeds, parse_seeds

CONFIG = RunConfig(
    envs=("FakeHouse?split=test&max_steps=9", "FakeHouse"),
    memories=("none", "history?window=5"),
    policies=("random", "walkthrough"),
    seeds=(0, 1, 2, 7),
    protocol="trials?k=2",
    budgets=(300,),
)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 50), min_size=1, unique=True))
def test_seeds_survive_being_written(seeds: list[int]) -> None:
    assert parse_seeds(format_seeds(seeds)) == tuple(seeds)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.text("0123456789:,- ab", max_size=8))
def test_any_text_is_seeds_or_a_clear_error(text: str) -> None:
    try:
        seeds = parse_seeds(text)
    except InvalidArgumentError:
        return
    assert seeds
    assert min(seeds) >= 0


def test_seeds_by_example() -> None:
    assert parse_seeds("0:4") == (0, 1, 2, 3)
    assert parse_seeds("1,2,5") == (1, 2, 5)
    for wrong in ("", "3:3", "-1", "a:b", "1.5", "0:2:3", ","):
        with pytest.raises(InvalidArgumentError, match="expected seeds such as 0:20"):
            parse_seeds(wrong)


def test_a_configuration_survives_json() -> None:
    assert RunConfig.from_json(json.loads(json.dumps(CONFIG.to_json()))) == CONFIG


def test_specs_are_normalised() -> None:
    assert CONFIG.envs[0] == "FakeHouse?max_steps=9&split=test"
    twin = RunConfig(("FakeHouse?max_steps=9&split=test",), ("none",), ("random",), (0,))
    other = RunConfig(("FakeHouse?split=test&max_steps=9",), ("none",), ("random",), (0,))
    assert twin == other


def test_jobs_are_product_and_have_names_of_their_own() -> None:
    jobs = CONFIG.jobs()
    assert len(jobs) == len({job.key for job in jobs}) == 2 * 2 * 2 * 4
    assert len({job.config for job in jobs}) == 8
    assert [job.seed for job in jobs] == sorted(job.seed for job in jobs)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("env", "FakeHouse?split=test"),
        ("memory", "history"),
        ("policy", "walkthrough"),
        ("protocol", "trials"),
        ("budget", 7),
        ("task_id", "x"),
    ],
)
def test_every_setting_of_an_episode_changes_the_hash(field: str, value: Any) -> None:
    values = {"env": "FakeHouse", "memory": "none", "policy": "random", "seed": 0}
    assert Job(**values).config != Job(**{**values, field: value}).config  # type: ignore[arg-type]
    assert Job(**values).config == Job(**{**values, "seed": 1}).config  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"envs": ()}, "at least one of envs"),
        ({"seeds": ()}, "at least one of seeds"),
        ({"seeds": (1, 1)}, "1 is given twice in seeds"),
        ({"seeds": (-1,)}, "seeds as ints >= 0"),
        ({"memories": ("none", "none")}, "'none' is given twice"),
        ({"envs": ("FakeHouse?memory=none",)}, "sets 'memory'"),
        ({"budgets": (-1,)}, "token budget"),
        ({"budgets": ()}, "at least one of budgets"),
        ({"budgets": (5, 5)}, "5 is given twice in budgets"),
        ({"policies": ("?x=1",)}, "the name is empty"),
    ],
)
def test_wrong_configuration_is_refused(change: dict[str, Any], message: str) -> None:
    values: dict[str, Any] = {"envs": ("E",), "memories": ("none",), "policies": ("random",)}
    values["seeds"] = (0,)
    with pytest.raises(InvalidArgumentError, match=message):
        RunConfig(**{**values, **change})


def test_sweep_plays_every_budget_and_one_stays_unchanged() -> None:
    sweep = dataclasses.replace(CONFIG, budgets=(100, 300))
    assert len(sweep.jobs()) == 2 * len(CONFIG.jobs())
    assert {job.key for job in CONFIG.jobs()} < {job.key for job in sweep.jobs()}
    assert len({job.key for job in sweep.jobs()}) == len(sweep.jobs())
    assert CONFIG.to_json()["budget"] == 300
    assert sweep.to_json()["budget"] == [100, 300]
    for config in (CONFIG, sweep):
        assert RunConfig.from_json(json.loads(json.dumps(config.to_json()))) == config
    assert shlex.split(sweep.command("x")).count("--budget") == 2


def test_unknown_protocol_is_refused_at_once() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'trials'"):
        RunConfig(("FakeHouse",), ("none",), ("random",), (0,), protocol="trails")


def test_a_parameter_can_be_added_but_not_contradicted() -> None:
    assert Spec("Cooking").with_parameter("max_steps", 5) == "Cooking?max_steps=5"
    assert Spec("Cooking?max_steps=5").with_parameter("max_steps", 5) == "Cooking?max_steps=5"
    with pytest.raises(InvalidArgumentError, match="already"):
        Spec("Cooking?max_steps=5").with_parameter("max_steps", 6)


def test_command_contains_the_configuration() -> None:
    words = shlex.split(CONFIG.command("results/x y"))
    assert words[:2] == ["gym-memory", "compare"]
    options: dict[str, list[str]] = {}
    for option, value in zip(words[2::2], words[3::2], strict=True):
        options.setdefault(option, []).append(value)
    again = RunConfig(
        tuple(options["--env"]),
        tuple(options["--memory"]),
        tuple(options["--policy"]),
        parse_seeds(options["--seeds"][0]),
        options["--protocol"][0],
        tuple(map(int, options["--budget"])),
    )
    assert again == CONFIG
    assert options["--out"] == ["results/x y"]


results = st.builds(
    EpisodeResult,
    task_id=st.text(max_size=20),
    score=st.floats(-5, 20),
    normalized=st.floats(0, 1),
    success=st.booleans(),
    steps=st.integers(0, 500),
    counters=st.dictionaries(st.text(max_size=5), st.floats(0, 9), max_size=3),
    curve=st.lists(st.tuples(st.integers(0, 500), st.floats(0, 1)), max_size=4).map(tuple),
    failed=st.text(max_size=20),
)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(results, st.integers(0, 9))
def test_a_row_survives_json(result: EpisodeResult, trial: int) -> None:
    row = EpisodeRow(CONFIG.jobs()[3], trial, result)
    again = EpisodeRow.from_json(json.loads(json.dumps(row.to_json())))
    assert again == row
    assert again.key == (result.task_id, *CONFIG.jobs()[3].key, trial)


@pytest.mark.parametrize("record", [{}, [], {"env": "x"}, {"curve": 3}, 7])
def test_other_records_are_refused(record: Any) -> None:
    with pytest.raises(ResultsError, match="expected an episode"):
        EpisodeRow.from_json(record)


@pytest.mark.slow
def test_seeds_beyond_number_are_refused_at_once() -> None:
    def refuse_and_list() -> None:
        for text in ("0:1000000000", "0:600000,1000000:1600000", "0:" + "9" * 40):
            with pytest.raises(InvalidArgumentError, match="at most 1000000 seeds"):
                parse_seeds(text)
        with pytest.raises(InvalidArgumentError, match="199999 is given twice"):
            RunConfig(("E",), ("none",), ("random",), parse_seeds("0:200000,199999"))
        config = RunConfig(("E",), ("none",), ("random",), parse_seeds("0:20000"))
        assert len(config.jobs()) == 20_000

    guarded(refuse_and_list)
