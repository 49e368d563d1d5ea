"""Play games of TextWorldExpress, which is no TextWorld, through ``gym_memory.wrap``.

    python benchmarks/foreign_games/express.py --out express.json

by random play and by the planner with three memories, ten games each, 60 steps.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from textworld_express import TextWorldExpressEnv

import gym_memory
from gym_memory.baselines.base import make_policy
from gym_memory.run import rollout

GAMES = {
    "cookingworld": "numLocations=3, numIngredients=2",
    "twc": "numLocations=3,numItemsToPutAway=2,includeDoors=0",
    "coin": "numLocations=8,numDistractorItems=0",
    "mapreader": "numLocations=6,maxDistanceApart=3,includeDoors=0,maxDistractorItemsPerLocation=0",
    "simonsays": "",
    "peckingorder": "",
    "sorting": "",
    "arithmetic": "",
}
ARMS = (("random", "none"), ("planner", "none"), ("planner", "history"), ("planner", "arigraph"))
SEEDS, STEPS = range(10), 60


def main() -> None:
    """Play, print a line an arm, write the scores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    out = parser.parse_args().out
    engine, scores = TextWorldExpressEnv(envStepLimit=STEPS), {}
    for game, options in GAMES.items():
        for policy, memory in ARMS:
            engine.load(game, options)
            engine.gameFold = "train"
            env = gym_memory.wrap(engine, max_score=1.0, seeds=100, memory=memory)
            found = [rollout(env, make_policy(policy), seed, limit=STEPS) for seed in SEEDS]
            name = f"{game} {policy} {memory}"
            scores[name] = [round(result.score, 3) for result in found]
            print(f"{name}: {sum(scores[name]) / len(found):.2f}", flush=True)
    out.write_text(json.dumps(scores, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
