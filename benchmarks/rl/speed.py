"""Measure the time of each part of DRRN's training, in CPU seconds of one thread.

Trains for some thousand steps on Cooking rl-1 and measures the time of each part: the game with its
valid actions, the memory, features, decisions, updates. The runs of all memories are interleaved,
so that the load of the machine affects all. Run in the root of the repository::

    OMP_NUM_THREADS=1 python -m benchmarks rl/speed

It writes ``measured.json``.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from typing import Any

import numpy as np
from keep import write_measured

from gym_memory.baselines.rl.drrn import DrrnLearner, DrrnSettings
from gym_memory.baselines.rl.shared.learner import Experience
from gym_memory.wrappers.make import make_env

MEMORIES = ("none", "arigraph")
ENVS, GAMES = 8, 20


class Course:
    """One training, advanced a few ticks at a time."""

    def __init__(self, level: str, memory: str):
        self.learner = DrrnLearner(DrrnSettings(), seed=0)
        more = {"level": level, "split": "train", "gata_actions": True}
        self.envs = [make_env("Cooking", memory=memory, **more) for _ in range(ENVS)]
        self.spent = dict.fromkeys(("reset", "step", "features", "act", "store", "update"), 0.0)
        self.steps = self.actions = self.game = 0
        for game in range(GAMES):
            # Work that a process does once per game is not timed.
            self.envs[0].reset(seed=game)
        self.shown: list[Any] = [self.reset(env) for env in self.envs]

    def timed(self, part: str, function: Any, *arguments: Any, **more: Any) -> Any:
        started = time.process_time()
        answer = function(*arguments, **more)
        self.spent[part] += time.process_time() - started
        return answer

    def reset(self, env: Any) -> tuple[Any, Any]:
        obs, info = self.timed("reset", env.reset, seed=self.game % GAMES)
        self.game += 1
        return obs, self.timed("features", self.learner.see, obs, info["task_id"])

    def tick(self) -> None:
        chosen = self.timed("act", self.learner.act, [seen for _, seen in self.shown], explore=True)
        for slot, (env, choice) in enumerate(zip(self.envs, chosen, strict=True)):
            obs, seen = self.shown[slot]
            self.actions += len(obs["valid_actions"])
            action = obs["valid_actions"][choice]
            after, reward, terminated, truncated, info = self.timed("step", env.step, action)
            later = self.timed("features", self.learner.see, after, info["task_id"], seen, choice)
            step = Experience(seen, choice, reward, later, terminated, truncated)
            self.timed("store", self.learner.observe, slot, step)
            self.steps += 1
            over = terminated or truncated
            self.shown[slot] = self.reset(env) if over else (after, later)
        self.timed("update", self.learner.learn)

    def result(self) -> dict[str, Any]:
        total = sum(self.spent.values())
        updates = self.learner.updates
        return {
            "steps": self.steps,
            "steps_per_cpu_second": round(self.steps / total, 1),
            "updates": updates,
            "updates_per_cpu_second": round(updates / self.spent["update"], 1),
            "mean_valid_actions": round(self.actions / self.steps, 1),
            "share": {part: round(value / total, 3) for part, value in self.spent.items()},
        }


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the parts of DRRN's training.")
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--level", default="rl-1")
    options = parser.parse_args()
    courses = {memory: Course(options.level, memory) for memory in MEMORIES}
    while any(course.steps < options.steps for course in courses.values()):
        for course in courses.values():
            for _ in range(25):
                course.tick()
    record: dict[str, Any] = {memory: course.result() for memory, course in courses.items()}
    speed = {memory: record[memory]["steps_per_cpu_second"] for memory in MEMORIES}
    record["slower_with_memory"] = round(1 - speed["arigraph"] / speed["none"], 3)
    record["batch"] = DrrnSettings().batch
    record["level"] = options.level
    record["python"], record["numpy"] = platform.python_version(), np.__version__
    write_measured("rl/speed", record)
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
