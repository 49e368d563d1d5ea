"""SmolLM2 cloned from the planner by its last two layers, and played by memory.

    OMP_NUM_THREADS=1 nice -n 10 python benchmarks/smollm/clone.py --steps 64 --games 4

The planner plays the first training games of Cooking rl-1 by a memory of its own; the model sees
the same states with the memory of its arm, prompts of at most 400 tokens. It then plays test games
of at most 12 steps. A row an arm goes to ``clone.jsonl``; an arm that is there is not played again,
one that was broken off goes on.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from gym_memory.baselines.learning.training import Trainer, TrainSettings
from gym_memory.cli.train import Arena
from gym_memory.run import rollout
from gym_memory.specs import parse_spec
from gym_memory.training.lm import Lm, LmLearner, LmSettings
from gym_memory.wrappers.make import make_env

ENV = "Cooking?level=rl-1&gata_actions=true"
BUDGET = 150
MAX_STEPS = 12


def play(memory: str, options: argparse.Namespace) -> dict[str, Any]:
    started = time.process_time()
    settings = LmSettings(batch=4, update_every=1, learn_start=16)
    teacher = settings.teacher_memory
    arena = Arena(ENV, memory, BUDGET, "valid", 4, teacher)
    how = TrainSettings(
        steps=options.steps, games=100, valid_games=1, envs=1, checkpoint_every=16,
        evaluate_every=options.steps,
    )  # fmt: skip
    folder = options.out / memory
    trainer = Trainer(LmLearner(settings), arena.make, how, folder, arena.record())
    try:
        last = trainer.run()[-1]
    finally:
        trainer.close()
    name, kwargs = parse_spec(ENV)
    env = make_env(name, memory=memory, budget=BUDGET, split="test", max_steps=MAX_STEPS, **kwargs)
    policy = Lm(str(folder / "last.safetensors"))
    results = [rollout(env, policy, seed=game) for game in range(options.games)]
    return {
        "memory": memory,
        **{key: last[key] for key in ("steps", "episodes", "updates", "clone_loss", "agreed")},
        "train_cpu_seconds": round(trainer.cpu_seconds),
        "scores": [round(result.normalized, 4) for result in results],
        "played_steps": [result.steps for result in results],
        "cpu_seconds": round(time.process_time() - started),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="SmolLM2 cloned.")
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--games", type=int, default=4)
    parser.add_argument("--memories", nargs="+", default=["arigraph", "none"])
    parser.add_argument("--out", type=Path, default=Path("results/smollm-clone"))
    options = parser.parse_args()
    path = Path(__file__).with_name("clone.jsonl")
    rows = [json.loads(line) for line in path.open()] if path.exists() else []
    for memory in options.memories:
        if memory not in [row["memory"] for row in rows]:
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(play(memory, options)) + "\n")


if __name__ == "__main__":
    main()
