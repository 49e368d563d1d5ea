"""Measure CPU time a step of the TextWorld extraction rules.

    OMP_NUM_THREADS=1 python benchmarks/quality/extract_speed.py --out extract_speed.json

Random play of a few games is recorded, then read again, episode by episode into an empty graph.
*cold*: no sentence of the episode was read before. *warm*: the same episode once more, as in
training, where games repeat. Microseconds a step, the graph's own time excluded.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

from gym_memory.core.records import Step, Task
from gym_memory.evaluate.quality.score import odd_command
from gym_memory.extract.draft import apply
from gym_memory.games.textworld.rules import TextWorldRules
from gym_memory.games.textworld.rules_sentences import (
    _describe,
    read_inventory,
    read_result_sentence,
    read_room_sentence,
)
from gym_memory.graph import TemporalGraph
from gym_memory.run.config import Job

ENVS = ["Cooking?level=medium", "Cooking?level=hardest", "TreasureHunt?level=hardest", "Cleaning"]
EPISODES = 5
CACHES = (_describe, read_room_sentence, read_result_sentence, read_inventory)


def record(env: str, seed: int) -> list[Step]:
    """Record an episode of random play, one command in five an odd one."""
    import numpy as np

    rng = np.random.default_rng(seed)
    game = Job(f"{env}&max_steps=150" if "?" in env else f"{env}?max_steps=150", "none", "random",
               seed).make_env()  # fmt: skip
    obs, info = game.reset(seed=seed)
    steps, action, done = [], "", False
    while True:
        steps.append(Step(info["moves"], obs["text"], action, 0.0, obs["inventory"],
                          obs["valid_actions"], done))  # fmt: skip
        if done:
            game.close()
            return steps
        valid = obs["valid_actions"]
        action = str(rng.choice(valid)) if valid else "look"
        if rng.random() < 0.2:
            action = odd_command(rng, [a.removeprefix("examine ") for a in valid if "examine" in a])
        obs, _, terminated, truncated, info = game.step(action)
        done = terminated or truncated


def read(steps: list[Step]) -> list[float]:
    """Return the microseconds of CPU time to read each step."""
    rules, graph, task = TextWorldRules(), TemporalGraph(), Task("", "")
    times = []
    for step in steps:
        began = time.process_time_ns()
        extraction = rules.extract(step, graph, task)
        times.append((time.process_time_ns() - began) / 1e3)
        apply(extraction, graph, step.t)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    out = parser.parse_args().out
    rows = []
    for env in ENVS:
        episodes = [record(env, seed) for seed in range(EPISODES)]
        times: dict[str, list[float]] = {"cold": [], "warm": []}
        for steps in episodes:
            for cache in CACHES:
                cache.cache_clear()
            times["cold"] += read(steps)
            times["warm"] += read(steps)
        for state, values in times.items():
            values.sort()
            row = {
                "env": env, "cache": state, "steps": len(values),
                "mean_us": round(statistics.fmean(values), 1),
                "median_us": round(statistics.median(values), 1),
                "p95_us": round(values[int(len(values) * 0.95)], 1),
            }  # fmt: skip
            print(json.dumps(row))
            rows.append(row)
    if out is not None:
        out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
