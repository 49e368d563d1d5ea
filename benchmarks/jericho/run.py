"""Play a story under the protocols that the field reports, each player beside published scores.

    python -m benchmarks jericho --story zork1.z3
    python -m benchmarks jericho --story zork1.z3 --arm "interactions explorer none" --seeds 5:7

Each job has a row in benchmarks/jericho/scores.json; finished jobs are not played again. Then
the tables of docs/results/interactive-fiction.md are written.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from gym_memory.core.names import Spec
from gym_memory.run.config import Job, parse_seeds
from gym_memory.run.play import play_job
from gym_memory.run.protocols import make_protocol

OUT = Path(__file__).with_name("scores.json")
ARMS = (
    *(f"interactions {p}" for p in ("explorer arigraph", "explorer none")),
    "interactions explorer?restore=replay arigraph",
    *("interactions planner arigraph", "interactions random none"),
    *(f"tales {p}" for p in ("explorer arigraph", "explorer none", "planner arigraph")),
    *(f"tales?actions=true {p}" for p in ("explorer arigraph", "explorer none")),
    *(f"tales?actions=true {p}" for p in ("planner arigraph", "random none")),
    *(f"evotest {p}" for p in ("explorer arigraph", "explorer none", "planner arigraph")),
    "evotest?actions=true explorer arigraph",
)
"""Protocol, policy and memory."""


def play(story: Path, arm: str, seed: int) -> dict[str, object]:
    """Play one job; scores are in the story's points."""
    protocol, policy, memory = arm.split()
    job = Job(Spec.of("Jericho", {"path": str(story)}), memory, policy, seed, protocol)
    results = [row.result for row in play_job(job)]
    failed = next((result.failed for result in results if result.failed), "")
    if failed:
        raise SystemExit(f"{arm}, seed {seed}: {failed}")
    best = results[0].max_score
    score = make_protocol(protocol).summarize(results)
    counts = [result.counters for result in results]
    return {
        "story": story.name, "arm": arm, "seed": seed, "score": round(score.score * best, 2),
        "best": round(max(v for _, v in score.curve) * best, 2), "max_score": best,
        "steps": score.steps, "curve": [[step, round(v * best, 2)] for step, v in score.curve],
        "trials": [round(result.score, 2) for result in results],
        **{name: sum(c.get(name, 0) for c in counts) for name in ("restored", "replayed")},
    }  # fmt: skip


def main() -> None:
    """Play the missing jobs, and write every row at once."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--story", type=Path, required=True, help="a story file")
    parser.add_argument("--arm", nargs="+", default=ARMS, help="'protocol policy memory'")
    parser.add_argument("--seeds", type=parse_seeds, default="5:10", help="0 to 4 are for tuning")
    args = parser.parse_args()
    rows = json.loads(OUT.read_text("utf-8")) if OUT.exists() else []
    for seed in args.seeds:
        for arm in args.arm:
            if any((r["story"], r["arm"], r["seed"]) == (args.story.name, arm, seed) for r in rows):
                continue
            rows.append(play(args.story, arm, seed))
            lines = ",\n".join(json.dumps(row) for row in rows)
            OUT.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
            print(f"{arm:52} {seed} {rows[-1]['score']:7.2f}", flush=True)
    subprocess.run([sys.executable, "benchmarks/tables.py"], check=True)


if __name__ == "__main__":
    main()
