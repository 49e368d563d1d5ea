"""Play the imitator on the twelve ScienceWorld tasks without any demonstration.

    python -m benchmarks scienceworld/unshown

Four dev variations a task, 50 steps, beside two controls on the same episodes: one that only looks
around, and a seeded random choice among the valid actions, which only this control sees.
Differences are of scores in [0, 1] with a wrong focus, -100, counted as 0; their intervals take the
task as the unit. The imitator was developed on the variations of ``--seeds 0:2``.
"""

from __future__ import annotations

import argparse
from statistics import fmean
from typing import Any

from keep import write_measured

from gym_memory.baselines import Policy
from gym_memory.baselines.base import make_policy
from gym_memory.baselines.rules.scienceworld.demonstrations import learn
from gym_memory.baselines.rules.scienceworld.imitator import SHIPPED
from gym_memory.baselines.scripted import Random
from gym_memory.games.scienceworld import catalog
from gym_memory.run import rollout
from gym_memory.run.config import Job
from gym_memory.run.results import intervals

STEPS = 50


def play(name: str, policy: Policy, memory: str, task: str, seed: int) -> dict[str, Any]:
    """Play one episode; return its score in points, -100 for a wrong focus."""
    shown = str(name == "random").lower()
    env = f"ScienceWorld?task={task}&split=dev&max_steps={STEPS}&valid_actions={shown}"
    made = Job(env, memory, name, seed).make_env()
    try:
        played = rollout(made, policy, seed)
    finally:
        made.close()
    return {"task": task, "seed": seed, "score": played.score, "lost": played.lost}


def floored(row: dict[str, Any]) -> float:
    """Return the score in [0, 1], a wrong focus as 0."""
    return max(0.0, row["score"]) / 100


def difference(rows: list[dict[str, Any]], others: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the mean of ``rows`` minus that of ``others``, in points."""
    gap = [floored(one) - floored(other) for one, other in zip(rows, others, strict=True)]
    found = intervals.gaps(gap, [row["task"] for row in rows])
    ends = found.interval() or (float("nan"), float("nan"))
    return {"mean": round(100 * found.mean, 1), "interval": [round(100 * end, 1) for end in ends]}


def main() -> None:
    """Play all of them and write the scores."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--memory", default="arigraph")
    parser.add_argument("--seeds", default="2:6", help="variations a task: FIRST:END")
    args = parser.parse_args()
    first, end = map(int, args.seeds.split(":"))
    shown = {one.task for one in learn(SHIPPED).demonstrations}
    tasks = sorted(name for name in catalog.TASKS if name not in shown)
    players = {
        "imitator": make_policy("imitator?checkpoint=shipped"),
        "idle": Random(fallback="look around"),  # it is shown no valid action
        "random": Random(),
    }
    record: dict[str, Any] = {"memory": args.memory, "seeds": args.seeds, "steps": STEPS}
    played: dict[str, list[dict[str, Any]]] = {}
    for name, policy in players.items():
        rows = [
            play(name, policy, args.memory, task, seed)
            for task in tasks
            for seed in range(first, end)
        ]
        played[name] = rows
        record[name] = {
            "mean": round(100 * fmean(map(floored, rows)), 1),
            "raw mean": round(fmean(row["score"] for row in rows), 1),
            "lost": sum(row["lost"] for row in rows),
        }
        print(name, record[name], flush=True)
    for control in ("idle", "random"):
        record[f"imitator - {control}"] = difference(played["imitator"], played[control])
        print(f"imitator - {control}", record[f"imitator - {control}"])
    write_measured("scienceworld/unshown", {**record, "episodes": played})


if __name__ == "__main__":
    main()
