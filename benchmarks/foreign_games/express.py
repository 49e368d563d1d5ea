"""Play games of TextWorldExpress, another engine than TextWorld, through ``gym_memory.wrap``.

    python -m benchmarks foreign_games/express
    python -m benchmarks foreign_games/express --unseen

by random play and by the planner with three memories: ten games each of the train fold, 60 steps;
or larger games of the test fold, which were not inspected, 100 steps.
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
UNSEEN = {
    "cookingworld": "numLocations=6, numIngredients=4, includeDoors=1",
    "twc": "numLocations=3,numItemsToPutAway=3,includeDoors=1",
    "mapreader": "numLocations=15,maxDistanceApart=6,includeDoors=1",
}
ARMS = (("random", "none"), ("planner", "none"), ("planner", "history"), ("planner", "arigraph"))
SEEDS = range(10)


def main() -> None:
    """Play, print a line per arm, write the scores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--unseen", action="store_true", help="larger games of the test fold")
    unseen = parser.parse_args().unseen
    games, fold, steps = (UNSEEN, "test", 100) if unseen else (GAMES, "train", 60)
    out = Path(__file__).with_name("express_unseen.json" if unseen else "express.json")
    engine, scores = TextWorldExpressEnv(envStepLimit=steps), {}
    for game, options in games.items():
        for policy, memory in ARMS:
            engine.load(game, options)
            engine.gameFold = fold
            env = gym_memory.wrap(engine, max_score=1.0, seeds=100, memory=memory)
            found = [rollout(env, make_policy(policy), seed, limit=steps) for seed in SEEDS]
            name = f"{game} {policy} {memory}"
            scores[name] = [round(result.score, 3) for result in found]
            print(f"{name}: {sum(scores[name]) / len(found):.2f}", flush=True)
    out.write_text(json.dumps(scores, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
