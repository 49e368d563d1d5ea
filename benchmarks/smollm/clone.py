"""SmolLM2 cloned from the planner by its last two layers, and played by memory.

    OMP_NUM_THREADS=1 nice -n 10 python benchmarks/smollm/clone.py
    python benchmarks/smollm/clone.py --report

The planner plays training games of Cooking rl-2 by a memory of its own; the model sees the same
states with the memory of its arm, prompts of at most 400 tokens. The arms are trained alike; then
each plays the same test games of at most 10 steps. ``clone.jsonl`` has a row a training and a row a
game; what is there is not done again, and a training that was broken off goes on.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from gym_memory.baselines.learning.training import Trainer, TrainSettings
from gym_memory.cli.train import Arena
from gym_memory.results import intervals
from gym_memory.run import rollout
from gym_memory.specs import parse_spec
from gym_memory.training.lm import Lm, LmLearner, LmSettings
from gym_memory.wrappers.make import make_env

ENV = "Cooking?level=rl-2&gata_actions=true"
BUDGET = 150
MAX_STEPS = 10
PATH = Path(__file__).with_name("clone.jsonl")


def train(memory: str, options: argparse.Namespace) -> dict[str, Any]:
    settings = LmSettings(batch=4, update_every=1, learn_start=16)
    arena = Arena(ENV, memory, BUDGET, "valid", 2, settings.teacher_memory)
    how = TrainSettings(
        steps=options.steps, games=100, valid_games=1, envs=1, checkpoint_every=16,
        evaluate_every=options.steps,
    )  # fmt: skip
    trainer = Trainer(LmLearner(settings), arena.make, how, options.out / memory, arena.record())
    try:
        last = trainer.run()[-1]
    finally:
        trainer.close()
    told = ("steps", "episodes", "updates", "clone_loss", "agreed")
    return {**{key: last[key] for key in told}, "cpu_seconds": round(trainer.cpu_seconds)}


def play(memory: str, policy: Lm, game: int) -> dict[str, Any]:
    started = time.process_time()
    name, kwargs = parse_spec(ENV)
    env = make_env(name, memory=memory, budget=BUDGET, split="test", max_steps=MAX_STEPS, **kwargs)
    result = rollout(env, policy, seed=game)
    env.close()
    spent = round(time.process_time() - started)
    return {"score": round(result.normalized, 4), "steps": result.steps, "cpu_seconds": spent}


def report(rows: list[dict[str, Any]]) -> None:
    """Means with intervals over games, and the gap on the games that all arms played."""
    arms: dict[str, dict[int, float]] = {}
    for row in rows:
        if row["game"] is not None:
            arms.setdefault(row["memory"], {})[row["game"]] = row["score"]
    for memory, scores in arms.items():
        found = intervals.scores(list(scores.values()))
        print(memory, len(scores), round(found.mean, 3), found.interval())
    first, *others = arms
    for other in others:
        gaps = [arms[first][g] - arms[other][g] for g in arms[first] if g in arms[other]]
        found = intervals.gaps(gaps)
        print(f"{first} - {other}", len(gaps), round(found.mean, 3), found.interval())


def main() -> None:
    parser = argparse.ArgumentParser(description="SmolLM2 cloned.")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--games", type=int, default=10)
    parser.add_argument("--memories", nargs="+", default=["arigraph", "none"])
    parser.add_argument("--out", type=Path, default=Path("results/smollm-clone"))
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    rows = [json.loads(line) for line in PATH.open()] if PATH.exists() else []
    if options.report:
        report(rows)
        return
    done = {(row["memory"], row["game"]) for row in rows}

    def note(memory: str, game: int | None, row: dict[str, Any]) -> None:
        with PATH.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"memory": memory, "game": game, **row}) + "\n")

    for memory in options.memories:
        if (memory, None) not in done:
            note(memory, None, train(memory, options))
    policies = {
        memory: Lm(str(options.out / memory / "last.safetensors")) for memory in options.memories
    }
    for game in range(options.games):
        for memory, policy in policies.items():
            if (memory, game) not in done:
                note(memory, game, play(memory, policy, game))


if __name__ == "__main__":
    main()
