"""Measure steps of WebShop a CPU-second, in one process, and the cost of a memory.

    python benchmarks/webshop/speed.py --steps 20000

writes ``speed.md``. Every episode of random valid actions starts with another request, resets
included in the time. *New searches*: every tenth step is a new search, which the index answers; all
other answers are cached, as in play. Times are CPU seconds of the process; building the catalogue
and its index is timed separately.
"""

from __future__ import annotations

import argparse
import platform
import random
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gymnasium as gym

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.games.webshop.catalogue import synthetic_catalogue

CASES = (
    ("none", True, False),
    ("none", False, False),
    ("none", True, True),
    ("history", True, False),
    ("rag", True, False),
    ("arigraph", True, False),
)
"""Memory, whether the valid actions are listed, whether there are new searches."""
WARM_UP = 500
REQUESTS = 2000


def measure(memory: str, listed: bool, new_searches: bool, steps: int) -> dict[str, Any]:
    """Play random valid actions and time them."""
    env = gym.make("gym_memory/WebShop-v0", memory=memory, valid_actions=listed, split="train")
    raw: Any = env.unwrapped
    words = sorted({w for p in raw.catalogue.products for w in p.title.lower().split()})
    rng = random.Random(0)
    episodes, spent, done = 0, 0.0, True
    for count in range(steps + WARM_UP):
        if count == WARM_UP:
            episodes, spent = 0, 0.0
        if done:
            begun = time.process_time()
            env.reset(seed=rng.randrange(REQUESTS))
            spent += time.process_time() - begun
            episodes += 1
        action = rng.choice(raw.valid_actions())  # actions are chosen outside of the measured time
        if new_searches and count % 10 == 0:
            action = f"search[{' '.join(rng.sample(words, 5))}]"
        if action == "click[buy now]" and rng.random() < 0.5:
            action = "click[features]"
        begun = time.process_time()
        _, _, terminated, truncated, _ = env.step(action)
        spent += time.process_time() - begun
        done = terminated or truncated
    env.close()
    return {
        "memory": memory,
        "valid_actions": listed,
        "new_searches": new_searches,
        "steps": steps,
        "episodes": episodes,
        "cpu_seconds": round(spent, 3),
        "steps_per_cpu_second": round(steps / spent),
    }


def main() -> None:
    """Measure, write, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".md"))
    options = parser.parse_args()
    begun = time.process_time()
    synthetic_catalogue()
    made = time.process_time() - begun
    begun = time.process_time()
    gym.make("gym_memory/WebShop-v0", memory="none").close()
    opened = time.process_time() - begun
    rows = [measure(*case, steps=options.steps) for case in CASES]
    lines = [
        "| memory | valid actions | new searches | steps a CPU-second |",
        "|---|---|---|--:|",
        *(
            f"| {r['memory']} | {'listed' if r['valid_actions'] else 'on demand'} | "
            f"{'every 10th step' if r['new_searches'] else ''} | "
            f"{r['steps_per_cpu_second']:,} |"
            for r in rows
        ),
    ]
    note = (
        f"{options.steps:,} steps a row, seed 0; making the catalogue takes {made:.2f} and its "
        f"index {opened:.2f} CPU-seconds, once a process (Python {platform.python_version()}, "
        f"bm25s {version('bm25s')})."
    )
    table = "\n".join([*lines, "", note])
    options.out.write_text(table + "\n")
    print(table)


if __name__ == "__main__":
    main()
