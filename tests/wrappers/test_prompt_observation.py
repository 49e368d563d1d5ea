"""The prompt: its parts, their order, and omissions."""

from __future__ import annotations

import gymnasium as gym
import pytest

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.testing.fake_env import FAKE_ID, RAW_ID
from gym_memory.wrappers import PromptObservation
from gym_memory.wrappers.encode import INSTRUCTIONS, render_prompt

OBS = {
    "text": "You are in a hall.\n",
    "task": "Find the key.",
    "inventory": "You are carrying: a lamp.",
    "valid_actions": ("go east", "go west", "look"),
    "memory": "key, is in, chest",
}


def test_whole_template() -> None:
    assert render_prompt(OBS) == (
        f"{INSTRUCTIONS}\n\n"
        "## Task\nFind the key.\n\n"
        "## What you remember\nkey, is in, chest\n\n"
        "## What you carry\nYou are carrying: a lamp.\n\n"
        "## What you see now\nYou are in a hall.\n\n"
        "## What you can do\n- go east\n- go west\n- look"
    )


def test_empty_parts_are_left_out() -> None:
    empty = {"text": "Dark.", "task": "", "inventory": " \n", "valid_actions": ()}
    assert render_prompt(empty, "") == "## What you see now\nDark."


@pytest.mark.parametrize(("limit", "listed"), [(None, 3), (3, 3), (2, 2), (1, 1), (0, 0)])
def test_prompt_counts_unlisted_actions(limit: int | None, listed: int) -> None:
    prompt = render_prompt(OBS, max_actions=limit)
    assert prompt.count("\n- ") == listed
    assert (f"({3 - listed} more are not listed)" in prompt) == (0 < listed < 3)


def test_beginning_stays_same_so_that_it_can_be_cached() -> None:
    env = PromptObservation(gym.make(FAKE_ID, memory="history", budget=5000))
    first, _ = env.reset(seed=0)
    first, *_ = env.step("open wooden door")
    second, *_ = env.step("go east")
    same = next(i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    # Everything up to the end of the remembered transcript is common to both.
    assert first.index("> open wooden door") < same
    assert first[:same] == second[:same]


def test_observation_is_text_and_actions_stay_text() -> None:
    env = PromptObservation(gym.make(FAKE_ID, memory="history"), max_actions=2)
    obs, info = env.reset(seed=0)
    assert isinstance(obs, str)
    assert obs in env.observation_space
    assert "more are not listed" in obs
    assert info["task_id"] == "fakehouse/train/0"
    obs, *_ = env.step("go north")
    assert "-= Study =-" in obs


def test_prompt_needs_no_memory() -> None:
    obs, _ = PromptObservation(gym.make(RAW_ID)).reset(seed=0)
    assert "What you remember" not in obs


def test_restore() -> None:
    env = PromptObservation(gym.make(FAKE_ID, memory="history"))
    obs, _ = env.reset(seed=0)
    snapshot = env.get_wrapper_attr("snapshot")()
    env.step("go north")
    assert env.restore(snapshot)[0] == obs


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"instructions": None}, "expected instructions as text, got None"),
        ({"max_actions": -1}, "expected max_actions as an int >= 0, got -1"),
        ({"max_actions": True}, "expected max_actions as an int >= 0, got True"),
    ],
)
def test_bad_arguments_are_refused(kwargs: dict, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        PromptObservation(gym.make(RAW_ID), **kwargs)
