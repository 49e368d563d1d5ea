"""Acting by number: masks, dropped actions and their report, odd numbers."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.testing.fake_env import FAKE_ID, RAW_ID
from gym_memory.wrappers import IndexActions
from gym_memory.wrappers.actions import keep_evenly


def make(max_actions: int = 16, **kwargs: Any) -> IndexActions:
    return IndexActions(gym.make(FAKE_ID, memory="history", **kwargs), max_actions)


def test_number_plays_its_action() -> None:
    env = make()
    obs, info = env.reset(seed=0)
    n = len(obs["valid_actions"])
    assert info["n_valid"] == n
    assert info["n_valid_dropped"] == 0
    assert info["action_mask"].dtype == np.int8
    assert info["action_mask"].tolist() == [1] * n + [0] * (16 - n)
    assert env.action_masks().dtype == np.bool_
    assert env.action_masks().tolist() == info["action_mask"].astype(bool).tolist()
    index = obs["valid_actions"].index("go north")
    assert env.action_text(index) == "go north"
    for kind in (int, np.int64, np.int32, np.array):
        env.reset(seed=0)
        obs, _, _, _, info = env.step(kind(index))
        assert obs["text"].startswith("-= Study =-")
        assert info["is_action_valid"]


def test_wins_by_number() -> None:
    env = make()
    obs, info = env.reset(seed=0)
    for action in env.get_wrapper_attr("oracle")().walkthrough:
        obs, _, terminated, _, info = env.step(obs["valid_actions"].index(action))
    assert terminated
    assert info["success"]


def test_mask_is_never_all_false() -> None:
    env = make()
    assert env.action_masks().any()
    obs, info = env.reset(seed=0)
    for action in env.get_wrapper_attr("oracle")().walkthrough:
        obs, _, terminated, _, info = env.step(obs["valid_actions"].index(action))
    assert terminated
    assert info["n_valid"] == 0
    assert obs["valid_actions"] == ("look",)
    assert info["action_mask"].tolist() == [1] + [0] * 15
    with pytest.raises(ResetNeeded):
        env.step(0)


def test_number_without_an_action_is_an_invalid_step() -> None:
    env = make()
    before, info = env.reset(seed=0)
    obs, reward, terminated, truncated, info = env.step(15)
    assert not info["is_action_valid"]
    assert (info["n_invalid"], info["moves"]) == (1, 1)
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert obs["valid_actions"] == before["valid_actions"]


@pytest.mark.parametrize("action", [-1, 16, 10**12, 1.0, True, "go east", None, np.array([1])])
def test_action_that_is_not_a_number_is_refused(action: object) -> None:
    env = make()
    env.reset(seed=0)
    with pytest.raises(InvalidArgumentError, match=r"expected an action as an int in \[0, 16\)"):
        env.step(action)  # type: ignore[arg-type]


def test_dropped_actions_are_reported() -> None:
    whole, _ = gym.make(FAKE_ID, memory="history").reset(seed=0)
    env = make(4)
    obs, info = env.reset(seed=0)
    n = len(whole["valid_actions"])
    assert obs["valid_actions"] == keep_evenly(whole["valid_actions"], 4)
    assert (info["n_valid"], info["n_valid_dropped"]) == (n, n - 4)
    assert info["action_mask"].tolist() == [1] * 4
    assert obs in env.observation_space


def test_wrapper_lists_actions_that_environment_does_not() -> None:
    shown, _ = make().reset(seed=0)
    obs, info = make(valid_actions=False).reset(seed=0)
    assert obs["valid_actions"] == shown["valid_actions"]
    assert info["n_valid"] == len(shown["valid_actions"])


def test_sampling_with_the_mask_is_always_valid() -> None:
    env = make()
    env.action_space.seed(0)
    _, info = env.reset(seed=0)
    for _ in range(40):
        _, _, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
        assert info["is_action_valid"]
        if terminated or truncated:
            _, info = env.reset()


def test_restore_numbers_the_restored_state() -> None:
    env = make()
    obs, _ = env.reset(seed=0)
    snapshot = env.get_wrapper_attr("snapshot")()
    env.step(obs["valid_actions"].index("go north"))
    assert env.action_text(0) != obs["valid_actions"][0] or len(obs["valid_actions"]) != sum(
        env.action_masks()
    )
    again, info = env.restore(snapshot)
    assert again == obs
    assert env.action_text(1) == obs["valid_actions"][1]
    assert info["action_mask"].sum() == len(obs["valid_actions"])


@pytest.mark.parametrize("max_actions", [0, -3, 2.0, True, "many"])
def test_bad_max_actions_are_refused(max_actions: object) -> None:
    with pytest.raises(InvalidArgumentError, match="expected max_actions as an int >= 1, got"):
        IndexActions(gym.make(RAW_ID), max_actions)  # type: ignore[arg-type]


def test_bad_no_op_and_double_wrap() -> None:
    with pytest.raises(InvalidArgumentError, match="expected no_op as text, got 0"):
        IndexActions(gym.make(RAW_ID), 3, 0)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="only once"):
        IndexActions(make(), 3)  # type: ignore[arg-type]


@settings(derandomize=True, max_examples=80, deadline=None)
@given(n=st.integers(0, 60), limit=st.integers(1, 60))
def test_keep_evenly(n: int, limit: int) -> None:
    kept = keep_evenly(range(n), limit)
    assert len(kept) == min(n, limit)
    assert list(kept) == sorted(set(kept))
    if n > limit:
        gaps = {b - a for a, b in zip(kept, [*kept[1:], n], strict=True)}
        assert max(gaps) - min(gaps) <= 1
