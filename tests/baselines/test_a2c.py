"""Actor-critic: returns against their definition, a learnt game, exact checkpoints."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from trained import assert_same_training

from gym_memory.baselines.base import make_policy
from gym_memory.baselines.rl.a2c import A2cLearner, A2cSettings
from gym_memory.baselines.rl.shared.envs import LocalEnvs
from gym_memory.baselines.rl.shared.learner import Experience
from gym_memory.baselines.rl.shared.trainer import Trainer
from gym_memory.baselines.rl.shared.training import TrainSettings
from gym_memory.core.records import Triple
from gym_memory.run import rollout
from gym_memory.testing.fake_env import FakeHouse
from gym_memory.wrappers import MemoryObservation

pytestmark = pytest.mark.slow

SMALL = A2cSettings(dim=8, hidden=8, vocabulary=256, n_steps=4, lr=2e-2)


def obs(place: str, *actions: str) -> Any:
    empty = {"text": "", "task": "", "inventory": "", "memory": "", "episodes": (), "lessons": ()}
    facts = (Triple("you", "is in", place), Triple(place, "is", place))
    return {**empty, "triples": facts, "valid_actions": actions}


def test_returns_equal_their_definition() -> None:
    learner = A2cLearner(SMALL)
    seen = [learner.see(obs(place, "x", "y"), "game") for place in "abcde"]
    for t, (reward, terminated, truncated) in enumerate(
        [(1.0, False, False), (0.5, True, False), (2.0, False, False), (9.0, False, True)]
    ):
        learner.observe(0, Experience(seen[t], 0, reward, seen[t + 1], terminated, truncated))
        learner.observe(1, Experience(seen[t], 0, reward, seen[t + 1], False, False))

    def critic(seen: list[Any]) -> list[float]:
        with torch.no_grad():
            return learner.table(seen).values.tolist()

    returns, counted = learner.rollouts.returns(np.arange(8.0), SMALL.gamma, critic)
    np.testing.assert_allclose(returns[:4], [1 + 0.9 * 0.5, 0.5, 2 + 0.9 * 3.0, 3.0])
    assert counted.tolist() == [True, True, True, False, True, True, True, True]
    with torch.no_grad():
        beyond = float(learner.table([seen[4]]).values[0])
    expected = 9 + 0.9 * beyond
    for reward in (2.0, 0.5, 1.0):
        expected = reward + 0.9 * expected
    assert returns[4] == pytest.approx(expected, abs=1e-6)


def test_actor_critic_learns_a_corridor() -> None:
    """Going on three times wins a point; the untrained policy is uniform."""
    learner = A2cLearner(SMALL, seed=0)
    rooms = {"a": ("b", "a"), "b": ("c", "a"), "c": ("", "a")}
    here = ["a", "a"]
    for _ in range(300):
        seen = [learner.see(obs(room, "advance", "return"), "corridor") for room in here]
        for slot, choice in enumerate(learner.act(seen, explore=True)):
            there = rooms[here[slot]][choice]
            after = learner.see(obs(there, "advance", "return"), "corridor")
            won = there == ""
            learner.observe(slot, Experience(seen[slot], choice, float(won), after, won, False))
            here[slot] = there or "a"
        learner.learn()
    seen = [learner.see(obs(room, "advance", "return")) for room in "abc"]
    chances = torch.softmax(learner.table(seen).logits.detach(), 1)[:, 0]
    assert float(chances.min()) > 0.7
    assert learner.act(seen, explore=False) == [0, 0, 0]


def make_env(split: str) -> Any:
    return MemoryObservation(FakeHouse(split=split, max_steps=25), memory="arigraph")


def train(folder: Path, steps: int) -> Trainer:
    how = TrainSettings(
        steps=steps, games=3, valid_games=1, envs=2, evaluate_every=60, checkpoint_every=50
    )
    learner = A2cLearner(dataclasses.replace(SMALL, n_steps=8), seed=0)
    trainer = Trainer(learner, LocalEnvs(make_env), how, folder, {"env": "FakeHouse"})
    trainer.run()
    return trainer


def test_interruption_during_a_rollout_changes_nothing(tmp_path: Path) -> None:
    whole = train(tmp_path / "whole", 120)
    assert whole.curve[-1]["updates"] == 7
    train(tmp_path / "half", 60)
    train(tmp_path / "half", 120)
    assert_same_training(tmp_path / "whole", tmp_path / "half")
    policy = make_policy(f"a2c?checkpoint={tmp_path / 'whole'}")
    assert rollout(make_env("valid"), policy, seed=0).steps > 0
