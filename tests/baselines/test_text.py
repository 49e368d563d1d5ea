"""The text baseline: it copies by the same word, learns from a teacher, survives the disk."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from trained import assert_same_training

from gym_memory.baselines.base import make_policy
from gym_memory.baselines.rl.shared.envs import LocalEnvs
from gym_memory.baselines.rl.shared.learner import Experience
from gym_memory.baselines.rl.shared.trainer import Trainer
from gym_memory.baselines.rl.shared.training import TrainSettings
from gym_memory.baselines.rl.text import TextLearner, TextSettings
from gym_memory.cli import main
from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.tensors import read_tensors
from gym_memory.core.training_folder import LAST
from gym_memory.run import rollout
from gym_memory.testing.fake_env import FakeHouse
from gym_memory.train.steps import AdvisedObservation
from gym_memory.wrappers import MemoryObservation

pytestmark = pytest.mark.slow

SMALL = TextSettings(
    dim=16, heads=2, layers=2, vocabulary=256, batch=4, learn_start=8, update_every=2, beta_steps=60
)


def obs(memory: str, *actions: str, advice: str = "", text: str = "A room.") -> Any:
    shown = {"text": text, "task": "", "inventory": "", "memory": memory, "valid_actions": actions}
    return {**shown, "triples": (), "episodes": (), "lessons": (), "advice": advice}


def house(memory: str = "arigraph", split: str = "train") -> Any:
    return MemoryObservation(FakeHouse(split=split, max_steps=25), memory=memory)


def test_reader_copies_unseen_words() -> None:
    """Fry what the memory says, under any name."""
    chance = np.random.default_rng(0)
    made = ["".join(chance.choice(list("abcdefghijklmnop"), 6)) for _ in range(1200)]

    def ask(names: list[str]) -> tuple[Any, str]:
        lines = chance.permutation([f"{names[0]}: needs fire", f"{names[1]}: needs ice"])
        actions = tuple(f"fry {name}" for name in chance.permutation(names))
        return (
            "\n".join(lines),
            *actions,
        ), f"fry {names[0]}"

    learner = TextLearner(dataclasses.replace(SMALL, batch=16))
    for i in range(0, 1000, 2):
        shown, right = ask(made[i : i + 2])
        seen = learner.see(obs(*shown, advice=right), "game")
        learner.observe(0, Experience(seen, seen.label, 0.0, seen, False, False))
        learner.learn()
    hits = 0
    for i in range(1000, 1200, 2):
        shown, right = ask(made[i : i + 2])
        chosen = learner.act([learner.see(obs(*shown))], explore=False)[0]
        hits += shown[1 + chosen] == right
    assert hits >= 95


def test_answer_is_independent_of_the_batch() -> None:
    learner = TextLearner(SMALL)
    one = learner.see(obs("the apple is here", "eat apple", "go east"))
    two = learner.see(obs("", "go west", "go east", "look", text="Another room, with an apple."))
    alone, both = learner.read([one]), learner.read([two, one])
    np.testing.assert_allclose(alone[0].detach(), both[1, :2].detach(), atol=1e-5)


def test_teacher_uses_its_own_memory() -> None:
    """Give a learner without a memory the same labels as one with everything."""
    shown, blind = AdvisedObservation(house()), AdvisedObservation(house("none"))
    rounds = 0
    for seed in range(3):
        one, _ = shown.reset(seed=seed)
        two, _ = blind.reset(seed=seed)
        over = False
        while not over:
            assert one["advice"] == two["advice"]
            assert two["memory"] == ""
            assert one["advice"] in one["valid_actions"]
            one, _, terminated, truncated, _ = shown.step(one["advice"])
            two, *_ = blind.step(two["advice"])
            over, rounds = terminated or truncated, rounds + 1
    assert rounds > 3
    assert one["advice"] == ""


def trainer(folder: Path, steps: int, settings: TextSettings = SMALL) -> Trainer:
    def make(split: str) -> Any:
        return AdvisedObservation(house()) if split == "train" else house(split="valid")

    how = TrainSettings(
        steps=steps, games=3, valid_games=2, envs=3, evaluate_every=60, checkpoint_every=60
    )
    return Trainer(TextLearner(settings), LocalEnvs(make), how, folder, {"env": "FakeHouse"})


@pytest.mark.parametrize("teacher", ["arigraph", ""])
def test_resumed_run_equals_uninterrupted_one_and_plays(tmp_path: Path, teacher: str) -> None:
    settings = dataclasses.replace(SMALL, teacher_memory=teacher, target_every=4, capacity=64)
    curve = trainer(tmp_path / "whole", 150, settings).run()
    trainer(tmp_path / "half", 60, settings).run()
    resumed = trainer(tmp_path / "half", 150, settings)
    resumed.run()
    assert_same_training(tmp_path / "whole", tmp_path / "half")
    assert {"clone_loss" if teacher else "epsilon"} <= curve[-1].keys()
    result = rollout(house(split="test"), make_policy(f"text?checkpoint={tmp_path / 'half'}"), 0)
    assert result.steps > 0
    assert not result.failed


def test_extra_measurement_changes_no_weight(tmp_path: Path) -> None:
    """Meet words of valid games early, at a limit between two measurements."""
    trainer(tmp_path / "whole", 60).run()
    trainer(tmp_path / "half", 24).run()
    trainer(tmp_path / "half", 60).run()
    one, two = (read_tensors(tmp_path / name / LAST)[0] for name in ("whole", "half"))
    assert all(np.array_equal(one[name], two[name]) for name in one)


def test_rewards_alone_teach_a_corridor() -> None:
    """Going on three times wins a point."""
    rl = dataclasses.replace(SMALL, teacher_memory="", lr=5e-3, epsilon_steps=200, target_every=20)
    learner = TextLearner(rl, seed=0)
    rooms = {"hall": ("den", "hall"), "den": ("loft", "hall"), "loft": ("", "hall")}
    here = ["hall", "hall"]

    def look(room: str) -> Any:
        return learner.see(obs("", "advance", "return", text=f"The {room}."), "corridor")

    for _ in range(240):
        seen = [look(room) for room in here]
        for slot, choice in enumerate(learner.act(seen, explore=True)):
            there = rooms[here[slot]][choice]
            won = there == ""
            learner.observe(
                slot,
                Experience(seen[slot], choice, float(won), look(there), won, False),
            )
            here[slot] = there or "hall"
        learner.learn()
    advance, back = learner.read([look(room) for room in rooms]).detach().T
    assert bool((advance > back).all())
    assert learner.act([look("hall")], explore=False) == [0]
    np.testing.assert_allclose(advance, [0.81, 0.9, 1.0], atol=0.2)


def test_learner_without_a_teacher_trains(tmp_path: Path) -> None:
    small = ("dim=16", "n_steps=2", "teacher_memory=")
    words = ["train", "text", "-e", "Cooking?level=rl-1", "-m", "none", "--out", str(tmp_path)]
    words += ["--steps", "16", "--games", "1", "--valid-games", "1", "--valid-max-steps", "2"]
    with pytest.raises(SystemExit) as end:
        main([*words, *(word for setting in small for word in ("--set", setting))])
    assert not end.value.code
    with pytest.raises(InvalidArgumentError, match="expected mode=greedy"):
        make_policy(f"text?checkpoint={tmp_path / LAST}&mode=sample")


def test_minilm_needs_no_vocabulary() -> None:
    from gym_memory.memory.encoders import make_encoder

    try:
        make_encoder("all-MiniLM-L6-v2")
    except Exception as error:
        pytest.skip(f"MiniLM is not at hand: {error}")
    learner = TextLearner(dataclasses.replace(SMALL, words="minilm"))
    table = learner.read([learner.see(obs("an apple", "eat apple", "eat stone"))])
    assert torch.isfinite(table).all()
    assert sum(p.numel() for p in learner.network.parameters()) < 50_000


def test_mistakes_are_named() -> None:
    with pytest.raises(UnknownNameError, match="words"):
        TextSettings(words="glove")
    with pytest.raises(InvalidArgumentError, match="heads"):
        TextSettings(dim=10, heads=4)
