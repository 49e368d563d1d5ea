"""``train sb3``: SB3's own loop with the folder, curve and resumption of the other learners."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from gym_memory.core.errors import BackendError, CheckpointError, InvalidArgumentError
from gym_memory.run import rollout
from gym_memory.testing.fake_env import FakeHouse
from gym_memory.wrappers import MemoryObservation

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch", reason="needs the extra rl")
pytest.importorskip("sb3_contrib", reason="needs the extra rl")

from sb3_contrib.common.maskable.evaluation import evaluate_policy as evaluate_masked  # noqa: E402
from stable_baselines3.common.callbacks import BaseCallback, CheckpointCallback  # noqa: E402
from stable_baselines3.common.evaluation import evaluate_policy  # noqa: E402
from stable_baselines3.common.monitor import Monitor  # noqa: E402

from gym_memory.baselines.base import POLICIES  # noqa: E402
from gym_memory.baselines.rl.sb3 import Sb3  # noqa: E402
from gym_memory.baselines.rl.shared.envs import LocalEnvs  # noqa: E402
from gym_memory.baselines.rl.shared.training import TrainSettings  # noqa: E402
from gym_memory.core.tensors import read_tensors  # noqa: E402
from gym_memory.core.training_folder import TRAINING  # noqa: E402
from gym_memory.train.sb3 import Sb3Learner, Sb3Settings, Sb3Trainer  # noqa: E402

SMALL = {"n_steps": 8, "batch_size": 8, "n_epochs": 1, "dim": 8, "hidden": 8, "max_actions": 24}
SHORT: dict[str, Any] = {"games": 3, "valid_games": 2, "envs": 2, "evaluate_every": 16}


def make(split: str) -> Any:
    return MemoryObservation(FakeHouse(max_steps=12), memory="arigraph")


def trainer(folder: Path, steps: int, *callbacks: Any, **settings: Any) -> Sb3Trainer:
    learner = Sb3Learner(Sb3Settings(**{**SMALL, **settings}))
    training = TrainSettings(steps=steps, checkpoint_every=16, **SHORT)
    envs = LocalEnvs(make)
    return Sb3Trainer(learner, envs, training, folder, {"env": "house"}, callbacks=callbacks)


@pytest.mark.parametrize("algorithm", ["maskable_ppo", "ppo"])
def test_training_keeps_curve_and_players_and_resumes(tmp_path: Path, algorithm: str) -> None:
    first = trainer(tmp_path, 32, algorithm=algorithm)
    curve = first.run()
    assert [row["steps"] for row in curve] == [16, 32]
    assert curve[-1]["updates"] == 2.0
    assert isinstance(curve[-1]["loss"], float)
    weights = first.learner.model.policy.state_dict()
    again = trainer(tmp_path, 64, algorithm=algorithm)
    assert [row["steps"] for row in again.run()] == [16, 32, 48, 64]
    assert any(
        not torch.equal(weights[k], v) for k, v in again.learner.model.policy.state_dict().items()
    )
    rows = [json.loads(line) for line in (tmp_path / "curve.jsonl").read_text().splitlines()]
    assert rows == again.curve
    assert rollout(make("valid"), Sb3(str(tmp_path)), seed=0).steps > 0
    with pytest.raises(CheckpointError, match="gamma"):
        trainer(tmp_path, 64, algorithm=algorithm, gamma=0.5).run()


@pytest.mark.parametrize("vector", ["dummy", "subproc"])
def test_stopped_training_ends_like_one_that_went_on(tmp_path: Path, vector: str) -> None:
    first = trainer(tmp_path / "stopped", 64, vector=vector)
    first.listener = lambda steps, row: first.stop() if steps >= 20 else None
    with contextlib.closing(first):
        first.run()
    assert first.steps == first.learner.model.num_timesteps == 32
    for name in ("stopped", "whole"):
        with contextlib.closing(trainer(tmp_path / name, 64)) as run:
            assert run.run()[-1]["steps"] == 64
    (kept, record), (other, whole) = (
        read_tensors(tmp_path / name / TRAINING) for name in ("stopped", "whole")
    )
    assert kept.keys() == other.keys()
    assert all(torch.equal(kept[name], other[name]) for name in other)
    assert record["episodes"] == whole["episodes"]


def test_training_processes_learn_the_same_and_resume(tmp_path: Path) -> None:
    with contextlib.closing(trainer(tmp_path / "processes", 64, vector="subproc")) as run:
        run.listener = lambda steps, row: steps < 20 or _kill(run.learner.model.get_env())
        with pytest.raises(BackendError, match="run the same command again"):
            run.run()
    trainer(tmp_path / "one", 16).run()
    kept, other = (read_tensors(tmp_path / name / TRAINING)[0] for name in ("processes", "one"))
    weights = [name for name in other if name.startswith("weights.")]
    assert all(torch.equal(kept[name], other[name]) for name in weights)
    assert trainer(tmp_path / "processes", 64).run()[-1]["steps"] == 64


def _kill(vector: Any) -> None:
    vector.processes[0].kill()
    vector.processes[0].join()


def test_callbacks_and_evaluation_of_sb3_work(tmp_path: Path) -> None:
    class Counts(BaseCallback):
        def _on_step(self) -> bool:
            seen.append(self.num_timesteps)
            return True

    seen: list[int] = []
    run = trainer(tmp_path / "run", 32, CheckpointCallback(8, str(tmp_path / "sb3")), Counts())
    run.run()
    assert seen == [*range(2, 33, 2)]
    assert len(list((tmp_path / "sb3").glob("*.zip"))) == 2
    model = run.learner.model
    env = Monitor(model.get_env().envs[0])
    assert len(evaluate_policy(model, env, 2, return_episode_rewards=True)[0]) == 2
    mean, _ = evaluate_masked(model, model.get_env(), 2, warn=False)
    assert 0 <= mean <= 1


def test_sb3_is_baseline_to_train_and_refuses_a_cluster(tmp_path: Path) -> None:
    assert POLICIES.get("sb3").learner_class is Sb3Learner  # type: ignore[attr-defined]
    with pytest.raises(InvalidArgumentError, match="without --ray"):
        Sb3Trainer(Sb3Learner(Sb3Settings()), object(), TrainSettings(), tmp_path, {})
