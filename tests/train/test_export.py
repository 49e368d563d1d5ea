"""Recorded steps as Parquet and as a Minari dataset, and back."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gym_memory.cli import app
from gym_memory.core.errors import (
    GymMemoryError,
    InvalidArgumentError,
    ResultsError,
    UnknownNameError,
)
from gym_memory.run.compare import compare
from gym_memory.run.config import RunConfig
from gym_memory.train.export import export
from gym_memory.train.steps import anchor, memory_digest, played, step_rows
from gym_memory.wrappers.encode import render_prompt

pytestmark = pytest.mark.slow

ENV = "Cooking?level=rl-1&max_steps=12&split=train"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("textworld")
    out = tmp_path_factory.mktemp("results") / "played"
    config = RunConfig((ENV,), ("none", "arigraph"), ("random",), (0, 1, 2))
    compare(config, out, workers=1)
    return out


@pytest.fixture(scope="module")
def one_memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("textworld")
    out = tmp_path_factory.mktemp("results") / "one"
    compare(RunConfig((ENV,), ("arigraph",), ("walkthrough",), (0, 1, 2)), out, workers=1)
    return out


def test_rows_have_observations_and_effects(results: Path) -> None:
    rows = list(step_rows(played(results)))
    for episode in played(results):
        job, recorded = episode.job, episode.rows
        own = [r for r in rows if (r["memory"], r["seed"]) == (job.memory, job.seed)]
        env = job.make_env()
        obs, _ = env.reset(seed=job.seed)
        assert [r["t"] for r in own] == list(range(len(own)))
        assert own[0]["return"] == sum(r["reward"] for r in own) == recorded[-1]["score"]
        for row in own:
            assert row["prompt"][-1]["content"] == render_prompt(obs, "", 30)
            assert row["anchor"] == anchor(obs["task"], obs["text"], obs["inventory"])
            assert row["memory_digest"] == memory_digest(obs["memory"])
            obs, reward, terminated, truncated, _ = env.step(row["action"])
            assert (row["reward"], row["done"]) == (reward, terminated or truncated)
        env.close()


def test_anchors_are_equal_where_only_the_memory_differs(results: Path) -> None:
    """Under one seed the same actions are drawn, whatever the memory."""
    rows = list(step_rows(played(results)))
    none, graph = ([r for r in rows if r["memory"] == m] for m in ("none", "arigraph"))
    assert [r["anchor"] for r in none] == [r["anchor"] for r in graph]
    assert {r["memory_digest"] for r in none} == {memory_digest("")}
    assert memory_digest("") not in {r["memory_digest"] for r in graph}


def test_parquet_and_back(results: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    for form in ("stepwise", "chat"):
        where, count = export(results, form, tmp_path / f"{form}.parquet")
        back = datasets.Dataset.from_parquet(where, cache_dir=str(tmp_path / "cache"))
        rows = list(step_rows(played(results), None))
        assert count == len(back) == len(rows) > 0
        assert back["reward"] == [row["reward"] for row in rows]
        if form == "stepwise":
            assert back[1] == rows[1]
        else:
            assert back[1]["messages"][-1] == {"role": "assistant", "content": rows[1]["reply"]}


def test_minari_and_back(one_memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    minari = pytest.importorskip("minari")
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    _, count = export(one_memory, "minari", "gymmemory/cooking-v0")
    dataset = minari.load_dataset("gymmemory/cooking-v0")
    assert dataset.total_episodes == count == 3
    env = dataset.recover_environment()
    won = 0.0
    for episode in dataset.iterate_episodes():
        (known,) = dataset.storage.get_episode_metadata([episode.id])
        shown, _ = env.reset(seed=known["seed"], options=known["options"])
        assert shown == episode.observations[0]
        for t, action in enumerate(episode.actions):
            shown, reward, terminated, truncated, _ = env.step(action)
            assert (shown, reward) == (episode.observations[t + 1], episode.rewards[t])
            assert terminated == episode.terminations[t]
            assert truncated == episode.truncations[t]
            won += reward
    assert won > 0
    env.close()
    with pytest.raises(InvalidArgumentError, match="cannot make the dataset"):
        export(one_memory, "minari", "gymmemory/cooking-v0")


def test_unsupported_export_is_named(results: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="format"):
        export(results, "csv")
    with pytest.raises(ResultsError, match="not a results folder"):
        export(tmp_path)
    pytest.importorskip("minari")
    with pytest.raises(ResultsError, match="one memory"):
        export(results, "minari")
    assert issubclass(ResultsError, GymMemoryError)


def test_cut_recording_is_not_left_out(one_memory: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(one_memory, tmp_path / "cut"))
    path = sorted(folder.glob("steps/*"))[0]
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ResultsError, match=rf"expected episodes of \[6\] steps at .*{path.name}"):
        export(folder)


@pytest.mark.parametrize(
    ("form", "out", "said"),
    [
        ("stepwise", "steps.parquet", "18 rows: "),
        ("chat", "chats.parquet", "18 rows: "),
        ("card", "card.md", "1 card: "),
        ("minari", "gymmemory/cooking-v0", "3 episodes: "),
    ],
)
def test_the_command_verifies_folders(
    form: str,
    out: str,
    said: str,
    one_memory: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if form != "card":
        pytest.importorskip("minari" if form == "minari" else "pyarrow")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    done = CliRunner().invoke(app, ["export", str(one_memory), "--format", form, "--out", out])
    assert done.exit_code == 0, done.output
    assert done.stderr.startswith(said)
    assert Path(done.stderr.strip().partition(": ")[2]).exists()
