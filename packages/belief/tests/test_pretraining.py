"""Pretraining the memory ``belief`` on the fake house: learning, resuming, and reports."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from gym_memory.cli import main
from gym_memory.core.errors import CheckpointError, InvalidArgumentError
from gym_memory.core.records import Step
from gym_memory.core.trajectory import read_trajectory
from gym_memory_belief.corpus import Episode, common_words, play, prepare, read_corpus
from gym_memory_belief.memory import Belief
from gym_memory_belief.pretrain import Pretrainer, PretrainSettings
from gym_memory_belief.weights import load_weights

SIZES = {"relations": 4, "rows": 256, "dim": 8, "hidden": 8}
TINY = PretrainSettings(
    rounds=4, batch=4, window=6, candidates=4, words=8, measure_every=2, **SIZES
)
ENV = "FakeHouse?max_steps=16"


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("corpus")
    return play(folder, [ENV], ["random"], range(8))


@pytest.fixture(scope="module")
def corpus(recordings: list[Path]) -> list[Episode]:
    return read_corpus(recordings, nodes=64)


@pytest.fixture(scope="module")
def unseen(tmp_path_factory: pytest.TempPathFactory) -> list[Episode]:
    folder = tmp_path_factory.mktemp("unseen")
    return read_corpus(play(folder, [f"{ENV}&split=test"], ["random"], range(4)), nodes=64)


def pretrainer(
    corpus: list[Episode], unseen: list[Episode], folder: Path, **changes: Any
) -> Pretrainer:
    return Pretrainer(corpus, unseen, dataclasses.replace(TINY, **changes), folder, {"env": ENV})


# ---------------------------------------------------------------- the corpus


def test_recorded_episodes_are_not_played_again(recordings: list[Path]) -> None:
    times = [path.stat().st_mtime_ns for path in recordings]
    again = play(recordings[0].parent, [ENV], ["random"], range(8))
    assert again == recordings
    assert [path.stat().st_mtime_ns for path in again] == times


def test_episode_becomes_arrays(corpus: list[Episode]) -> None:
    episode = corpus[0]
    assert episode.names[0] == "you"
    assert {"hall", "kitchen"} & set(episode.names)
    assert list(episode.known) == sorted(episode.known)
    assert episode.known[-1] == len(episode.names)
    assert all(len(s.flags) == n for s, n in zip(episode.sights, episode.known, strict=True))
    hall = episode.names.index("hall")
    assert episode.named[0, hall] == 1


def test_episode_with_too_many_names_is_cut() -> None:
    steps = [Step(t, "", f"take thing{t}") for t in range(9)]
    assert prepare("game", steps, 64).names == ("you", *(f"thing{t}" for t in range(9)))
    assert len(prepare("game", steps, 5).known) == 4


def test_words_beside_names_are_counted(corpus: list[Episode]) -> None:
    words = common_words(corpus, 40)
    assert {"closed", "contains", "carrying"} & set(words)
    assert not {"kitchen", "the", "and"} & set(words)


# ---------------------------------------------------------------- learning


def test_numpy_updater_equals_the_torch_updater(
    corpus: list[Episode], recordings: list[Path], tmp_path: Path
) -> None:
    trainer = pretrainer(corpus, corpus[:2], tmp_path, rounds=2)
    trainer.run()
    memory = Belief(str(tmp_path / "belief.safetensors"))
    trajectory = next(read_trajectory(recordings[0]))
    memory.begin(trajectory.task, 0)
    episode = corpus[0]
    nodes = len(episode.names)
    edges = torch.zeros(1, nodes, nodes, TINY.relations)
    table = trainer.updater.table(torch.ones(TINY.rows))
    names = trainer.name_vectors(table, [episode], nodes)
    with torch.no_grad():
        for t, step in enumerate(trajectory.steps):
            memory.observe(step)
            edges = trainer.step(edges, table, names, [episode], t)
            known = episode.known[t]
            assert memory.names == episode.names[:known]
            # Weights and edges are kept as float16.
            assert np.abs(memory.strengths - edges[0, :known, :known].numpy()).max() < 0.02
    assert memory.strengths.max() > 0.05


def test_training_predicts_observations_of_unseen_games(
    corpus: list[Episode], unseen: list[Episode], tmp_path: Path
) -> None:
    trainer = pretrainer(corpus, unseen, tmp_path, rounds=24, measure_every=24)
    before = trainer.measure(unseen)
    (row,) = trainer.run()
    assert row["questions"] == before["questions"] > 20
    assert row["accuracy"] > max(before["accuracy"], row["chance"]) + 0.15


def test_stopped_run_ends_with_weights_of_uninterrupted_one(
    corpus: list[Episode], unseen: list[Episode], tmp_path: Path
) -> None:
    pretrainer(corpus, unseen, tmp_path / "whole").run()
    broken = pretrainer(corpus, unseen, tmp_path / "broken")
    broken.listener = lambda number, row: broken.stop() if number == 3 else None
    broken.run()
    assert broken.round == 3
    resumed = pretrainer(corpus, unseen, tmp_path / "broken")
    curve = resumed.run()
    assert [row["round"] for row in curve] == [2, 4]
    one, two = (load_weights(str(tmp_path / n / "belief.safetensors")) for n in ("whole", "broken"))
    assert one.id == two.id


def test_a_folder_of_another_run_is_refused(
    corpus: list[Episode], unseen: list[Episode], tmp_path: Path
) -> None:
    pretrainer(corpus, unseen, tmp_path, rounds=1).run()
    with pytest.raises(CheckpointError, match="another"):
        pretrainer(corpus, unseen, tmp_path, rounds=1, seed=1).run()


def test_too_few_episodes_are_refused(
    corpus: list[Episode], unseen: list[Episode], tmp_path: Path
) -> None:
    with pytest.raises(InvalidArgumentError, match="batch=4"):
        pretrainer(corpus[:3], unseen, tmp_path)


@pytest.mark.parametrize("wrong", [{"relations": 0}, {"candidates": 1}, {"remember": 2}])
def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError):
        PretrainSettings(**wrong)


# ---------------------------------------------------------------- the command


def test_the_command_verifies_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    words = ["memory", "pretrain", "--out", str(out), "-e", ENV, "-p", "random", "--games", "3"]
    words += ["--held-out", "2", "--rounds", "2", "--set", "batch=2", "--set", "rows=128"]
    words += ["--set", "hidden=8", "--set", "dim=8", "--set", "candidates=3", "--json"]
    texts = []
    for _ in range(2):  # the second one finds all done
        with pytest.raises(SystemExit) as end:
            main(words)
        assert not end.value.code
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]
    *curve, result = [json.loads(line) for line in texts[0].splitlines()]
    assert curve[-1]["round"] == 2
    assert result["test"]["questions"] > 0
    assert json.loads((out / "result.json").read_text()) == result
    assert Belief(str(out / "belief.safetensors")).weights.sizes.rows == 128
    with pytest.raises(SystemExit) as end:
        main(["memory", "pretrain", "--out", str(out), "-e", "FakeHouse?split=test"])
    assert end.value.code
    assert "without a split" in capsys.readouterr().err
