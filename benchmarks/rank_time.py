"""Measure the CPU seconds of `gym-memory rank` for a tier with one memory, in measured.json.

OMP_NUM_THREADS=1 python -m benchmarks rank_time          # smoke and standard with arigraph
python benchmarks/tables.py
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile

from keep import measured, write_measured

MEMORY = "arigraph"
TIERS = ("smoke", "standard")


def cpu_seconds(tier: str) -> int:
    """Rank the memory as a user does, with the workers' time."""
    before = _used()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-P", "-m", "gym_memory", "rank", MEMORY, "--tier", tier]
        subprocess.run([*command, "--out", f"{folder}/rank"], check=True, stdout=subprocess.DEVNULL)
    return round(_used() - before)


def _used() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Time each tier, or the named ones."""
    for tier in sys.argv[1:] or TIERS:
        write_measured("rank_time", {**measured("rank_time"), tier: cpu_seconds(tier)})


if __name__ == "__main__":
    main()
