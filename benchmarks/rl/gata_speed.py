"""Measure updates a CPU-second of the GATA-like learner and of DRRN, at their own settings.

Fills both replays with the same games of Cooking, played at random with a preference for taking
things, so that some 30 actions are valid on average. Updates are interleaved, so that the load of
the machine affects both. Run in the root of the repository::

    OMP_NUM_THREADS=1 python -m benchmarks rl/gata_speed

It writes ``measured.json``.
"""

from __future__ import annotations

import json
import platform
import time
from typing import Any

import numpy as np
import torch
from keep import write_measured

from gym_memory.baselines.rl.drrn import DrrnLearner, DrrnSettings
from gym_memory.baselines.rl.gata import GataLearner, GataSettings
from gym_memory.baselines.rl.shared.learner import Experience
from gym_memory.wrappers.make import make_env

LEVEL, GAMES, ROUNDS, UPDATES = "rl-2", 20, 20, 10


def choose(actions: tuple[str, ...], rng: np.random.Generator) -> int:
    """Choose any action, or half of the time something to take."""
    takes = [i for i, action in enumerate(actions) if action.startswith("take ")]
    return int(rng.choice(takes) if takes and rng.random() < 0.5 else rng.integers(len(actions)))


def fill(learner: Any) -> float:
    """Play; returns the mean number of valid actions."""
    rng, counts = np.random.default_rng(0), []
    env = make_env("Cooking", memory="arigraph", level=LEVEL, split="train")
    for game in range(GAMES):
        obs, info = env.reset(seed=game)
        seen, over = learner.see(obs, info["task_id"]), False
        while not over:
            counts.append(len(obs["valid_actions"]))
            choice = choose(obs["valid_actions"], rng)
            obs, reward, terminated, truncated, info = env.step(obs["valid_actions"][choice])
            later = learner.see(obs, info["task_id"], seen, choice)
            step = Experience(seen, choice, float(reward), later, terminated, truncated)
            learner.observe(0, step)
            seen, over = later, terminated or truncated
    return float(np.mean(counts))


def main() -> None:
    learners: dict[str, Any] = {
        "gata": GataLearner(GataSettings()),
        "drrn": DrrnLearner(DrrnSettings()),
    }
    actions = {name: fill(learner) for name, learner in learners.items()}
    spent = dict.fromkeys(learners, 0.0)
    for turn in range(ROUNDS + 1):
        for name, learner in learners.items():
            started = time.process_time()
            for _ in range(UPDATES):
                learner.update()
            # The first round warms up.
            spent[name] += (time.process_time() - started) * (turn > 0)
    record = {
        "level": LEVEL,
        "batch": DrrnSettings().batch,
        "mean_valid_actions": {name: round(mean, 1) for name, mean in actions.items()},
        "updates_per_cpu_second": {
            name: round(ROUNDS * UPDATES / seconds, 1) for name, seconds in spent.items()
        },
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
    write_measured("rl/gata_speed", record)
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
