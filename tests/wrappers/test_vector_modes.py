"""Vector environments play past the ends of games in every autoreset mode; copies play on."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import gym_memory  # noqa: F401  registers the environments
from gym_memory.core.records import PlanState
from gym_memory.wrappers import EncodeText, IndexActions

PAGE = Path(__file__).parents[2] / "docs" / "vector-environments.md"
FETCH = "gym_memory/Fetch-v0"
HOW: dict[str, Any] = {"level": "easy", "memory": "arigraph", "max_steps": 5}


def vector(mode: AutoresetMode, kind: str = "sync", **more: Any) -> Any:
    kwargs = {"autoreset_mode": mode}
    return gym.make_vec(FETCH, 2, kind, vector_kwargs=kwargs, **HOW, **more)


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_next_step_ignores_the_action_after_an_end(kind: str) -> None:
    envs = vector(AutoresetMode.NEXT_STEP, kind)
    first, _ = envs.reset(seed=[3, 4])
    for _ in range(5):
        assert all(first["valid_actions"])
        obs, _, _, truncated, _ = envs.step(tuple(v[0] for v in first["valid_actions"]))
    assert truncated.all()
    assert obs["valid_actions"] == ((), ())
    obs, rewards, terminated, truncated, infos = envs.step(("open the universe", ""))
    assert not rewards.any()
    assert not (terminated | truncated).any()
    assert infos["moves"].tolist() == [0, 0]
    assert infos["n_invalid"].tolist() == [0, 0]
    assert all(obs["valid_actions"])
    envs.close()


def test_same_step_returns_the_next_game() -> None:
    envs = vector(AutoresetMode.SAME_STEP)
    obs, _ = envs.reset(seed=[3, 4])
    for _ in range(5):
        obs, _, _, truncated, infos = envs.step(tuple(v[0] for v in obs["valid_actions"]))
    assert truncated.all()
    assert all(obs["valid_actions"])
    assert [final["valid_actions"] for final in infos["final_obs"]] == [(), ()]
    envs.close()


def test_disabled_waits_for_a_reset() -> None:
    envs = vector(AutoresetMode.DISABLED)
    obs, _ = envs.reset(seed=[3, 4])
    for _ in range(5):
        obs, _, _, truncated, _ = envs.step(tuple(v[0] for v in obs["valid_actions"]))
    obs, infos = envs.reset(options={"reset_mask": truncated})
    assert infos["moves"].tolist() == [0, 0]
    assert all(obs["valid_actions"])
    envs.close()


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_plan_of_each_player_steers_its_recalls(kind: str) -> None:
    envs = vector(AutoresetMode.NEXT_STEP, kind)
    envs.reset(seed=[3, 4])
    envs.set_attr("plan", [PlanState("find the lamp"), "go home"])
    envs.step(("look", "look"))
    assert envs.get_attr("focus") == ("find the lamp", "go home")
    envs.close()


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_masks_play_past_an_end(mode: AutoresetMode) -> None:
    envs = vector(mode, wrappers=[IndexActions, lambda env: EncodeText(env, vocabulary=128)])
    _, infos = envs.reset(seed=[0, 1])
    rng = np.random.default_rng(0)
    ends = 0
    for _ in range(20):
        masks = infos["action_mask"]
        assert masks.any(axis=1).all()
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        _, _, terminated, truncated, infos = envs.step(actions)
        ends += int((terminated | truncated).sum())
    assert ends >= 6
    envs.close()


def stack(**kwargs: Any) -> Any:
    return gym.make(FETCH, level="hard", memory="arigraph", **kwargs)


COPIES = {"deepcopy": copy.deepcopy, "pickle": lambda env: pickle.loads(pickle.dumps(env))}


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("wrap", [lambda env: env, IndexActions], ids=["text", "numbers"])
def test_copy_in_play_continues_like_the_original(
    wrap: Callable[[Any], Any], copied: Callable[[Any], Any]
) -> None:
    env = wrap(stack())
    obs, _ = env.reset(seed=1)
    for n in range(8):
        obs, *_ = env.step(choose(env, obs, n))
    twin = copied(env)
    for n in range(8):
        ours, theirs = (each.step(choose(each, obs, n)) for each in (env, twin))
        assert ours[:4] == theirs[:4]
        obs = ours[0]
    assert env.unwrapped.np_random.integers(1000) == twin.unwrapped.np_random.integers(1000)


def choose(env: Any, obs: dict[str, Any], n: int) -> Any:
    at = n % len(obs["valid_actions"])
    return at if isinstance(env, IndexActions) else obs["valid_actions"][at]


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_copy_before_a_reset_is_as_new(copied: Callable[[Any], Any]) -> None:
    twin = copied(stack())
    assert twin.reset(seed=2)[0] == stack().reset(seed=2)[0]


@pytest.mark.slow
def test_copy_of_an_engine_in_play() -> None:
    pytest.importorskip("textworld")
    env = gym.make("gym_memory/Cooking-v0", level="rl-1", memory="arigraph")
    obs, _ = env.reset(seed=1)
    for n in range(5):
        obs, *_ = env.step(obs["valid_actions"][n])
    for copied in COPIES.values():
        assert (
            copied(env).step(obs["valid_actions"][-1])[0]
            == copied(env).step(obs["valid_actions"][-1])[0]
        )


def test_dropped_actions_warn_once(recwarn: Any) -> None:
    env = IndexActions(stack(), 3)
    env.reset(seed=0)
    for _ in range(3):
        *_, info = env.step(0)
    assert ["leaves out" in str(warning.message) for warning in recwarn] == [True]
    assert info["n_valid_dropped"] > 0


def test_masked_action_is_reported() -> None:
    env = IndexActions(stack())
    assert not env.reset(seed=0)[1]["masked_action"]
    assert env.step(127)[4]["masked_action"]
    assert not env.step(0)[4]["masked_action"]


ROWS = re.findall(r"^\| (\w+), ([\w-]+) \| (\d+) \|$", PAGE.read_text("utf-8"), re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize(("world", "level", "most"), ROWS)
def test_default_offers_every_action_of_the_page(world: str, level: str, most: str) -> None:
    """A player who takes and opens everything has as many as the page says, none dropped."""
    pytest.importorskip("textworld")
    env = IndexActions(gym.make(f"gym_memory/{world}-v0", level=level, memory="none"))
    seen = 0
    for seed in range(10):
        obs, info = env.reset(seed=seed)
        done = False
        while not done:
            valid = obs["valid_actions"]
            wanted = [n for n, a in enumerate(valid) if a.startswith(("take", "open", "unlock"))]
            obs, _, ended, cut, info = env.step((wanted or [info["moves"] % len(valid)])[0])
            seen, done = max(seen, info["n_valid"]), ended or cut
            assert info["n_valid_dropped"] == 0
    assert seen == int(most)
