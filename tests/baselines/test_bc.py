"""Behaviour cloning: labels, players, what is learnt, and checkpoints."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from trained import assert_same_training

from gym_memory.baselines.base import make_policy
from gym_memory.baselines.rl.bc import BcLearner, BcSettings
from gym_memory.baselines.rl.shared.envs import LocalEnvs
from gym_memory.baselines.rl.shared.teachers import PlannerTeacher, RecordedTeacher, TeacherAdvice
from gym_memory.baselines.rl.shared.trainer import Trainer
from gym_memory.baselines.rl.shared.training import TrainSettings
from gym_memory.baselines.scripted import Walkthrough
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.training_folder import LAST
from gym_memory.run import rollout
from gym_memory.testing.fake_env import FakeHouse
from gym_memory.wrappers import MemoryObservation, RecordTrajectory

pytestmark = pytest.mark.slow

TINY = BcSettings(
    dim=16,
    hidden=16,
    vocabulary=1024,
    batch=16,
    capacity=256,
    learn_start=20,
    lr=5e-3,
    beta_steps=0,
)
SHORT = TrainSettings(
    steps=240, games=4, valid_games=2, envs=2, evaluate_every=120, checkpoint_every=120
)


def make_env(split: str) -> Any:
    return MemoryObservation(FakeHouse(split=split, max_steps=25), memory="arigraph")


def train(folder: Path, settings: BcSettings, **changes: Any) -> Trainer:
    how = dataclasses.replace(SHORT, **changes)
    learner = BcLearner(settings, seed=0)
    trainer = Trainer(learner, LocalEnvs(make_env), how, folder, {"env": "FakeHouse"})
    trainer.run()
    return trainer


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the walkthrough of the first four training games."""
    path = tmp_path_factory.mktemp("recorded") / "games.jsonl.gz"
    env = RecordTrajectory(make_env("train"), str(path))
    for seed in range(4):
        assert rollout(env, Walkthrough(), seed=seed).success
    env.close()
    return path


def test_recorded_episodes_are_cloned_and_played(recorded: Path, tmp_path: Path) -> None:
    trainer = train(tmp_path / "run", dataclasses.replace(TINY, teacher=str(recorded.parent)))
    assert trainer.curve[-1]["train_score"] == 1.0
    # In two of eight steps nothing tells one unexplored way from the next.
    assert trainer.curve[-1]["agreed"] >= 0.6
    # Off the recorded course it was taught nothing, so the food is found but may not be placed.
    policy = make_policy(f"bc?checkpoint={tmp_path / 'run' / LAST}")
    assert rollout(make_env("train"), policy, seed=0).score >= 1


def test_record_labels_only_its_own_states(recorded: Path) -> None:
    teacher, env = RecordedTeacher(recorded), make_env("train")
    obs, info = env.reset(seed=0)
    course = info["task_id"]
    first = teacher.advise(obs, course, None, "")
    second = teacher.advise(obs, course, first, first.action)
    assert [first.action, second.action] == ["open wooden door", "go east"]
    lost = teacher.advise(obs, course, first, "look")
    assert lost == TeacherAdvice("") == teacher.advise(obs, course, lost, "open wooden door")
    assert teacher.advise(obs, "another game", None, "").action == ""


def test_missing_record_is_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="teacher"):
        RecordedTeacher(tmp_path)


def test_planner_labels_states_that_the_learner_visits() -> None:
    """Label a state in the same way after any history, including wrong turns."""
    one, two = PlannerTeacher("textworld"), PlannerTeacher("textworld")
    env = make_env("train")
    obs, info = env.reset(seed=1)
    before = one.advise(obs, info["task_id"], None, "")
    assert before.action in obs["valid_actions"]
    obs, *_ = env.step("look")
    other = two.advise(obs, info["task_id"], before, "look")
    assert one.advise(obs, info["task_id"], before, "look") == other
    assert other.action in obs["valid_actions"]


def test_share_of_the_teacher_falls() -> None:
    learner = BcLearner(dataclasses.replace(TINY, beta_steps=100, rl_after=50))
    shares = []
    for steps in (0, 25, 49, 50):
        learner.steps = steps
        shares.append(learner.beta)
    assert shares == pytest.approx([1.0, 0.75, 0.51, 0.0])
    assert learner.reinforces


def test_evaluation_makes_no_requests() -> None:
    learner = BcLearner(dataclasses.replace(TINY, teacher="there is no such file"))
    obs, info = make_env("valid").reset(seed=0)
    assert learner.act([learner.see(obs)], explore=False)[0] < len(obs["valid_actions"])
    with pytest.raises(InvalidArgumentError, match="teacher"):
        learner.see(obs, info["task_id"])


def test_an_update_without_a_label_changes_nothing() -> None:
    learner = BcLearner(TINY)
    assert [learner.update(), learner.update()] == [{"updates": 1.0}, {"updates": 2.0}]


def test_rl_continues_from_the_clone_after_interruption(tmp_path: Path) -> None:
    settings = dataclasses.replace(TINY, beta_steps=100, rl_after=140, clone_every=2)
    whole = train(tmp_path / "whole", settings)
    assert "loss" in whole.curve[-1]
    assert "loss" not in whole.curve[0]
    train(tmp_path / "half", settings, steps=120)
    train(tmp_path / "half", settings)
    assert_same_training(tmp_path / "whole", tmp_path / "half")
