"""Text as arrays: stable ids, fixed shapes, rows that match the actions."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.testing.fake_env import FAKE_ID
from gym_memory.wrappers import EncodeText, IndexActions
from gym_memory.wrappers.encode import Encoding, encode_observation, encoded_space, word_id

pytestmark = pytest.mark.slow

SMALL = Encoding(
    vocabulary=1000,
    text=6,
    task=4,
    inventory=3,
    memory=5,
    action=3,
    triple=2,
    max_actions=4,
    max_triples=3,
)
OBS: dict[str, Any] = {
    "text": "-= Hall =-\nYou see a RED apple!",
    "task": "",
    "inventory": "one two three four",
    "memory": "apple, is in, hall",
    "valid_actions": ("go east", "take red apple from the table"),
    "triples": (("red apple", "is in", "hall"),),
    "episodes": ("x",),
    "lessons": (),
}


def ids(*words: str) -> list[int]:
    return [word_id(word, 1000) if word else 0 for word in words]


def test_words_in_their_places() -> None:
    arrays = encode_observation(OBS, SMALL)
    assert {key: array.tolist() for key, array in arrays.items()} == {
        "text": ids("hall", "you", "see", "a", "red", "apple"),
        "task": [0] * 4,
        "inventory": ids("one", "two", "three"),
        "memory": ids("apple", "is", "in", "hall", ""),
        "valid_actions": [ids("go", "east", ""), ids("take", "red", "apple"), [0] * 3, [0] * 3],
        "triples": [
            [ids("red", "apple"), ids("is", "in"), ids("hall", "")],
            [[0] * 2] * 3,
            [[0] * 2] * 3,
        ],
    }
    assert encoded_space(SMALL).contains(arrays)


def test_ids_are_crc32_so_the_same_everywhere(python) -> None:
    assert word_id("apple", 1000) == 1 + crc32(b"apple") % 999
    code = "from gym_memory.wrappers.encode import word_id; print(word_id('apple', 8192))"
    assert {python(code, hashseed=seed) for seed in (1, 2)} == {f"{word_id('apple', 8192)}\n"}


def test_encoding_is_pure() -> None:
    first = encode_observation(OBS, SMALL)
    for array in first.values():
        array += 1  # writable, and no part of a cache
    second = encode_observation(OBS, SMALL)
    assert all((first[key] == second[key] + 1).all() for key in first)


words = st.text(max_size=30)


@settings(derandomize=True, max_examples=30, deadline=None)
@given(
    text=words | st.just("x" * 5000) | st.just("\ud83d \x00 9" * 400),
    actions=st.lists(words, max_size=7),
    triples=st.lists(st.tuples(words, words, words), max_size=5),
    vocabulary=st.sampled_from([2, 3, 1000, 2**24]),
)
def test_any_observation_is_in_the_space(text, actions, triples, vocabulary) -> None:
    encoding = Encoding(vocabulary, 6, 4, 3, 5, 3, 2, 4, 3)
    obs = {
        **OBS,
        **dict.fromkeys(("text", "task", "inventory", "memory"), text),
        "valid_actions": tuple(actions),
        "triples": tuple(triples),
    }
    arrays = encode_observation(obs, encoding)
    space = encoded_space(encoding)
    assert space.contains(arrays)
    for key, array in arrays.items():
        assert array.dtype == np.int32
        # The cast that SB3 makes loses nothing.
        assert (array.astype(np.float32).astype(np.int64) == array).all()
        # Padding comes after words, never between.
        rows = array.reshape(-1, array.shape[-1])
        assert ((rows[:, 1:] == 0) | (rows[:, :-1] != 0)).all(), key


def make(max_actions: int = 12, **sizes: int) -> gym.Env[Any, Any]:
    return EncodeText(IndexActions(gym.make(FAKE_ID, memory="history"), max_actions), **sizes)


def test_rows_match_the_actions_and_the_mask() -> None:
    env = make(action=6)
    obs, info = env.reset(seed=0)
    for _ in range(20):
        rows = obs["valid_actions"]
        assert rows.shape == (12, 6)
        assert (rows.any(axis=1) == info["action_mask"].astype(bool)).all()
        for index in np.flatnonzero(info["action_mask"]):
            words = env.get_wrapper_attr("action_text")(int(index)).split()
            assert rows[index].tolist() == [word_id(w, 8192) for w in words] + [0] * (
                6 - len(words)
            )
        obs, _, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
        if terminated or truncated:
            obs, info = env.reset()


def test_a_key_of_size_0_is_left_out() -> None:
    env = make(memory=0, max_triples=0, task=0)
    assert set(env.observation_space.spaces) == {"text", "inventory", "valid_actions"}
    assert set(env.reset(seed=0)[0]) == {"text", "inventory", "valid_actions"}


def test_restore_encodes_the_restored_state() -> None:
    env = make()
    obs, _ = env.reset(seed=0)
    snapshot = env.get_wrapper_attr("snapshot")()
    env.step(0)
    env.step(1)
    again, _ = env.get_wrapper_attr("restore")(snapshot)
    assert all((again[key] == obs[key]).all() for key in obs)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"vocabulary": 1}, r"expected vocabulary as an int in \[2, 16777216\], got 1"),
        ({"vocabulary": 2**24 + 1}, "expected vocabulary"),
        ({"text": -1}, "expected text as an int >= 0, got -1"),
        ({"triple": 1.5}, "expected triple as an int >= 0, got 1.5"),
        (
            dict.fromkeys(
                ("text", "task", "inventory", "memory", "action", "triple", "max_triples"), 0
            ),
            "expected a size above 0",
        ),
    ],
)
def test_bad_arguments_are_refused(sizes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        make(**sizes)


def test_needs_actions_by_number() -> None:
    with pytest.raises(InvalidArgumentError, match="wrap the environment in IndexActions first"):
        EncodeText(gym.make(FAKE_ID, memory="history"))  # type: ignore[arg-type]
