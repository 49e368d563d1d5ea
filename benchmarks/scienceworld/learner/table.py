"""The imitator's scores by task and memory, beside the rows that CLIN's paper prints.

    cd benchmarks/scienceworld/learner; python table.py episodes.jsonl.gz

The score is the engine's last one, -100 to 100, as in the paper; a failed episode counts 0.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import defaultdict
from pathlib import Path
from statistics import fmean

from gym_memory.envs.scienceworld.catalog import CLIN

PUBLISHED = ("DRRN", "ReAct", "Reflexion", "CLIN base", "CLIN Gen+Adapt")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("episodes", type=Path, help="episodes.jsonl or episodes.jsonl.gz")
    path = parser.parse_args().episodes
    scores: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            if row["task_id"]:
                scores[row["memory"]][row["task_id"].split("/")[1]].append(row["score"])
    memories = sorted(scores, key=lambda name: fmean(_means(scores[name])))
    print("| task | n |", " | ".join([*memories, *PUBLISHED]), "|")
    print("|---|--:|" + "--:|" * (len(memories) + len(PUBLISHED)))
    for row in CLIN:
        played = [scores[name].get(row.task, []) for name in memories]
        ours = [f"{fmean(part):.1f}" if part else "–" for part in played]
        theirs = [f"{row.published[name]:.1f}" for name in PUBLISHED]
        counts = sorted({len(part) for part in played})
        print(f"| {row.short} | {'–'.join(map(str, counts))} |", " | ".join(ours + theirs), "|")
    ours = [f"{fmean(_means(scores[name])):.1f}" for name in memories]
    theirs = [f"{fmean(row.published[name] for row in CLIN):.1f}" for name in PUBLISHED]
    print("| mean of the tasks | |", " | ".join(ours + theirs), "|")
    floored = [
        f"{fmean(fmean(max(0.0, s) for s in part) for part in scores[name].values()):.1f}"
        for name in memories
    ]
    print("| the same, -100 as 0 | |", " | ".join(floored + [""] * len(PUBLISHED)), "|")


def _means(tasks: dict[str, list[float]]) -> list[float]:
    return [fmean(part) for part in tasks.values()]


if __name__ == "__main__":
    main()
