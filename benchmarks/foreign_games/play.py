"""Play third-party story files, and keep every score.

    python benchmarks/foreign_games/play.py --games tidy-up/easy --out tidy_up.json

A folder holds TextWorld's ``.z8`` files with their ``.json`` beside them. Random play draws its own
seeds; the planner plays once, because it draws only if it knows nothing.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import gymnasium as gym

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.baselines.base import make_policy
from gym_memory.run import rollout

MEMORIES = ("none", "history", "arigraph", "shuffled", "oracle")


def play(story: Path, policy: str, memory: str, seed: int, steps: int) -> float:
    """Play one episode; return its normalized score."""
    env = gym.make("gym_memory/TextWorld-v0", path=str(story), memory=memory, max_steps=steps)
    try:
        return rollout(env, make_policy(policy), seed).normalized
    finally:
        env.close()


def main() -> None:
    """Play all games of the folders."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", type=Path, nargs="+", required=True, help="folders of .z8")
    parser.add_argument("--out", type=Path, required=True, help="JSON to write")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=3, help="episodes of random play a game")
    parser.add_argument("--memories", nargs="+", default=MEMORIES, help="of the planner")
    args = parser.parse_args()
    rows = []
    for folder in args.games:
        stories = sorted(folder.glob("*.z8"))
        if not stories:
            parser.error(f"expected a folder with .z8 files, got {str(folder)!r}")
        arms = [("random", "none", args.seeds), *(("planner", m, 1) for m in args.memories)]
        for policy, memory, seeds in arms:
            scores = [
                [round(play(s, policy, memory, seed, args.steps), 4) for seed in range(seeds)]
                for s in stories
            ]
            flat = [score for game in scores for score in game]
            mean = round(sum(flat) / len(flat), 4)
            rows.append(
                {"games": folder.name, "policy": policy, "memory": memory, "score": mean,
                 "n": len(flat), "stories": [s.stem for s in stories], "scores": scores}
            )  # fmt: skip
            print(f"{folder.name:12} {policy:8} {memory:9} {mean:.3f}", flush=True)
            args.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
