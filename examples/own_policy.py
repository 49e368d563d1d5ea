"""Your own policy: a function, played with and without memory.

pip install gym-memory
python examples/own_policy.py
"""

from __future__ import annotations

import argparse
import re

import gymnasium as gym

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.run import rollout


def act(obs, info):
    """Take an action that the task names, else the recalled exit that was used least."""
    thing, piece = re.search(r"the (\w+) to the (\w+)", obs["task"]).groups()
    for action in obs["valid_actions"]:
        if action.startswith(f"take {thing} ") or action == f"put {thing} on {piece}":
            return action
    moves = [action for action in obs["valid_actions"] if action.startswith("go ")]
    past = obs["memory"].splitlines()
    return min(moves, key=lambda move: sum(line.endswith(f"> {move}") for line in past))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--games", type=int, default=20)
    games = parser.parse_args().games
    for memory in ("none", "history", "arigraph"):
        env = gym.make("gym_memory/Fetch-v0", level="easy", split="test", memory=memory)
        scores = [rollout(env, act, seed).normalized for seed in range(games)]
        print(f"{memory}: mean score {sum(scores) / games:.2f} in {games} games")
