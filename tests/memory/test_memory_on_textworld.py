"""The memory contract on a real game: what a wrapper over TextWorld feeds to every memory."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.memory import MEMORIES, make_memory
from gym_memory.memory.base import count_tokens
from gym_memory.memory.controls import ORACLE_TOKENS

pytest.importorskip("textworld")

HERE = str(Path(__file__).parent)
NAMES = MEMORIES.names()
STEPS = 20
PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
from test_memory_on_textworld import fingerprint
print(json.dumps({name: fingerprint(name) for name in sys.argv[2:]}))
"""

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("name", NAMES)]


def opened(name: str, budget: int = 600) -> gym.Env[Any, Any]:
    return gym.make(
        "gym_memory/TreasureHunt-v0", level="easy", split="test", memory=name, budget=budget
    )


def play(env: gym.Env[Any, Any], steps: int = STEPS, seed: int = 0) -> list[dict[str, Any]]:
    """Play random valid moves; return what was shown, beginning with the reset."""
    rng = random.Random(seed)
    shown = [env.reset(seed=seed)[0]]
    for _ in range(steps):
        shown.append(env.step(rng.choice(shown[-1]["valid_actions"]))[0])
    return shown


def state(env: gym.Env[Any, Any]) -> str:
    return json.dumps(env.get_wrapper_attr("memory").state())


def fingerprint(name: str) -> list[str]:
    env = opened(name)
    try:
        shown = play(env)
        return [repr(shown), state(env)]
    finally:
        env.close()


@pytest.fixture(scope="session")
def processes(python: Any) -> list[dict[str, list[str]]]:
    return [
        json.loads(python(PROGRAM, HERE, *NAMES, hashseed=seed).splitlines()[-1]) for seed in (1, 2)
    ]


def test_same_in_any_process(name: str, processes: list[dict[str, list[str]]]) -> None:
    one, two = (process[name] for process in processes)
    assert one == two


@pytest.mark.parametrize("budget", [0, 60])
def test_budget_is_kept(name: str, budget: int) -> None:
    env = opened(name, budget)
    most = max(budget, ORACLE_TOKENS) if name == "oracle" else budget
    for obs in play(env):
        assert count_tokens(obs["memory"]) <= most
        assert obs in env.observation_space
    env.close()


def test_snapshot_is_returned_to(name: str) -> None:
    env = opened(name)
    last = play(env)[-1]
    snapshot, before = env.get_wrapper_attr("snapshot")(), state(env)
    for action in last["valid_actions"][:5]:
        if action in env.unwrapped.valid_actions():  # type: ignore[attr-defined]
            env.step(action)
    assert state(env) != before or name in ("none", "notes")  # nobody writes notes here
    obs, _ = env.get_wrapper_attr("restore")(snapshot)
    assert state(env) == before
    assert obs == last
    env.close()


def test_second_episode_of_another_task_knows_nothing_of_first(name: str) -> None:
    memory = make_memory(name)
    if "forever" in memory.lifetimes.values() or "task" in memory.lifetimes.values():
        pytest.skip("keeps a layer on purpose")
    env, fresh = opened(name), opened(name)
    play(env, seed=0)
    assert play(env, 5, seed=1) == play(fresh, 5, seed=1)
    env.close()
    fresh.close()


def test_saved_and_loaded(name: str, tmp_path: Path) -> None:
    env = opened(name)
    play(env)
    memory = env.get_wrapper_attr("memory")
    memory.save(tmp_path / "memory.json")
    twin = make_memory(name)
    twin.load(tmp_path / "memory.json")
    assert json.dumps(twin.state()) == json.dumps(memory.state())
    env.close()
