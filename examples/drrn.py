"""Train DRRN and play it from Python, like `gym-memory train` and `gym-memory run`.

pip install "gym-memory[textworld,rl]"
python examples/drrn.py --steps 12500 --games 20
"""

from __future__ import annotations

import argparse
from pathlib import Path

from gym_memory.baselines import make_policy
from gym_memory.baselines.rl.drrn import DrrnLearner, DrrnSettings
from gym_memory.baselines.rl.shared.envs import LocalEnvs
from gym_memory.baselines.rl.shared.trainer import Trainer
from gym_memory.baselines.rl.shared.training import TrainSettings
from gym_memory.run import rollout
from gym_memory.wrappers import make_env


def make(split: str):
    """Make an environment with memory; GATA's action list has no `look`."""
    return make_env("Cooking", level="rl-1", gata_actions=True, split=split, memory="arigraph")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--games", type=int, default=6)
    parser.add_argument("--out", type=Path, default=Path("runs/drrn-example"))
    given = parser.parse_args()
    learner = DrrnLearner(DrrnSettings(batch=32), seed=0, device="cpu")
    how = TrainSettings(steps=given.steps, games=given.games, valid_games=given.games)
    trainer = Trainer(learner, LocalEnvs(make), how, given.out, {"example": "drrn"})
    for point in trainer.run():
        print(point)
    trainer.close()
    for name in (f"drrn?checkpoint={given.out}", "random"):
        policy = make_policy(name)
        results = [rollout(make("test"), policy, seed) for seed in range(given.games)]
        mean = sum(result.normalized for result in results) / given.games
        print(f"{name.partition('?')[0]}: score on {given.games} test games: {mean:.2f}")
