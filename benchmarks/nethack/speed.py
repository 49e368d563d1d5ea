"""Measure steps a second of one core at the primitive level: one key a step.

The keys come from the descender's skills in a few games, so the play includes exploring and fights;
they are replayed one by one as ``press key ...``. The games are played several times, and every ten
steps count with their best CPU time, because the machine may be shared. The same games in bare NLE
(the same observations, no text) are measured beside them.

    OMP_NUM_THREADS=1 python -m benchmarks nethack/speed --seeds 3 --rounds 5
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from typing import Any

import gymnasium as gym
from keep import write_measured

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.baselines.base import make_policy
from gym_memory.games.nethack.engine import NetHackEngine

ID = "gym_memory/NetHack-v0"
CASES = [
    {"view": view, "memory": memory, "valid_actions": valid}
    for view in ("room", "level")
    for memory in ("none", "arigraph")
    for valid in (False, True)
]
STRETCH = 10
KEYS = {10: "ctrl-j", 13: "enter", 27: "escape", 32: "space", 4: "ctrl-d"}


@contextlib.contextmanager
def noted(method: str) -> Iterator[list[int]]:
    """Yield the list of keys that a method of the engine gets in the block."""
    keys: list[int] = []
    original = getattr(NetHackEngine, method)

    def noting(engine: NetHackEngine, key: int) -> Any:
        keys.append(key)
        return original(engine, key)

    setattr(NetHackEngine, method, noting)
    try:
        yield keys
    finally:
        setattr(NetHackEngine, method, original)


def recorded(seed: int, steps: int) -> list[str]:
    """Return the keys that the descender's skills pressed in one game, as actions."""
    env = gym.make(ID, memory="none", max_steps=steps)
    policy = make_policy("descender")
    obs, info = env.reset(seed=seed)
    policy.reset(info, seed)
    over = False
    with noted("press") as keys:
        while not over:
            obs, _, terminated, truncated, info = env.step(policy.act(obs, info))
            over = terminated or truncated
    env.close()
    return [name_of(key) for key in keys]


def received(seed: int, actions: list[str]) -> list[int]:
    """Return the keys that NLE gets when played one by one, page turns included."""
    env = gym.make(ID, memory="none", max_steps=10**6, valid_actions=False)
    env.reset(seed=seed)
    with noted("_key") as keys:
        any(_over(env, action) for action in actions)
    env.close()
    return keys


def name_of(code: int) -> str:
    """Return a key as an action."""
    if code >= 128:
        return f"press key meta-{chr(code & 127)}"
    return f"press key {KEYS.get(code, chr(code))}"


def timed(steps: Iterable[Callable[[], bool]]) -> list[tuple[int, float]]:
    """Return the steps and CPU seconds of each stretch, until the game ends."""
    stretches, count, started = [], 0, time.process_time()
    for step in steps:
        over = step()
        count += 1
        if count == STRETCH or over:
            now = time.process_time()
            stretches.append((count, now - started))
            count, started = 0, now
        if over:
            break
    return stretches


def _over(env: Any, action: Any) -> bool:
    return bool(env.step(action)[2])


def played(case: dict[str, Any], games: dict[int, list[str]]) -> list[tuple[int, float]]:
    """Return the stretches of all games under one descriptor and memory."""
    env = gym.make(ID, max_steps=10**6, **case)
    found = []
    for seed, actions in games.items():
        env.reset(seed=seed)
        found += timed(functools.partial(_over, env, action) for action in actions)
    env.close()
    return found


def bare(games: dict[int, list[int]]) -> list[tuple[int, float]]:
    """Play the same games in NLE alone."""
    env = gym.make(ID, memory="none").unwrapped
    found = []
    for seed, codes in games.items():
        env.reset(seed=seed)
        raw = env.engine._env  # type: ignore[attr-defined]
        found += timed(functools.partial(_over, raw, code) for code in codes)
    env.close()
    return found


def main() -> None:
    """Measure and write the result beside this file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=80)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    games = {seed: recorded(seed, given.steps) for seed in range(given.seeds)}
    codes = {seed: received(seed, actions) for seed, actions in games.items()}
    runs: dict[str, list[list[tuple[int, float]]]] = {}
    for _ in range(given.rounds):
        for case in CASES:
            valid = ", valid actions" if case["valid_actions"] else ""
            name = f"{case['view']} view, memory {case['memory']}{valid}"
            runs.setdefault(name, []).append(played(case, games))
        runs.setdefault("bare NLE", []).append(bare(codes))
    rates = {}
    for name, rounds in runs.items():
        best = [min(seconds for _, seconds in again) for again in zip(*rounds, strict=True)]
        rates[name] = round(sum(count for count, _ in rounds[0]) / sum(best))
    result = {
        "settings": vars(given),
        "steps": sum(map(len, games.values())),
        "versions": {name: version(name) for name in ("gym-memory", "nle", "numpy", "scipy")},
        "load when it ended": [round(x, 1) for x in os.getloadavg()],
        "cpus": os.cpu_count(),
        "steps a CPU second": rates,
    }
    write_measured("nethack/speed", result)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
