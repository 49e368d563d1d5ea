"""Measure the cost of checksums, as a share of the CPU time of recorded episodes.

    python -m benchmarks checksums                 # measured.json

The planner cooks while every step is recorded, with a memory that keeps facts in a store, and with
one that keeps none. All functions that make or check a checksum are timed as a whole, so the share
is an upper bound: it includes the encoding of their input, and the clock. The CRC inside of gzip is
timed by a second sum over the same rows.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from keep import MEASURED, write_measured

from gym_memory.core import files
from gym_memory.memory import base
from gym_memory.memory.stores import database, facts, store
from gym_memory.run.config import Job, RunConfig
from gym_memory.run.play import play_job
from gym_memory.run.results import ResultsFolder, folder, verify

ENV = "Cooking?level=medium"


class Clock:
    """A sum of the CPU time of wrapped functions."""

    def __init__(self) -> None:
        self.spent = 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*words: Any) -> Any:
            before, started = self.spent, time.process_time()
            try:
                return function(*words)
            finally:  # nested calls are counted once
                self.spent = before + time.process_time() - started

        return call


def measure(memory: str, seeds: int, clock: Clock, where: Path) -> dict[str, float]:
    """Play; return milliseconds a step in all and for checksums, and the share in percent."""
    config = RunConfig((ENV,), (memory,), ("planner",), tuple(range(seeds)))
    steps, clock.spent, started = 0, 0.0, time.process_time()
    with ResultsFolder(where / "run", config) as run:
        run.set_backends({ENV: "-"})
        for job in run.todo():
            rows = list(play_job(job, record=str(where / f"{job.seed}.jsonl.gz")))
            assert not any(row.result.failed for row in rows), rows
            run.append(rows)
            steps += sum(row.result.steps for row in rows)
    spent = time.process_time() - started
    recorded = [gzip.decompress(path.read_bytes()) for path in sorted(where.glob("*.gz"))]
    before = time.process_time()
    for content in recorded:
        zlib.crc32(content)
    sums = clock.spent + time.process_time() - before
    return {
        "steps": steps,
        "step_ms": round(1000 * spent / steps, 3),
        "checksums_ms": round(1000 * sums / steps, 4),
        "share_percent": round(100 * sums / spent, 2),
    }


def main() -> None:
    """Measure both memories and keep the shares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=MEASURED)
    given = parser.parse_args()
    clock = Clock()
    for module in (files, base, database, facts, store, folder, verify):
        for name in ("seal", "unseal", "checksum", "check_row"):
            function = getattr(module, name, None)
            if function is not None:
                setattr(module, name, clock.timed(function))
    list(play_job(Job(ENV, "arigraph", "planner", 0)))  # imports and compiles shared code
    record = {}
    for memory in ("arigraph", "arigraph?lifetime=forever&store={}"):
        with tempfile.TemporaryDirectory() as where:
            named = memory.format(Path(where, "facts.db"))
            record[memory.format("facts.db")] = measure(named, given.seeds, clock, Path(where))
    write_measured("checksums", record, given.out)
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
