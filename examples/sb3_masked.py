"""Stable-Baselines3's MaskablePPO on a text game: text as word numbers, actions by number, a mask.

pip install "gym-memory[textworld,rl]"
python examples/sb3_masked.py --steps 20000
"""

from __future__ import annotations

import argparse

import gymnasium as gym
from sb3_contrib import MaskablePPO

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.wrappers import EncodeText, IndexActions


def make(split: str = "train") -> gym.Env:
    """Make one environment; all arguments are plain values, so vectors and workers can make it."""
    env = gym.make("gym_memory/Cooking-v0", level="rl-1", split=split, memory="arigraph")
    return EncodeText(IndexActions(env), vocabulary=2048, text=40, memory=60, max_triples=16)


def play(model: MaskablePPO, games: int) -> float:
    """Return the mean score of the trained player on test games."""
    env, scores = make("test"), []
    for seed in range(games):
        obs, info = env.reset(seed=seed)
        done = False
        while not done:
            masks = env.get_wrapper_attr("action_masks")()
            action, _ = model.predict(obs, action_masks=masks, deterministic=False)
            obs, _, terminated, truncated, info = env.step(int(action))
            done = terminated or truncated
        scores.append(info["normalized_score"])
    return sum(scores) / games


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=256)
    parser.add_argument("--games", type=int, default=2)
    given = parser.parse_args()
    ppo = MaskablePPO("MultiInputPolicy", make(), n_steps=64, batch_size=64, seed=0, device="cpu")
    ppo.learn(given.steps)
    print(f"score on {given.games} test games: {play(ppo, given.games):.2f}")
