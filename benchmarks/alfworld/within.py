"""How many tasks are done within so many steps, read off a finished run.

python benchmarks/alfworld/within.py results/alfworld/searcher
"""

from __future__ import annotations

import sys
from pathlib import Path

from gym_memory.results import read_episodes

LIMITS = (10, 15, 20, 30, 50)


def main(folder: str) -> None:
    rows: dict[tuple[str, str], list[int]] = {}
    for job in read_episodes(Path(folder)):
        for row in job:
            steps = row.result.steps if row.result.success else sys.maxsize
            rows.setdefault((row.job.policy, row.job.memory), []).append(steps)
    print("Share of tasks done within so many steps; failed ones count as not done.\n")
    print(f"| policy | memory | n | {' | '.join(map(str, LIMITS))} |")
    print(f"|---|---|{'--:|' * (len(LIMITS) + 1)}")
    for (policy, memory), steps in rows.items():
        shares = [f"{sum(s <= limit for s in steps) / len(steps):.2f}" for limit in LIMITS]
        print(f"| {policy} | {memory} | {len(steps)} | {' | '.join(shares)} |")


if __name__ == "__main__":
    main(sys.argv[1])
