"""The imitator on the twelve tasks of ScienceWorld of which no demonstration is recorded.

    python benchmarks/scienceworld/unshown.py --out benchmarks/scienceworld/unshown.json

Two dev variations a task, 50 steps, raw scores: a wrong focus would be -100.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from gym_memory.baselines.players.scienceworld.demonstrations import learn
from gym_memory.baselines.registry import make_policy
from gym_memory.games.scienceworld import catalog
from gym_memory.run import rollout
from gym_memory.run.jobs import Job

RECORDED = Path(__file__).parent / "learner/demonstrations.jsonl.gz"


def main() -> None:
    """Play all of them and write the scores."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--memory", default="arigraph")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    shown = {one.task for one in learn(RECORDED).demonstrations}
    rows = []
    for task in sorted(name for name in catalog.TASKS if name not in shown):
        for seed in range(args.seeds):
            env = f"ScienceWorld?task={task}&split=dev&max_steps=50&valid_actions=false"
            policy = f"imitator?checkpoint={RECORDED}"
            made = Job(env, args.memory, "imitator", seed).make_env()
            try:
                played = rollout(made, make_policy(policy), seed)
            finally:
                made.close()
            rows.append({"task": task, "seed": seed, "score": played.score, "lost": played.lost})
            print(rows[-1], flush=True)
    mean = sum(float(str(row["score"])) for row in rows) / len(rows)
    lost = sum(bool(row["lost"]) for row in rows)
    record = {"memory": args.memory, "mean": round(mean, 2), "lost": lost, "episodes": rows}
    args.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
