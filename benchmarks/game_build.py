"""Measure the time to generate and compile cooking games.

    python benchmarks/game_build.py --games 20 --workers 2 --out benchmarks/measured.json

New games of the largest levels in turn, in a temporary cache. Wall time is the user's waiting time;
CPU time includes Inform's compilers.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from keep import write_measured

from gym_memory.games.textworld.cooking import Cooking

LEVELS = ("medium", "hard", "hardest", "stma-4")


def build(number: int) -> str:
    """Make game ``number``; returns its task id."""
    env = Cooking(LEVELS[number % len(LEVELS)], "train")
    task = env.task_ids[number // len(LEVELS)]
    env.story(task)
    return task


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["GYM_MEMORY_CACHE"] = cache
        started = time.perf_counter()
        with ProcessPoolExecutor(options.workers, get_context("spawn")) as pool:
            built = list(pool.map(build, range(options.games)))
        wall = time.perf_counter() - started
    assert len(set(built)) == options.games
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    row = {
        "games": options.games,
        "workers": options.workers,
        "wall_s": round(wall, 1),
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 1),
    }
    print(json.dumps(row))
    if options.out:
        write_measured("game_build", row, options.out)


if __name__ == "__main__":
    main()
