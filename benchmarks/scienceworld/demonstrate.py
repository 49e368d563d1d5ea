"""Record demonstrations for the imitator: solutions of train variations.

Plays the solution of some train variations of each of CLIN's 18 tasks and records the agent's
observations, with a ``look around`` after every move to a room (which takes no time in the world).
Variations are spread over the train split. Episodes in the file are skipped, so the same command
continues a stopped run.

    python benchmarks/scienceworld/demonstrate.py --a-task 9 \\
        --out gym_memory/baselines/rules/scienceworld/demonstrations.jsonl.gz
    python benchmarks/scienceworld/demonstrate.py --a-task 30 \\
        --task lifespan-longest-lived --task lifespan-shortest-lived \\
        --out gym_memory/baselines/rules/scienceworld/demonstrations.jsonl.gz
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import gymnasium as gym

from gym_memory.core.trajectory import read_trajectory
from gym_memory.games.scienceworld import catalog
from gym_memory.wrappers.make import make_env
from gym_memory.wrappers.record import RecordTrajectory

LOOK = "look around"


def spread(task: str, turn: int) -> int | None:
    """Return the train variation of a turn: first, last, middle, then between these.

    None if the train split has fewer variations.
    """
    numbers = catalog.variations(task, "train")
    chosen: list[int] = []
    parts = 1
    while len(chosen) <= turn:
        for part in range(parts + 1):
            number = numbers[part * (len(numbers) - 1) // parts]
            if number not in chosen:
                chosen.append(number)
        if parts > len(numbers):
            break
        parts *= 2
    return chosen[turn] if turn < len(chosen) else None


def demonstrate(env: gym.Env[Any, Any], task_id: str) -> bool:
    """Play the solution of a task; return True if it won."""
    _, info = env.reset(options={"task_id": task_id})
    done = False
    for action in ("", *env.get_wrapper_attr("oracle")().walkthrough):
        if action:
            _, _, terminated, truncated, info = env.step(action)
            done = terminated or truncated
        if not done and (not action or action.startswith("go to ")):
            _, _, _, done, info = env.step(LOOK)
        if done:
            break
    return bool(info["success"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--a-task", type=int, default=4, help="variations of a task")
    parser.add_argument("--task", action="append", help="only this one, as often as wanted")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    held = {t.task.id for t in read_trajectory(options.out)} if options.out.exists() else set()
    raw = make_env("ScienceWorld", memory="none", split="train", max_steps=500, valid_actions=False)
    env = RecordTrajectory(raw, str(options.out))
    for turn in range(options.a_task):
        for row in catalog.CLIN:
            if options.task and row.task not in options.task:
                continue
            number = spread(row.task, turn)
            task_id = f"scienceworld/{row.task}/{number}"
            if number is not None and task_id not in held:
                print(task_id, demonstrate(env, task_id), flush=True)
    env.close()


if __name__ == "__main__":
    main()
