"""Replay: n-step returns against their definition, draws in proportion, nothing lost on disk."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.baselines.rl.drrn import NStep, Replay, StoredTransition
from gym_memory.baselines.rl.shared.learner import Experience
from gym_memory.core.errors import InvalidArgumentError

pytestmark = pytest.mark.slow


def by_definition(rewards: list[float], n: int, gamma: float, end: str) -> list[StoredTransition]:
    """Return the n-step transitions of one episode as the papers define them.

    Observation t is number t, its action 10 + t. A cut episode ends one step early.
    """
    steps = len(rewards) - (end == "truncated")
    found = []
    for t in range(steps):
        last = min(t + n, steps)
        total = sum(gamma ** (k - t) * rewards[k] for k in range(t, last))
        over = end == "terminated" and last == steps
        found.append(
            StoredTransition(
                t, 10 + t, total, None if over else last, 0.0 if over else gamma ** (last - t)
            )
        )
    return found


@given(
    st.lists(st.sampled_from([0.0, 1.0, -1.0, 0.5]), min_size=1, max_size=9),
    st.integers(1, 5),
    st.sampled_from(["terminated", "truncated"]),
)
@settings(max_examples=60)
def test_returns_equal_their_definition(rewards: list[float], n: int, end: str) -> None:
    queue, found = NStep(n, 0.9), []
    for t, reward in enumerate(rewards):
        last = t == len(rewards) - 1
        ends = last and end == "terminated", last and end == "truncated"
        found += queue.add(t, t + 1, Experience(None, 10 + t, reward, None, *ends))
    expected = by_definition(rewards, n, 0.9, end)
    assert [s._replace(reward=0, discount=0) for s in found] == [
        s._replace(reward=0, discount=0) for s in expected
    ]
    np.testing.assert_allclose([s.reward for s in found], [s.reward for s in expected])
    np.testing.assert_allclose([s.discount for s in found], [s.discount for s in expected])
    assert not queue.steps


def filled(count: int, capacity: int = 8, alpha: float = 1.0) -> Replay:
    replay = Replay(capacity, alpha=alpha, epsilon=0.0)
    for number in range(count):
        replay.add(StoredTransition(number, 0, float(number), number + 100, 0.9))
    return replay


def probabilities(replay: Replay) -> Any:
    """Return the chance of each stored transition to be drawn."""
    shares = np.array(replay.state()["shares"])
    return shares / shares.sum()


def test_draws_are_in_proportion_to_priorities() -> None:
    replay = filled(6)
    errors = np.array([1.0, 2.0, 3.0, 4.0, 0.0, 10.0])
    replay.update(np.arange(6), -errors)
    np.testing.assert_allclose(probabilities(replay), errors / 20)
    rng = np.random.default_rng(0)
    drawn = np.concatenate([replay.draw(64, 0.4, rng).places for _ in range(200)])
    share = np.bincount(drawn, minlength=6) / len(drawn)
    np.testing.assert_allclose(share, errors / 20, atol=0.01)


def test_alpha_flattens_and_beta_corrects() -> None:
    replay = filled(4, capacity=4, alpha=0.5)
    replay.update(np.arange(4), np.array([1.0, 4.0, 9.0, 16.0]))
    np.testing.assert_allclose(probabilities(replay), np.array([1, 2, 3, 4]) / 10)
    sample = replay.draw(400, 1.0, np.random.default_rng(0))
    expected = 1 / (4 * probabilities(replay))
    np.testing.assert_allclose(sample.weights, (expected / expected.max())[sample.places])
    assert (replay.draw(8, 0.0, np.random.default_rng(0)).weights == 1).all()


def test_new_ones_take_place_of_oldest_with_largest_priority() -> None:
    replay = filled(4, capacity=4)
    replay.update(np.arange(4), np.array([1.0, 1.0, 1.0, 5.0]))
    replay.add(StoredTransition(77, 3, 0.5, None, 0.0))
    np.testing.assert_allclose(probabilities(replay), np.array([5, 1, 1, 5]) / 12)
    sample = replay.draw(256, 0.4, np.random.default_rng(1))
    assert len(replay) == 4
    newest = {
        drawn for place, drawn in zip(sample.places, sample.transitions, strict=True) if place == 0
    }
    assert newest == {StoredTransition(77, 3, 0.5, None, 0.0)}
    assert [stored.obs for stored in replay.transitions] == [77, 1, 2, 3]


@given(st.lists(st.floats(0, 100), min_size=1, max_size=40), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_only_stored_transitions_are_drawn(errors: list[float], seed: int) -> None:
    replay = Replay(16)
    for number in range(len(errors)):
        replay.add(StoredTransition(number, 0, 0.0, number, 0.9))
    replay.update(np.arange(len(replay)), np.array(errors[: len(replay)]))
    places = replay.draw(32, 0.4, np.random.default_rng(seed)).places
    assert places.min() >= 0
    assert places.max() < len(replay)


def test_state_is_restored_exactly() -> None:
    replay, twin = filled(11), Replay(8, alpha=1.0, epsilon=0.0)
    replay.update(np.arange(8), np.arange(1.0, 9.0))
    twin.load_state(json.loads(json.dumps(replay.state())))
    for _ in range(3):
        one = replay.draw(16, 0.4, np.random.default_rng(2))
        other = twin.draw(16, 0.4, np.random.default_rng(2))
        for left, right in zip(one, other, strict=True):
            np.testing.assert_array_equal(left, right)
        for ring in (replay, twin):
            ring.add(StoredTransition(5, 5, 5.0, 5, 0.5))
    queue = NStep(3, 0.9)
    queue.add(1, 2, Experience(None, 2, 0.5, None, False, False))
    other_queue = NStep(3, 0.9, queue.steps)
    last = Experience(None, 3, 1.0, None, True, False)
    assert queue.add(2, -1, last) == other_queue.add(2, -1, last)


def test_mistakes_are_named() -> None:
    with pytest.raises(InvalidArgumentError, match="capacity"):
        Replay(0)
    with pytest.raises(InvalidArgumentError, match="alpha"):
        Replay(4, alpha=2)
    with pytest.raises(InvalidArgumentError, match="empty"):
        Replay(4).draw(1, 0.4, np.random.default_rng(0))
