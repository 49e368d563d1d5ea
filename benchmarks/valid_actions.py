"""Compare valid actions found by trying with those that an engine knows.

Games of TextWorld list their admissible commands, so they serve as the truth: the same .z8 is
played in ``Jericho``, which knows nothing but the file. Along the walkthrough, commands of both
lists are compared by their effects on the engine's facts and score; those without effect (look,
examine, inventory) do not count.

    OMP_NUM_THREADS=1 python benchmarks/valid_actions.py
"""

from __future__ import annotations

import argparse
import json
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gymnasium as gym
from keep import MEASURED, write_measured

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.games.jericho import Jericho

GAMES = {
    "TreasureHunt easy": ("TreasureHunt", {"level": "easy"}),
    "Cooking rl-2": ("Cooking", {"level": "rl-2"}),
    "Cooking medium": ("Cooking", {"level": "medium"}),
}
QUIET = ("look", "inventory", "wait")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=MEASURED)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--steps", type=int, default=8)
    arguments = parser.parse_args()
    rows = []
    for name, (family, settings) in GAMES.items():
        rows.append({"game": name, **compare(family, settings, arguments.seeds, arguments.steps)})
        print(json.dumps(rows[-1]), flush=True)
    record = {
        "command": f"valid_actions.py --seeds {arguments.seeds} --steps {arguments.steps}",
        "jericho": version("jericho"),
        "textworld": version("textworld"),
        "rows": rows,
    }
    write_measured("valid_actions", record, arguments.out)


def compare(family: str, settings: dict[str, Any], seeds: int, steps: int) -> dict[str, Any]:
    states = known = found = listed = idle = searches = 0
    spent = 0.0
    missed: dict[str, int] = {}
    for seed in range(seeds):
        truth: Any = gym.make(f"gym_memory/{family}-v0", memory="none", **settings).unwrapped
        truth.reset(seed=seed)
        env = Jericho(path=truth.story(truth.task_id), valid_actions=False, inventory=False)
        env.reset(seed=0)
        for action in truth.oracle().walkthrough[:steps]:
            started = time.perf_counter()
            ours = [a for a in env.valid_actions() if a not in QUIET]
            spent += time.perf_counter() - started
            right = effects(truth, truth.valid_actions())
            tried = effects(truth, ours)
            states, listed, idle = states + 1, listed + len(ours), idle + len(ours) - len(tried)
            known, found = known + len(right), found + len(right.keys() & tried.keys())
            for effect in right.keys() - tried.keys():
                verb = right[effect].split()[0]
                missed[verb] = missed.get(verb, 0) + 1
            truth.step(action)
            env.step(action)
        searches += env._parser.searches
        env.close()
        truth.close()
    return {
        "states": states,
        "effects": known,
        "found": round(found / known, 3),
        "listed": listed,
        "without effect": idle,
        "searches": searches,
        "s a state": round(spent / states, 3),
        "missed": dict(sorted(missed.items())),
    }


def effects(truth: Any, actions: tuple[str, ...] | list[str]) -> dict[str, str]:
    """Return the state after each effective command, with the first command that leads to it."""
    here = truth.snapshot()
    before = (sorted(truth.oracle().facts), truth._feedback.score)
    found: dict[str, str] = {}
    for action in actions:
        truth.restore(here)
        info = truth.step(action)[4]
        after = (sorted(truth.oracle().facts), info["score"])
        if after != before or info["lost"]:
            found.setdefault(repr((after, info["lost"])), action)
    truth.restore(here)
    return found


if __name__ == "__main__":
    main()
