"""Four games at once in Gymnasium's AsyncVectorEnv, each with a memory of its own.

A game that has ended has no valid action; Gymnasium resets it at the next step and ignores the
action.

pip install "gym-memory[textworld]"
python examples/vector.py --steps 300
"""

from __future__ import annotations

import argparse
import time

import gymnasium as gym
import numpy as np

import gym_memory  # noqa: F401 - registers the environments

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mode", choices=("async", "sync"), default="async")
    parser.add_argument("--envs", type=int, default=4)
    parser.add_argument("--steps", type=int, default=20)
    given = parser.parse_args()
    envs = gym.make_vec(
        "gym_memory/Cooking-v0",
        num_envs=given.envs,
        vectorization_mode=given.mode,
        level="rl-3",
        memory="arigraph",
    )
    rng = np.random.default_rng(0)
    obs, infos = envs.reset(seed=list(range(given.envs)))
    begun = time.perf_counter()
    games = 0
    for _ in range(given.steps):
        actions = tuple(
            valid[rng.integers(len(valid))] if valid else "" for valid in obs["valid_actions"]
        )
        obs, rewards, terminated, truncated, infos = envs.step(actions)
        games += int(np.sum(terminated | truncated))
    seconds = time.perf_counter() - begun
    print(f"{type(envs).__name__} of {given.envs}")
    for number, triples in enumerate(obs["triples"]):
        print(f"game {number} recalls {len(triples)} facts")
    print(f"{games} games ended")
    print(f"{given.envs * given.steps / seconds:.0f} steps a second")
    envs.close()
