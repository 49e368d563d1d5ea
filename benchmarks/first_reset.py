"""Measure processor time until a new process begins its first, cached, TextWorld game.

    python benchmarks/first_reset.py                       # prints, and writes the numbers
    python benchmarks/first_reset.py --compare OLD_CHECKOUT   # beside another one, in turns

Each process imports gym-memory, makes the environment, and resets it twice, to two different
games. The games and the rules of their knowledge base are in the cache from a first, unmeasured
process. Times are those of the processor (user and system), so other load does not count.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path

from keep import write_measured

HERE = Path(__file__).parent
CHECKOUT = HERE.parent
PARTS = ("interpreter", "imports", "first_reset", "second_reset")
CODE = """
import json, time
times = [0.0, time.process_time()]
from gym_memory.wrappers.make import make_env
env = make_env("Cooking", level="rl-1", memory="arigraph")
times.append(time.process_time())
for seed in (0, 1):
    env.reset(seed=seed)
    times.append(time.process_time())
print(json.dumps([b - a for a, b in zip(times, times[1:])]))
"""


def measure(checkout: Path) -> list[float]:
    """Seconds of each part in one new process."""
    environment = {**os.environ, "PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        env=environment,
        cwd=checkout,
        capture_output=True,
        text=True,
        check=True,
    )
    seconds: list[float] = json.loads(done.stdout)
    return seconds


def main() -> None:
    """Measure in turns and keep the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compare", type=Path, metavar="CHECKOUT")
    parser.add_argument("--runs", type=int, default=9)
    given = parser.parse_args()
    checkouts = {"this": CHECKOUT, **({"before": given.compare} if given.compare else {})}
    runs: dict[str, list[list[float]]] = {name: [] for name in checkouts}
    for number in range(given.runs + 1):
        for name, checkout in checkouts.items():
            seconds = measure(checkout)
            if number:  # the first fills the cache
                runs[name].append(seconds)
    record = {
        name: {
            part: {"median": round(statistics.median(column), 3), "most": round(max(column), 3)}
            for part, column in zip(PARTS, zip(*rows, strict=True), strict=True)
        }
        for name, rows in runs.items()
    }
    about = {"unit": "CPU seconds", "runs": given.runs, "python": platform.python_version()}
    write_measured("first_reset", {**about, **record})
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
