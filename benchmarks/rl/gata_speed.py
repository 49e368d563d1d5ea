"""Updates a CPU-second of the GATA-like learner and of DRRN, at their own settings.

Fills both replays with the same random games of Cooking, then updates in turns, so that a busy
machine is busy for both. Run in the root of the repository::

    OMP_NUM_THREADS=1 python benchmarks/rl/gata_speed.py

It writes ``gata_speed.json`` beside this file.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gym_memory.baselines.drrn import DrrnLearner, DrrnSettings
from gym_memory.baselines.gata import GataLearner, GataSettings
from gym_memory.baselines.learning.learner import Experience
from gym_memory.wrappers.make import make_env

GAMES, ROUNDS, UPDATES = 12, 10, 10


def fill(learner: Any, level: str) -> float:
    """Play at random; returns the mean number of valid actions."""
    rng, counts = np.random.default_rng(0), []
    env = make_env("Cooking", memory="arigraph", level=level, split="train", gata_actions=True)
    for game in range(GAMES):
        obs, info = env.reset(seed=game)
        seen, over = learner.see(obs, info["task_id"]), False
        while not over:
            counts.append(len(obs["valid_actions"]))
            choice = int(rng.integers(counts[-1]))
            obs, reward, terminated, truncated, info = env.step(obs["valid_actions"][choice])
            later = learner.see(obs, info["task_id"], seen, choice)
            step = Experience(
                info["task_id"], seen, choice, float(reward), later, terminated, truncated
            )
            learner.observe(0, step)
            seen, over = later, terminated or truncated
    return float(np.mean(counts))


def main() -> None:
    parser = argparse.ArgumentParser(description="Time GATA's and DRRN's updates.")
    parser.add_argument("--level", default="rl-3")
    level = parser.parse_args().level
    learners: dict[str, Any] = {
        "gata": GataLearner(GataSettings()),
        "drrn": DrrnLearner(DrrnSettings()),
    }
    actions = {name: fill(learner, level) for name, learner in learners.items()}
    spent = dict.fromkeys(learners, 0.0)
    for turn in range(ROUNDS + 1):
        for name, learner in learners.items():
            started = time.process_time()
            for _ in range(UPDATES):
                learner._update()
            # The first round warms up.
            spent[name] += (time.process_time() - started) * (turn > 0)
    record = {
        "level": level,
        "batch": DrrnSettings().batch,
        "mean_valid_actions": {name: round(mean, 1) for name, mean in actions.items()},
        "updates_per_cpu_second": {
            name: round(ROUNDS * UPDATES / seconds, 1) for name, seconds in spent.items()
        },
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
    text = json.dumps(record, indent=1) + "\n"
    Path(__file__).with_suffix(".json").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
