"""The contract of wrappers: recorded arguments, rebuilding from the spec, spaces, snapshots."""

from __future__ import annotations

import inspect
import json
import pickle
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

from gym_memory import wrappers
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.testing.fake_env import FAKE_ID, RAW_ID

CLASSES = [
    getattr(wrappers, name) for name in wrappers.__all__ if inspect.isclass(getattr(wrappers, name))
]

# The wrappers below a wrapper, and arguments other than the defaults for all that it takes.
BELOW: dict[str, list[str]] = {"EncodeText": ["IndexActions"]}
MEMORY = {"Navigate": "arigraph"}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "MemoryObservation": {"memory": "history?window=4", "budget": 77},
    "IndexActions": {"max_actions": 9, "no_op": "wait", "invalid": "mask"},
    "EncodeText": {
        "vocabulary": 500,
        "text": 20,
        "task": 10,
        "inventory": 6,
        "memory": 30,
        "action": 4,
        "triple": 2,
        "max_triples": 5,
    },
    "Navigate": {"stop_on_new": False},
    "PromptObservation": {"instructions": "Play.", "max_actions": 3},
    "RecordTrajectory": {"path": "PATH", "valid_actions": True, "memory": True, "detail": True},
}


def arguments(name: str, path: str) -> dict[str, Any]:
    return {k: path if v == "PATH" else v for k, v in ARGUMENTS[name].items()}


def stack(cls: type, path: str) -> gym.Env[Any, Any]:
    if cls is wrappers.MemoryObservation:
        env = gym.make(RAW_ID)
    else:
        env = gym.make(FAKE_ID, memory=MEMORY.get(cls.__name__, "history"))
    for name in BELOW.get(cls.__name__, []):
        env = getattr(wrappers, name)(env, **arguments(name, path))
    return cls(env, **arguments(cls.__name__, path))


@pytest.fixture
def build(tmp_path) -> Callable[[type], gym.Env[Any, Any]]:
    return lambda cls: stack(cls, str(tmp_path / "rows.jsonl.gz"))


all_wrappers = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)


def test_every_wrapper_is_covered() -> None:
    assert {cls.__name__ for cls in CLASSES} == set(ARGUMENTS)
    for cls in CLASSES:
        assert not cls.__name__.endswith("Wrapper")


@all_wrappers
def test_recorded_arguments_equal_the_signature(cls, build) -> None:
    env = build(cls)
    signature = inspect.signature(cls.__init__).parameters
    recorded = env.spec.additional_wrappers[-1].kwargs or {}
    assert list(recorded) == [p for p in signature if p not in ("self", "env")]
    given = arguments(cls.__name__, "")
    for name, value in recorded.items():
        assert type(value) in (int, str, bool)
        assert value == given[name] or name == "path"
        assert value != signature[name].default
    env.close()


@all_wrappers
def test_rebuilt_from_the_spec(cls, build) -> None:
    env = build(cls)
    text = env.spec.to_json()
    for spec in (env.spec, pickle.loads(pickle.dumps(env.spec)), EnvSpec.from_json(text)):
        again = gym.make(spec)
        assert type(again) is cls
        assert str(again) == str(env)
        assert again.spec.additional_wrappers == env.spec.additional_wrappers
        assert again.observation_space == env.observation_space
        assert again.action_space == env.action_space
        env.reset(seed=3)
        env.close()
        again.reset(seed=3)
        again.close()


@all_wrappers
def test_check_env(cls, build) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*different from the unwrapped version.*")
        warnings.filterwarnings("ignore", message=".*Box observation space.*")
        env = build(cls)
        check_env(env, skip_render_check=True)
        env.close()


@all_wrappers
def test_passive_checker_has_no_remark(cls, build) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gym.wrappers.PassiveEnvChecker(build(cls))
        env.reset(seed=0)
        env.action_space.seed(0)
        for _ in range(60):
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            if terminated or truncated:
                env.reset()
        env.close()


def play(env: gym.Env[Any, Any], steps: int) -> list[Any]:
    seen = []
    for _ in range(steps):
        obs, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert env.observation_space.contains(obs)
        info.pop("memory_stats", None)
        info.pop("action_mask", None)
        seen.append((obs, reward, terminated, truncated, info))
    return seen


def plain(value: Any) -> str:
    return json.dumps(value, default=lambda array: array.tolist())


@all_wrappers
def test_snapshot_and_restore(cls, build) -> None:
    env = build(cls)
    env.reset(seed=1)
    env.action_space.seed(0)
    play(env, 3)
    snapshot = env.get_wrapper_attr("snapshot")()
    env.action_space.seed(1)
    first = play(env, 6)
    for _ in range(2):
        obs, info = env.get_wrapper_attr("restore")(snapshot)
        assert env.observation_space.contains(obs)
        assert info["moves"] == 3
        env.action_space.seed(1)
        assert plain(play(env, 6)) == plain(first)
    env.close()


@all_wrappers
def test_unsupported_environment_is_refused(cls) -> None:
    with pytest.raises(InvalidArgumentError, match=f"{cls.__name__}: expected an observation"):
        cls(gym.make("CartPole-v1"), **arguments(cls.__name__, "rows.jsonl.gz"))
    with pytest.raises(InvalidArgumentError, match="expected an environment"):
        cls("Cooking", **arguments(cls.__name__, "rows.jsonl.gz"))


@pytest.mark.slow
@all_wrappers
def test_same_in_sync_and_async_vectors(cls, tmp_path) -> None:
    makers = [partial(stack, cls, str(tmp_path / f"{index}.jsonl.gz")) for index in range(4)]
    runs = []
    for vector in (
        gym.vector.SyncVectorEnv(makers[:2]),
        gym.vector.AsyncVectorEnv(makers[2:], shared_memory=False),
    ):
        obs, _ = vector.reset(seed=5)
        seen = [plain(obs)]
        vector.action_space.seed(2)
        for _ in range(4):
            obs, reward, *_ = vector.step(vector.action_space.sample())
            seen.append(plain((obs, reward)))
        vector.close()
        runs.append(seen)
    assert runs[0] == runs[1]
