"""Measure LDM2's memory on WebShop: tuples from demonstrations, retrieved on new requests.

    python benchmarks/webshop/ldm2.py

writes ``ldm2.json``. The demonstrations are those of ``shopper`` with ``arigraph`` on requests of
the train split (the paper has 500 of people). Along its successful episodes of the valid split: how
often the *kind* of the next action (search, open a product, read its details, choose an option, go
back, turn the page, buy) is among those of the k nearest examples, and among those of k random
tuples. No language model is called, so LDM2's agent has no score here.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import gymnasium as gym

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.baselines.rules.webshop import Shopper
from gym_memory.core.records import Cue
from gym_memory.core.trajectory import Trajectory, read_trajectory
from gym_memory.memory.ldm2.memory import LDM2
from gym_memory.run import rollout
from gym_memory.wrappers import RecordTrajectory

KS = (1, 3, 5)
_KINDS = {
    "click[< prev]": "go back",
    "click[next >]": "turn the page",
    "click[back to search]": "go back",
    "click[buy now]": "buy",
    "click[features]": "read",
    "click[description]": "read",
}


def kind(action: str) -> str:
    """Return the kind of an action."""
    if action.startswith("search["):
        return "search"
    known = _KINDS.get(action)
    return known or ("open" if action.startswith("click[b0") else "choose")


def demonstrate(path: Path, split: str, seeds: Iterable[int]) -> list[Trajectory]:
    """Record the shopper; return the demonstrations with full reward."""
    env = gym.make("gym_memory/WebShop-v0", split=split, memory="arigraph")
    recorder = RecordTrajectory(env, str(path))
    for seed in seeds:
        rollout(recorder, Shopper(), seed)
    recorder.close()
    return [t for t in read_trajectory(path) if t.outcome is not None and t.outcome.success]


def hits(memory: LDM2, unseen: list[Trajectory]) -> dict[str, float]:
    """Return the share of steps whose kind of action is among the k nearest."""
    found, count = Counter[int](), 0
    for game in unseen:
        memory.begin(game.task, 0)
        for step, following in zip(game.steps, game.steps[1:], strict=False):
            memory.observe(step)
            near = [kind(e.action) for _, e in memory.nearest(Cue(step.text, game.task.goal))]
            found.update({k: kind(following.action) in near[:k] for k in KS})
            count += 1
    return {f"top_{k}": round(found[k] / count, 3) for k in KS}


def guesses(memory: LDM2, unseen: list[Trajectory]) -> dict[str, float]:
    """Return the same share for tuples drawn at random."""
    rng = random.Random(0)
    actions = [
        kind(entry[-1]) for addition in memory.state()["tuples"] for entry in addition["entries"]
    ]
    wanted = [kind(step.action) for game in unseen for step in game.steps[1:]]
    return {
        f"top_{k}": round(sum(w in rng.sample(actions, k) for w in wanted) / len(wanted), 3)
        for k in KS
    }


def main() -> None:
    """Record, form, retrieve, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--demonstrations", type=int, default=120)
    parser.add_argument("--unseen", type=int, default=30)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        train = Path(folder) / "train.jsonl.gz"
        kept = demonstrate(train, "train", range(options.demonstrations))
        unseen = demonstrate(Path(folder) / "valid.jsonl.gz", "valid", range(options.unseen))
        begun = time.process_time()
        memory = LDM2(store=str(train), batch_size=100)
        formed = time.process_time() - begun
    rows: list[dict[str, Any]] = [
        {"memory": "ldm2", **hits(memory, unseen)},
        {"memory": "random tuples", **guesses(memory, unseen)},
    ]
    record = {
        "demonstrations": options.demonstrations,
        "of_these_with_full_reward": len(kept),
        "unseen": len(unseen),
        "unseen_steps": sum(len(game.steps) - 1 for game in unseen),
        "tuples": memory.stats().lessons,
        "formation_cpu_seconds": round(formed, 1),
        "rows": rows,
    }
    options.out.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
