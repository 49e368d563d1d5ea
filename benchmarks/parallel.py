"""Measure how much sooner two workers finish long episodes than one.

    python benchmarks/parallel.py            # on a machine with two idle cores
    python benchmarks/parallel.py --episodes 400 --only scienceworld

Prints the speed-up in wall time, which needs idle cores, and the ratio of the CPU time of one
worker to that of two, which does not. The ratio shows the loss by contention (locks, caches, the
parent's work) and by repeated work (start, compilation in Java). The speed-up is at most twice this
ratio: ``speed_up_at_most``. All processes of the run count, sampled twenty times a second.

There are many episodes of similar length. In random play, ScienceWorld's step limit of 1,500 gives
one episode (grow-plant) that takes three quarters of the time of forty: the plants multiply, and
the engine's hash sets, which use one hash code for all objects to have a fixed order, take
quadratic time. A second worker does not help with it. A second Java machine costs some 10 to 15
CPU-s on a busy machine, most of it compiling: 6.7 % of 400 episodes, which bounds the speed-up to
1.87 there. The wall time in the JSON comes from two cores shared by ten processes and means little.
On idle cores one worker's Java compiles in parallel with its play, on the core of the second
worker, so that the same speed-up takes more episodes.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import time
from pathlib import Path

from keep import MEASURED, measured, write_measured

from gym_memory.run.compare import compare
from gym_memory.run.config import RunConfig

HERE = Path(__file__).parent
ENVIRONMENTS = {
    "textworld": "Cooking?level=hard&max_steps=400",
    "scienceworld": "ScienceWorld?max_steps=100",
}
EPISODES = {"textworld": 40, "scienceworld": 400}
EVERY = 0.05
TICK = os.sysconf("SC_CLK_TCK")


class Processor:
    """CPU seconds of this process and of all that it starts, including killed ones."""

    def __init__(self) -> None:
        self.seen: dict[int, float] = {}
        self.done = threading.Event()
        self.watch = threading.Thread(target=self._look)

    def __enter__(self) -> Processor:
        self.watch.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.done.set()
        self.watch.join()

    @property
    def seconds(self) -> float:
        """CPU seconds of all processes, including ended ones, since the start."""
        return sum(self.seen.values())

    def _look(self) -> None:
        began = time.process_time()
        while not self.done.wait(EVERY):
            self.seen[os.getpid()] = time.process_time() - began
            for process in children(os.getpid()):
                try:
                    stat = Path(f"/proc/{process}/stat").read_text()
                except OSError:  # it ended meanwhile
                    continue
                user, system = stat.rpartition(")")[2].split()[11:13]
                self.seen[process] = (int(user) + int(system)) / TICK


def children(process: int) -> list[int]:
    """Return the processes that a process has started, and their children."""
    try:
        children = [task.read_text() for task in Path(f"/proc/{process}/task").glob("*/children")]
    except OSError:  # it ended meanwhile
        return []
    own = [int(child) for child in " ".join(children).split()]
    return own + [grandchild for child in own for grandchild in children(child)]


def measure(env: str, episodes: int, workers: int) -> dict[str, float]:
    """Measure one run, its start included."""
    config = RunConfig((env,), ("arigraph",), ("random",), tuple(range(episodes)))
    with tempfile.TemporaryDirectory() as out, Processor() as processor:
        before = time.monotonic()
        rows = compare(config, out, workers=workers)
        seconds = time.monotonic() - before
    assert not any(row.result.failed for row in rows)
    steps = sum(row.result.steps for row in rows)
    return {"wall_s": round(seconds, 1), "cpu_s": round(processor.seconds, 1), "steps": steps}


def main() -> None:
    """Run each environment with one worker, then with two."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, help="40 of TextWorld, 400 of ScienceWorld")
    parser.add_argument("--only", choices=list(ENVIRONMENTS))
    parser.add_argument("--out", type=Path, default=MEASURED)
    given = parser.parse_args()
    record = measured("parallel", given.out)
    for name in [given.only] if given.only else list(ENVIRONMENTS):
        episodes = given.episodes or EPISODES[name]
        one, two = (measure(ENVIRONMENTS[name], episodes, n) for n in (1, 2))
        record[name] = {
            "environment": ENVIRONMENTS[name],
            "episodes": episodes,
            "one_worker": one,
            "two_workers": two,
            "speed_up_wall": round(one["wall_s"] / two["wall_s"], 2),
            "cpu_one_over_two": round(one["cpu_s"] / two["cpu_s"], 3),
            "speed_up_at_most": round(2 * one["cpu_s"] / two["cpu_s"], 2),
        }
        print(name, json.dumps(record[name], indent=1), flush=True)
        record[name]["load"] = round(os.getloadavg()[0], 1)
        record["cores"] = os.cpu_count()
        write_measured("parallel", record, given.out)


if __name__ == "__main__":
    main()
