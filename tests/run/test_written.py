"""Written values are read back equal; unreadable ones are refused before writing."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from work import calls

from gym_memory.core.errors import InvalidArgumentError, ResultsError
from gym_memory.core.files import seal, unseal
from gym_memory.core.trajectory import read_rows, read_trajectory
from gym_memory.memory.stores.store import Store, exported_records
from gym_memory.run import EpisodeResult
from gym_memory.run.config import EpisodeRow, Job, RunConfig
from gym_memory.run.play import play_job
from gym_memory.run.results import ResultsFolder, read_episodes
from gym_memory.run.results.verify import verify
from gym_memory.wrappers import make_env

TEXT = st.text(max_size=20)
NUMBERS = st.floats() | st.integers() | st.sampled_from([10**400, -(10**400), 10**5000, 1e200])


def results_of(numbers: st.SearchStrategy[Any], counts: st.SearchStrategy[int]) -> Any:
    """Return results with these numbers and counts."""
    kinds = {str: TEXT, int: counts, float: numbers, bool: st.booleans()}
    fields = dataclasses.fields(EpisodeResult)
    return st.builds(
        EpisodeResult,
        counters=st.dictionaries(TEXT, numbers, max_size=3),
        curve=st.lists(st.tuples(counts, numbers), max_size=3).map(tuple),
        **{f.name: kinds[type(f.default)] for f in fields if type(f.default) in kinds},
    )


RESULTS = results_of(st.floats(0, 1), st.integers(0, 10**9)) | results_of(NUMBERS, st.integers())
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@given(result=RESULTS)
@settings(max_examples=300)
def test_an_episode_is_read_back_or_refused(
    result: EpisodeResult, tmp_path_factory: pytest.TempPathFactory
) -> None:
    config = RunConfig(("E",), ("none",), ("random",), (0,))
    row = EpisodeRow(config.jobs()[0], 0, result)
    path = tmp_path_factory.mktemp("run")
    with ResultsFolder(path, config) as folder:
        try:
            folder.append([row])
        except ResultsError:
            assert (path / "episodes.jsonl").read_bytes() == b""
            return
    assert read_episodes(path) == [(row,)]
    assert not [f for f in verify(path) if f.state == "damaged" and f.part == "episodes.jsonl"]


@pytest.mark.slow
@given(value=VALUES)
def test_record_of_a_store_is_read_back_or_refused(
    value: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("store")
    store = Store(path / "s.db")
    try:
        store.add("m", "k", "x", value)
    except InvalidArgumentError:
        assert store.records() == []
        return
    ((*_, found),) = store.records()
    assert found == value
    store.export_jsonl(path / "out.jsonl")
    again = Store(path / "again.db")
    again.import_records(exported_records(path / "out.jsonl"))
    assert again.records() == store.records()


@pytest.mark.slow
@given(record=st.dictionaries(TEXT, VALUES, min_size=1, max_size=3))
def test_a_sealed_record_is_read_back(record: dict[str, Any]) -> None:
    try:
        text = json.dumps(record, allow_nan=False)
    except ValueError:
        return
    assert unseal(seal(text)) == json.loads(text)
    assert unseal(seal(json.dumps(record, indent=2)) + b"\n") == json.loads(text)


ODD: dict[str, Any] = {
    "nan": math.nan, "inf": math.inf, "huge": 10**400, "large": 1e200, "complex": 1j, "none": None,
    "text": "one", "list": [1.0],
}  # fmt: skip


class OddHouse:
    """A world of one room; at its third step one value is not what it should be."""

    def __init__(self, part: str, value: str):
        self._part, self._value, self._t = part, ODD.get(value, value), 0

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        self._t = 0
        return "You are in the hall.", {"valid_actions": ["wait"]}

    def step(self, action: str) -> tuple[Any, ...]:
        self._t += 1
        odd = {self._part: self._value} if self._t == 3 else {}
        info = {"valid_actions": ["wait"], "score": 0.0, "max_score": 9.0}
        ended = odd.pop("terminated", self._t >= 5)
        reward = odd.pop("reward", 0.0)
        return "You are in the hall.", reward, ended, odd.pop("truncated", False), {**info, **odd}


@pytest.mark.parametrize(
    ("part", "value"),
    [("reward", "none")]
    + [(part, v) for part in ("reward", "score", "max_score") for v in ODD if v != "none"],
)
def test_an_odd_number_fails_the_episode_in_one_line(part: str, value: str, tmp_path: Path) -> None:
    played(part, value, tmp_path, f"expected {part} as a number from -1e+100 to 1e+100")


@pytest.mark.parametrize("value", ["no", "none", "nan"])
@pytest.mark.parametrize("part", ["terminated", "truncated"])
def test_ending_that_is_not_a_flag_fails_the_episode(part: str, value: str, tmp_path: Path) -> None:
    played(part, value, tmp_path, f"expected {part} as True or False")


class Crossroads(OddHouse):
    """A world with very many valid actions."""

    def step(self, action: str) -> tuple[Any, ...]:
        text, reward, ended, cut, info = super().step(action)
        return text, reward, ended, cut, {**info, "valid_actions": [f"go {n}" for n in WAYS]}


WAYS = range(300_000)


@pytest.mark.slow
def test_very_many_actions_do_not_stop_a_run() -> None:
    env = make_env("Foreign", memory="history", entry=f"{__name__}:Crossroads", part="", value="")
    env.reset(seed=0)
    obs = env.step("wait")[0]
    assert len(obs["valid_actions"]) == len(WAYS)
    assert calls(lambda: env.step("go 5")) < 4 * len(WAYS)
    env.close()


def played(part: str, value: str, folder: Path, says: str) -> None:
    """Play an odd world; its episode fails, and what was recorded before can be read."""
    job = Job(
        f"Foreign?entry={__name__}:OddHouse&part={part}&value={value}", "arigraph", "random", 0
    )
    (row,) = play_job(job, record=str(folder / "steps.jsonl.gz"))
    assert row.result.failed.startswith(f"InvalidArgumentError: {says}, got ")
    assert "\n" not in row.result.failed
    assert [step["t"] for step in read_rows(folder / "steps.jsonl.gz")] == [0, 1, 2]
    (trajectory,) = read_trajectory(folder / "steps.jsonl.gz")
    assert not trajectory.finished
