"""DRRN: targets against their definition, seeded exploration, a learnt game."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch

from gym_memory.baselines.rl.drrn import DrrnLearner, DrrnSettings
from gym_memory.baselines.rl.shared.bags import ObservationBags
from gym_memory.baselines.rl.shared.learner import Experience
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Triple

pytestmark = pytest.mark.slow

SMALL = DrrnSettings(
    dim=8,
    hidden=8,
    vocabulary=64,
    batch=16,
    capacity=256,
    learn_start=16,
    n_steps=1,
)


def obs(place: str, *actions: str) -> Any:
    empty = {
        "text": place,
        "task": "",
        "inventory": "",
        "memory": "",
        "episodes": (),
        "lessons": (),
    }
    facts = (Triple("you", "is in", place), Triple(place, "is", place))
    return {**empty, "triples": facts, "valid_actions": actions}


def values(learner: DrrnLearner, seen: ObservationBags) -> Any:
    """Return Q of every action, by one plain batch."""
    found = []
    for bag in seen.bags[1:]:
        pair = [seen.bags[0], bag]
        with torch.no_grad():
            found.append(float(learner.online(pair, np.array([0]), np.array([1]))))
    return np.array(found)


def corridor(learner: DrrnLearner, episodes: int, rng: np.random.Generator) -> None:
    """Learn rooms a, b, c: going on from c wins a point, going back leads to a."""
    rooms = {"a": ("b", "a"), "b": ("c", "a"), "c": ("", "a")}
    for _ in range(episodes):
        here, before, choice = "a", None, -1
        for step in range(8):
            seen = learner.see(obs(here, "advance", "return"), "corridor", before, choice)
            choice = int(rng.integers(2))
            there = rooms[here][choice]
            won = there == ""
            after = obs("end") if won else obs(there, "advance", "return")
            later = learner.see(after, "corridor", seen, choice)
            learner.observe(0, Experience(seen, choice, float(won), later, won, step == 7))
            learner.learn()
            if won:
                break
            here, before = there, seen


def test_drrn_learns_the_values_of_a_corridor() -> None:
    learner = DrrnLearner(
        dataclasses.replace(SMALL, lr=5e-3, update_every=1, target_every=20), seed=0
    )
    corridor(learner, 100, np.random.default_rng(0))
    for steps_left, room in enumerate("cba"):
        found = values(learner, learner.see(obs(room, "advance", "return")))
        assert found[0] == pytest.approx(0.9**steps_left, abs=0.1)
        assert found[1] == pytest.approx(0.9**3, abs=0.12)


def test_batch_gives_the_same_actions_as_single_steps() -> None:
    learner = DrrnLearner(SMALL, seed=0)
    corridor(learner, 20, np.random.default_rng(1))
    seen = [learner.see(obs(room, "advance", "return", "wait")) for room in "abc"]
    together = learner.act(seen, explore=False)
    assert together == [learner.act([one], explore=False)[0] for one in seen]
    assert together == [int(np.argmax(values(learner, one))) for one in seen]


def test_double_dqn_targets() -> None:
    """The online network chooses the next action, the target network values it."""
    learner = DrrnLearner(SMALL, seed=3)
    corridor(learner, 3, np.random.default_rng(2))
    with torch.no_grad():
        for parameter in learner.target.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=torch.manual_seed(1)) * 0.3)
        for parameter in learner.online.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=torch.manual_seed(2)) * 0.3)
    drawn = learner.replay.draw(12, 0.4, np.random.default_rng(0)).transitions
    found = learner.next_values(drawn)
    for number, stored in enumerate(drawn):
        if stored.next_obs is None:
            assert found[number] == 0
            continue
        pairs, (places,) = learner.bags.distinct(stored.next_obs)
        state, index = np.repeat(places[:1], len(places) - 1), places[1:]
        with torch.no_grad():
            online = learner.online(pairs, state, index)
            target = learner.target(pairs, state, index)
        assert found[number] == pytest.approx(float(target[int(online.argmax())]), abs=1e-5)


def test_exploration_is_seeded_and_decreases() -> None:
    def play(seed: int) -> list[list[int]]:
        learner = DrrnLearner(SMALL, seed=seed)
        seen = [learner.see(obs("a", "x", "y", "z"))]
        return [learner.act(seen, explore=True) for _ in range(40)]

    assert play(0) == play(0) != play(1)
    learner = DrrnLearner(dataclasses.replace(SMALL, epsilon_steps=10, epsilon_end=0.0))
    assert learner.epsilon == 1.0
    corridor(learner, 3, np.random.default_rng(0))
    assert learner.epsilon == 0.0


def test_overwritten_transitions_are_forgotten() -> None:
    learner = DrrnLearner(dataclasses.replace(SMALL, capacity=32, n_steps=3), seed=0)
    for number in range(320):
        seen = learner.see(obs(f"room {number}", "x", f"y{number}"), "game")
        later = learner.see(obs(f"room {number + 1}", "x", f"y{number + 1}"), "game")
        learner.observe(0, Experience(seen, 1, 1.0, later, False, False))
    assert len(learner.bags) <= 3 * (2 * 32 + 4)
    drawn = learner.replay.draw(16, 0.4, np.random.default_rng(0)).transitions
    assert learner.next_values(drawn).shape == (16,)
    assert all(len(stored.obs) == 3 for stored in drawn)


def test_the_global_random_state_is_left_alone() -> None:
    before = torch.random.get_rng_state().clone(), np.random.get_state()[1].tolist()
    corridor(DrrnLearner(SMALL, seed=5), 5, np.random.default_rng(0))
    assert torch.equal(before[0], torch.random.get_rng_state())
    assert before[1] == np.random.get_state()[1].tolist()


@pytest.mark.parametrize("device", ["cuda:99", "gpu"])
def test_missing_device_is_reported(device: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"expected device as one of cpu.*{device}"):
        DrrnLearner(SMALL, device=device)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_cuda_and_cpu_learn_the_same() -> None:
    found = []
    for device in ("cpu", "cuda"):
        learner = DrrnLearner(SMALL, seed=0, device=device)
        corridor(learner, 20, np.random.default_rng(1))
        found.append({k: v.cpu().numpy() for k, v in learner.weights()[0].items()})
    for name, tensor in found[0].items():
        np.testing.assert_allclose(tensor, found[1][name], atol=1e-3)
