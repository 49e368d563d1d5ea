"""Print the share of tasks of finished runs that are done within some numbers of steps.

python benchmarks/alfworld/within.py results/alfworld/searcher results/alfworld/searcher_ours
"""

from __future__ import annotations

import sys
from pathlib import Path

from gym_memory.run.results import read_episodes

LIMITS = (10, 15, 20, 30, 50)


def table(folder: Path) -> None:
    rows: dict[tuple[str, str], list[int]] = {}
    for job in read_episodes(folder):
        for row in job:
            steps = row.result.steps if row.result.success else sys.maxsize
            rows.setdefault((row.job.policy, row.job.memory), []).append(steps)
    print(f"\n## {folder.name}\n")
    print(f"| policy | memory | n | {' | '.join(map(str, LIMITS))} |")
    print(f"|---|---|{'--:|' * (len(LIMITS) + 1)}")
    for (policy, memory), steps in rows.items():
        shares = [f"{sum(s <= limit for s in steps) / len(steps):.2f}" for limit in LIMITS]
        print(f"| {policy} | {memory} | {len(steps)} | {' | '.join(shares)} |")


if __name__ == "__main__":
    print("Share of tasks done within so many steps; failed ones count as not done.")
    for run in sys.argv[1:]:
        table(Path(run))
