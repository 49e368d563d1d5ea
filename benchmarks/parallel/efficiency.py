"""How much sooner two workers are done than one, over episodes long enough that the start is small.

    python benchmarks/parallel/efficiency.py            # on a machine with two idle cores
    python benchmarks/parallel/efficiency.py --episodes 16 --only textworld

Says the speed-up in wall time, which needs idle cores, and the processor time an episode of one
worker over that of two, which does not: what two workers lose to each other (locks, caches, the
parent's work) beyond waiting for a core. The speed-up can be twice this ratio at most.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from pathlib import Path

from gym_memory.experiment.compare import compare
from gym_memory.run.jobs import RunConfig

HERE = Path(__file__).parent
ENVIRONMENTS = {
    "textworld": "Cooking?level=hard&max_steps=400",
    "scienceworld": "ScienceWorld?max_steps=1500",
}


def processor() -> float:
    """CPU seconds of this process and of all that it has waited for."""
    own, children = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def measure(env: str, episodes: int, workers: int) -> dict[str, float]:
    """One run, its start included."""
    config = RunConfig((env,), ("arigraph",), ("random",), tuple(range(episodes)))
    with tempfile.TemporaryDirectory() as out:
        before, cpu = time.monotonic(), processor()
        rows = compare(config, out, workers=workers)
        seconds, cpu = time.monotonic() - before, processor() - cpu
    assert not any(row.result.failed for row in rows)
    steps = sum(row.result.steps for row in rows)
    return {"wall_s": round(seconds, 1), "cpu_s": round(cpu, 1), "steps": steps}


def main() -> None:
    """Each environment with one worker, then with two."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=40)
    parser.add_argument("--only", choices=list(ENVIRONMENTS))
    parser.add_argument("--out", type=Path, default=HERE / "efficiency.json")
    asked = parser.parse_args()
    record = {}
    for name in [asked.only] if asked.only else list(ENVIRONMENTS):
        one, two = (measure(ENVIRONMENTS[name], asked.episodes, n) for n in (1, 2))
        record[name] = {
            "environment": ENVIRONMENTS[name],
            "episodes": asked.episodes,
            "one_worker": one,
            "two_workers": two,
            "speed_up_wall": round(one["wall_s"] / two["wall_s"], 2),
            "cpu_one_over_two": round(one["cpu_s"] / two["cpu_s"], 3),
        }
        print(name, json.dumps(record[name], indent=1), flush=True)
    about = {"cores": os.cpu_count(), "load": [round(x, 1) for x in os.getloadavg()]}
    asked.out.write_text(json.dumps({**about, **record}, indent=1) + "\n")


if __name__ == "__main__":
    main()
