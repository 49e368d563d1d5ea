"""GATA-like: stored graphs, independence of names and batches, learning."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from trained import assert_same_training

from gym_memory.baselines.base import make_policy
from gym_memory.baselines.rl.a2c import scenes_of
from gym_memory.baselines.rl.gata import GataLearner, GataSettings, GraphBags
from gym_memory.baselines.rl.shared.bags import packed
from gym_memory.baselines.rl.shared.envs import LocalEnvs
from gym_memory.baselines.rl.shared.learner import Experience
from gym_memory.baselines.rl.shared.trainer import Trainer
from gym_memory.baselines.rl.shared.training import TrainSettings
from gym_memory.core.records import Triple
from gym_memory.run import rollout
from gym_memory.testing.fake_env import FakeHouse
from gym_memory.wrappers import MemoryObservation

pytestmark = pytest.mark.slow

SMALL = GataSettings(
    dim=8, hidden=8, vocabulary=256, batch=16, capacity=256, learn_start=16, n_steps=1
)


def obs(facts: str, *actions: str, text: str = "") -> Any:
    empty = {"task": "", "inventory": "", "memory": "", "episodes": (), "lessons": ()}
    triples = tuple(Triple(*fact.split(" | ")) for fact in facts.split(", ") if fact)
    return {**empty, "text": text, "triples": triples, "valid_actions": actions}


def kitchen(wanted: str, other: str) -> Any:
    return obs(
        f"you | is in | kitchen, {wanted} | is in | kitchen, {other} | is in | kitchen, "
        f"recipe | requires | {wanted}, {wanted} | needs to be | diced",
        f"take {wanted}",
        f"take {other}",
        text=f"There is a {wanted} and a {other}.",
    )


def values(learner: GataLearner, *seen: Any) -> Any:
    """Return Q of every action of some observations, in one batch."""
    scenes = scenes_of(list(seen))
    with torch.no_grad():
        states = np.repeat(scenes.states, scenes.counts)
        found = learner.online(scenes.bags, states, scenes.actions)
    return found.numpy()


def shaken(settings: GataSettings = SMALL) -> GataLearner:
    """Return a learner that has seen a kitchen, with random weights."""
    learner = GataLearner(settings, seed=1)
    for game in range(8):
        learner.see(kitchen(f"food{game}", f"other{game}"), f"game {game}")
    with torch.no_grad():
        for parameter in learner.online.parameters():
            noise = torch.randn(parameter.shape, generator=torch.Generator().manual_seed(2))
            parameter.add_(0.3 * noise)
    return learner


def test_graphs_are_concatenated() -> None:
    learner = shaken()
    seen = [learner.see(kitchen("leek", "plum")), learner.see(obs("", "wait"))]
    bags = scenes_of(seen).bags
    assert bags == [bag for one in seen for bag in one.bags]
    for graphs in (GraphBags.of([bags[0], bags[3]]), GraphBags.of(bags).take(np.array([0, 3]))):
        # you, kitchen, leek, plum, recipe, diced; then only you.
        assert graphs.nodes.lengths.tolist() == [6, 1]
        assert graphs.nodes.values.tolist() == [*range(6), 0]
        edges = graphs.edges.values.reshape(-1, 2, 3)
        assert edges[:, 0][:, [0, 2]].tolist() == [[0, 1], [2, 1], [3, 1], [4, 2], [2, 5]]
        assert (edges[:, 1][:, [2, 0]] == edges[:, 0][:, [0, 2]]).all()
        assert set(graphs.marks.values[::2].tolist()) == set(range(6))
        assert graphs.words.lengths[1] == 0 < graphs.words.lengths[0]
    assert [bag.nodes for bag in seen[0].bags[1:]] == [packed([2]), packed([3])]


def test_an_observation_survives_a_checkpoint() -> None:
    learner = shaken()
    seen = learner.see(kitchen("leek", "plum"))
    assert learner.unpack(json.loads(json.dumps(learner.pack(seen)))) == seen


@pytest.mark.parametrize("neighbourhood", [True, False])
def test_relations_matter_and_unseen_names_do_not(neighbourhood: bool) -> None:
    learner = shaken(dataclasses.replace(SMALL, neighbourhood=neighbourhood))
    one, two = (
        values(learner, learner.see(kitchen(*names)))
        for names in (("leek", "plum"), ("dragon fruit", "zucchini"))
    )
    np.testing.assert_allclose(one, two, atol=1e-5)
    assert abs(one[0] - one[1]) > 1e-3


def test_message_travels_over_two_edges() -> None:
    learner = shaken(dataclasses.replace(SMALL, neighbourhood=False))
    near = "you | is in | hall, box | is in | hall, bag | is in | hall, pin | is in | box"
    plain, marked = (
        learner.see(obs(f"{near}, {fact}", "open box"))
        for fact in ("pin | is | red", "pin | needs to be | red")
    )
    assert plain.bags[1] == marked.bags[1]
    assert abs(values(learner, plain)[0] - values(learner, marked)[0]) > 1e-4


def test_batch_equals_its_parts() -> None:
    learner = shaken()
    seen = [learner.see(kitchen("leek", "plum")), learner.see(obs("", "wait", "look"))]
    seen.append(learner.see(obs("you | is in | hall", "go north", text="A kitchen is there.")))
    alone = np.concatenate([values(learner, one) for one in seen])
    np.testing.assert_allclose(values(learner, *seen), alone, atol=1e-5)


def test_gata_learns_the_food_that_the_recipe_requires() -> None:
    """By the graph alone: actions have no features of their own but verb and nodes."""
    settings = dataclasses.replace(SMALL, neighbourhood=False, lr=1e-2, update_every=1)
    learner, rng = GataLearner(settings, seed=0), np.random.default_rng(0)
    end = learner.see(obs("", "wait"), "game 0")
    for step in range(200):
        seen = learner.see(kitchen(f"food{step}", f"other{step}"), f"game {step % 20}")
        choice = int(rng.integers(2))
        step_made = Experience(seen, choice, float(choice == 0), end, True, False)
        learner.observe(0, step_made)
        learner.learn()
    found = values(learner, learner.see(kitchen("leek", "plum")))
    assert found == pytest.approx([1.0, 0.0], abs=0.2)


def make_env(split: str) -> Any:
    return MemoryObservation(FakeHouse(split=split, max_steps=25), memory="arigraph")


def train(folder: Path, steps: int) -> None:
    how = TrainSettings(
        steps=steps, games=3, valid_games=1, envs=2, evaluate_every=60, checkpoint_every=60
    )
    learner = GataLearner(dataclasses.replace(SMALL, target_every=5, capacity=64), seed=0)
    Trainer(learner, LocalEnvs(make_env), how, folder, {"env": "FakeHouse"}).run()


def test_interruption_changes_nothing(tmp_path: Path) -> None:
    train(tmp_path / "whole", 120)
    train(tmp_path / "half", 60)
    train(tmp_path / "half", 120)
    assert_same_training(tmp_path / "whole", tmp_path / "half")
    policy = make_policy(f"gata?checkpoint={tmp_path / 'whole'}")
    assert rollout(make_env("valid"), policy, seed=0).steps > 0
