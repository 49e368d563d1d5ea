"""Measure what a step of the planner costs beside the bare engine, in CPU milliseconds.

    python -m benchmarks planner_speed --episodes 12

The planner plays with ``arigraph``; its actions are then played again without a memory, and by bare
TextWorld with and without valid actions and inventory. All numbers of a row come from one run.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import textworld

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.baselines import make_policy

TASKS = (("Cooking", "hard"), ("TreasureHunt", "hardest"))
COLUMNS = ("planner", "environment + arigraph", "environment", "bare", "bare + actions + inventory")


def play(env: Any, policy: Any, seed: int) -> tuple[list[str], float, float]:
    """Play an episode; return the actions and the CPU seconds of the policy and of the steps."""
    obs, info = env.reset(seed=seed)
    policy.reset(info, seed)
    set_focus = env.get_wrapper_attr("set_focus")
    actions: list[str] = []
    acting = stepping = 0.0
    done = False
    while not done:
        started = time.process_time()
        actions.append(policy.act(obs, info))
        acted = time.process_time()
        set_focus(policy.focus)
        obs, _, terminated, truncated, info = env.step(actions[-1])
        acting, stepping = acting + acted - started, stepping + time.process_time() - acted
        done = terminated or truncated
    return actions, acting, stepping


def again(env: Any, actions: list[str]) -> float:
    """Return the CPU seconds that actions take in an environment after its reset."""
    started = time.process_time()
    for action in actions:
        env.step(action)
    return time.process_time() - started


def measure(name: str, level: str, episodes: int) -> tuple[int, list[float]]:
    """Return the steps played and the milliseconds a step, by column."""
    sides = [gym.make(f"gym_memory/{name}-v0", level=level, memory=m) for m in ("arigraph", "none")]
    policy = make_policy("planner")
    play(sides[0], policy, episodes)  # fills the caches of extraction
    steps, total = 0, [0.0] * len(COLUMNS)
    for seed in range(episodes):
        actions, *spent = play(sides[0], policy, seed)
        _, info = sides[1].reset(seed=seed)
        spent.append(again(sides[1], actions))
        story: Any = sides[1].unwrapped
        for full in (False, True):
            infos = textworld.EnvInfos(
                feedback=True, score=True, won=True, lost=True,
                admissible_commands=full, inventory=full,
            )  # fmt: skip
            bare = textworld.start(str(Path(story._story(info["task_id"]))), infos)
            bare.reset()
            spent.append(again(bare, actions))
            bare.close()
        steps += len(actions)
        total = [a + b for a, b in zip(total, spent, strict=True)]
    return steps, [1e3 * seconds / steps for seconds in total]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--episodes", type=int, default=12)
    given = parser.parse_args()
    print(f"| game | steps | {' | '.join(COLUMNS)} | planner / bare | all / bare with both |")
    print("|---" + "|--:" * (len(COLUMNS) + 3) + "|")
    for name, level in TASKS:
        steps, ms = measure(name, level, given.episodes)
        cells = [f"{value:.2f}" for value in (*ms, ms[0] / ms[3], (ms[0] + ms[1]) / ms[4])]
        print(f"| {name} {level} | {steps} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
