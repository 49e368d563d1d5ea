"""Measure whether a process grows: 200,000 steps of TextWorld, ScienceWorld and NetHack.

    python benchmarks/soak.py                # 20 CPU minutes; prints, writes measured.json
    python benchmarks/soak.py --only scienceworld --steps 20000 --out soak-small.json

A process for each environment plays random episodes, each on the next seed, with the memory
``arigraph``. Every thousand steps the resident memory of the process, and of its subprocesses
(Java), is recorded. After the first fifth, the warm-up, the largest value of each tenth of the run
must lie within 5 % of the first such value.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from keep import MEASURED, write_measured

HERE = Path(__file__).parent
ENVIRONMENTS = {
    "textworld": "Cooking?level=rl-2&max_steps=60",
    "scienceworld": "ScienceWorld?max_steps=60",
    "nethack": "NetHack?max_steps=300",
}
STEPS = 200_001
EVERY = 1000
WARM_UP = 0.2
MOST_GROWTH = 0.05


def resident(process: int) -> float:
    """Return the resident memory in MB."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1000
    return 0.0


def children(process: int) -> list[int]:
    """Return the processes that a process has started, and their children."""
    own = [
        int(child)
        for tasks in Path(f"/proc/{process}/task").glob("*/children")
        for child in tasks.read_text().split()
    ]
    return own + [grandchild for child in own for grandchild in children(child)]


def play(spec: str, steps: int) -> None:
    """Play in this process, and print a line of JSON every thousand steps."""
    from gym_memory.baselines.base import make_policy
    from gym_memory.core.names import Spec
    from gym_memory.run import rollout
    from gym_memory.wrappers.make import make_env

    name, parameters = Spec(spec).parts
    env, policy = make_env(name, memory="arigraph", **parameters), make_policy("random")
    played = episodes = 0
    started = time.process_time()

    def count(t: int, info: dict[str, object]) -> None:
        nonlocal played
        played += t > 0
        if t > 0 and played % EVERY == 0:
            me = os.getpid()
            started_by_it = sum(map(resident, children(me)))
            row = {"steps": played, "episodes": episodes, "mb": round(resident(me), 1)}
            cpu = round(time.process_time() - started, 1)
            print(json.dumps({**row, "children_mb": round(started_by_it, 1), "cpu_s": cpu}))
            sys.stdout.flush()

    while played < steps:
        rollout(env, policy, episodes, on_step=count)
        episodes += 1
    env.close()


def growth(rows: list[dict[str, float]]) -> float:
    """Return the largest tenth of the run minus the first one after warm-up."""
    sizes = [row["mb"] + row["children_mb"] for row in rows[int(len(rows) * WARM_UP) :]]
    parts = max(1, len(sizes) // 8)
    peaks = [max(sizes[at : at + parts]) for at in range(0, len(sizes) - parts + 1, parts)]
    return max(peaks) / peaks[0] - 1


def main() -> None:
    """Run each environment in a process of its own, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=STEPS, help="over all environments")
    parser.add_argument("--only", choices=list(ENVIRONMENTS))
    parser.add_argument("--out", type=Path, default=MEASURED)
    parser.add_argument("--play", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.play:
        return play(given.play, given.steps)
    chosen = [given.only] if given.only else list(ENVIRONMENTS)
    record = {}
    for name in chosen:
        words = ["--play", ENVIRONMENTS[name], "--steps", str(given.steps // len(chosen))]
        rows = []
        with subprocess.Popen(
            [sys.executable, __file__, *words], stdout=subprocess.PIPE, text=True
        ) as process:
            for line in process.stdout or ():
                rows.append(json.loads(line))
                print(name, line, end="", flush=True)
        if process.returncode:
            sys.exit(f"{name}: exit status {process.returncode}")
        record[name] = {"environment": ENVIRONMENTS[name], "growth": round(growth(rows), 4)}
        record[name]["curve"] = rows
        print(name, "growth after warm-up", record[name]["growth"])
        write_measured("soak", record, given.out)
    sys.exit(any(part["growth"] > MOST_GROWTH for part in record.values()))


if __name__ == "__main__":
    main()
