"""The user's callbacks and loggers follow a run, in its process and its workers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gym_memory.cli.show import now_and_then
from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.run.callbacks import CALLBACKS, following
from gym_memory.run.compare import compare
from gym_memory.run.config import RunConfig

ROOT = Path(__file__).parents[2]
CONFIG = RunConfig(("Fetch?level=easy&max_steps=5",), ("none",), ("random",), (0, 1, 2))
HOOKS = """
import json, os
from pathlib import Path
from gym_memory.run.callbacks import Callback

class Mine(Callback):
    def __init__(self, file="log.jsonl"):
        self.file = Path(file)

    def note(self, kind, **values):
        with self.file.open("a") as file:
            file.write(json.dumps({"kind": kind, "process": os.getpid(), **values}) + "\\n")

    def begin(self, config, folder):
        self.note("begin", envs=config["envs"], folder=str(folder))

    def step(self, job, trial, t, info):
        self.note("step", seed=job.seed, t=t, moves=info["moves"])

    def episode(self, row):
        self.note("episode", seed=row.job.seed, score=row.result.score)

    def end(self):
        self.note("end")

class NoCallback:
    pass
"""


@pytest.mark.slow
def test_a_callback_of_a_file_follows_steps_and_episodes(tmp_path: Path) -> None:
    (tmp_path / "hooks.py").write_text(HOOKS)
    words = ["compare", "-e", CONFIG.envs[0], "-m", "none", "-p", "random", "--seeds", "0:3"]
    words += ["--callback", "./hooks.py:Mine?file=out.jsonl", "-w", "2", "--out", "r"]
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-m", "gym_memory", *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    kinds = [entry["kind"] for entry in found]
    assert (kinds[0], kinds[-1]) == ("begin", "end")
    assert kinds.count("begin") == kinds.count("end") == 1, "nothing is left for a second run"
    assert {e["seed"] for e in found if e["kind"] == "episode"} == {0, 1, 2}
    steps = [(e["seed"], e["t"]) for e in found if e["kind"] == "step"]
    assert sorted(steps) == [(seed, t) for seed in (0, 1, 2) for t in range(6)]
    main = {e["process"] for e in found if e["kind"] != "step"}
    assert len(main) == 1
    assert main.isdisjoint(e["process"] for e in found if e["kind"] == "step")
    config = json.loads((tmp_path / "r" / "config.json").read_text())
    assert config["plugins"] == [], "a callback does not change what is played"


def test_a_wrong_callback_is_reported_before_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hooks.py").write_text(HOOKS)
    with pytest.raises(UnknownNameError, match="expected one of mlflow, tensorboard, wandb"):
        compare(CONFIG, "r", callbacks=["tensorbord"])
    with pytest.raises(InvalidArgumentError, match="as a subclass of"):
        compare(CONFIG, "r", callbacks=["./hooks.py:NoCallback"])
    assert not (tmp_path / "r" / "episodes.jsonl").read_bytes()


@pytest.mark.slow
def test_tensorboard_has_each_episode_and_measurement(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra rl")
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    compare(CONFIG, tmp_path, callbacks=["tensorboard"])
    board = events.EventAccumulator(str(tmp_path / "tensorboard"))
    board.Reload()
    steps = board.Scalars("Fetch?level=easy&max_steps=5/none/random/steps")
    assert [(point.step, point.value) for point in steps] == [(1, 5.0), (2, 5.0), (3, 5.0)]
    with following(["tensorboard"], {"set.lr": 0.5}, tmp_path / "train") as (logger,):
        logger.measure({"steps": 40, "valid_score": 0.5, "loss": None})
    board = events.EventAccumulator(str(tmp_path / "train" / "tensorboard"))
    board.Reload()
    (settings,) = board.Tensors("settings/text_summary")
    assert b"| set.lr | 0.5 |" in settings.tensor_proto.string_val[0]
    assert [(point.step, point.value) for point in board.Scalars("valid_score")] == [(40, 0.5)]


@pytest.mark.slow
def test_wandb_offline_has_each_episode(tmp_path: Path) -> None:
    pytest.importorskip("wandb", reason="needs the extra wandb")
    compare(CONFIG, tmp_path, callbacks=["wandb?mode=offline"])
    (file,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    assert file.read_bytes().count(b"none/random/steps") >= 3
    assert b"policies" in file.read_bytes()


@pytest.mark.slow
def test_mlflow_has_each_episode(tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow", reason="needs the extra mlflow")
    compare(CONFIG, tmp_path, callbacks=["mlflow"])
    client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{tmp_path / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("gym-memory")
    (run,) = client.search_runs([experiment.experiment_id])
    assert run.info.status == "FINISHED"
    assert run.info.run_name == tmp_path.name
    assert run.data.params["policies"] == "['random']"
    points = client.get_metric_history(
        run.info.run_id, "Fetch-level-easy-max_steps-5/none/random/steps"
    )
    assert sorted((point.step, point.value) for point in points) == [(1, 5), (2, 5), (3, 5)]


def test_each_logger_says_what_installs_it() -> None:
    assert CALLBACKS.names() == ["mlflow", "tensorboard", "wandb"]


def test_progress_has_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    show = now_and_then(0)
    show("train: 40 of 100 steps")
    now_and_then(100)("never so soon")
    assert capsys.readouterr().err == "train: 40 of 100 steps\n"
