"""Measure score and depth of the scripted descender: room view, with memory, level view.

The three rows of AriGraph's Table 1 with a script instead of the language model: the same
games, the same steps, the same policy.

    python -m benchmarks nethack/descent --seeds 30 --steps 500
"""

from __future__ import annotations

import argparse
import json
from importlib.metadata import version
from typing import Any

import gymnasium as gym
import numpy as np
from keep import write_measured

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.baselines.base import make_policy
from gym_memory.run import rollout
from gym_memory.run.results import intervals

CONDITIONS = {
    "room view": {"view": "room", "memory": "none"},
    "room view, arigraph": {"view": "room", "memory": "arigraph"},
    "level view": {"view": "level", "memory": "none"},
}


def play(condition: str, seed: int, steps: int) -> dict[str, Any]:
    """Play one game under one condition."""
    env = gym.make("gym_memory/NetHack-v0", max_steps=steps, **CONDITIONS[condition])
    last: dict[str, Any] = {}
    result = rollout(env, make_policy("descender"), seed, on_step=lambda _, info: last.update(info))
    env.close()
    return {
        "condition": condition,
        "seed": seed,
        "score": result.score,
        "depth": last["max_depth"],
        "turns": last["turn"],
        "steps": result.steps,
        "died": result.lost,
        "refused": result.n_invalid,
    }


def interval(values: np.ndarray) -> list[float]:
    """Return the 95 % interval of the mean."""
    return [round(bound, 2) for bound in intervals.values(values.tolist()).interval() or ()]


def main() -> None:
    """Play all games and write the result beside this file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--steps", type=int, default=500)
    given = parser.parse_args()
    rows = [
        play(condition, seed, given.steps)
        for condition in CONDITIONS
        for seed in range(given.seeds)
    ]
    table: dict[str, Any] = {}
    base = {row["seed"]: row for row in rows if row["condition"] == "room view"}
    for condition in CONDITIONS:
        own = [row for row in rows if row["condition"] == condition]
        table[condition] = {"n": len(own)}
        for key in ("score", "depth", "turns", "steps"):
            values = np.array([row[key] for row in own], float)
            table[condition][key] = [round(float(values.mean()), 2), interval(values)]
        table[condition]["died"] = sum(row["died"] for row in own)
        for key in ("score", "depth"):
            gain = np.array([row[key] - base[row["seed"]][key] for row in own], float)
            table[condition][f"{key} over the room view"] = [
                round(float(gain.mean()), 2),
                interval(gain),
            ]
    result = {
        "settings": vars(given),
        "versions": {name: version(name) for name in ("gym-memory", "nle", "numpy", "scipy")},
        "table": table,
        "rows": rows,
    }
    write_measured("nethack/descent", result)
    print(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
