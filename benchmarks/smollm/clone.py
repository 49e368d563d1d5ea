"""Clone SmolLM2 from the planner by adapters, and play by memory.

    OMP_NUM_THREADS=1 nice -n 10 python benchmarks/smollm/clone.py --level rl-4
    python benchmarks/smollm/clone.py --level hunt
    python benchmarks/smollm/clone.py --level rl-4 --dagger 1000

The planner plays training games with its own memory; the model sees the same states with the memory
of its arm. With ``--dagger STATES`` the model takes over during the first half of these states, and
continues to learn the planner's actions. The arms of a level are trained in the same way; then each
plays the same test games. ``clone.jsonl`` has a row per training and a row per game; finished rows
are not repeated, and an interrupted training continues.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.baselines.rl.shared.envs import LocalEnvs
from gym_memory.baselines.rl.shared.trainer import Trainer
from gym_memory.baselines.rl.shared.training import TrainSettings
from gym_memory.cli.train import Arena
from gym_memory.core.names import Spec
from gym_memory.run import rollout
from gym_memory.train.lm import Lm, LmLearner, LmSettings
from gym_memory.wrappers.make import make_env

BUDGET = 150
MOST = 2000
"""Most states of a training; their prompts are cached, and it is measured only at its end."""
PATH = Path(__file__).with_name("clone.jsonl")


class Level(NamedTuple):
    """The training and play of a level.

    Attributes:
        env: The environment.
        tokens: Tokens of a prompt at most; the memory is cut to fit.
        states: Labelled states.
        max_steps: Steps of a test game.
        beta_steps: Steps over which the model takes over while it learns; 0: it never does.
        model: The language model.
    """

    env: str
    tokens: int
    states: int
    max_steps: int
    beta_steps: int = 0
    model: str = "smollm"


LEVELS = {
    "rl-2": Level("Cooking?level=rl-2&gata_actions=true", 400, 300, 10),
    "rl-4": Level("Cooking?level=rl-4&gata_actions=true", 520, 700, 25),
    "hunt": Level("TreasureHunt?level=easy", 520, 700, 40),
}


def train(
    level: Level, memory: str, folder: Path, learner: type[LmLearner] = LmLearner
) -> dict[str, Any]:
    settings = LmSettings(
        model=level.model, batch=4, update_every=1, learn_start=16, tokens=level.tokens,
        kept=MOST, beta_steps=level.beta_steps,
    )  # fmt: skip
    arena = Arena(level.env, memory, BUDGET, "valid", 2, settings.teacher_memory)
    how = TrainSettings(
        steps=level.states, games=100, valid_games=1, envs=1, checkpoint_every=16,
        evaluate_every=MOST,
    )  # fmt: skip
    trainer = Trainer(learner(settings), LocalEnvs(arena.make), how, folder, arena.record())
    try:
        last = trainer.run()[-1]
    finally:
        trainer.close()
    kept = ("steps", "episodes", "updates", "clone_loss", "agreed")
    return {**{key: last[key] for key in kept}, "cpu_seconds": round(trainer.cpu_seconds)}


def play(level: Level, memory: str, policy: Lm, game: int) -> dict[str, Any]:
    started = time.process_time()
    name, kwargs = Spec(level.env).parts
    env = make_env(
        name, memory=memory, budget=BUDGET, split="test", max_steps=level.max_steps, **kwargs
    )
    result = rollout(env, policy, seed=game)
    env.close()
    spent = round(time.process_time() - started)
    return {"score": round(result.normalized, 4), "steps": result.steps, "cpu_seconds": spent}


def main() -> None:
    parser = argparse.ArgumentParser(description="SmolLM2 cloned.")
    parser.add_argument("--level", choices=LEVELS, default="rl-2")
    parser.add_argument("--dagger", type=int, default=0, metavar="STATES")
    parser.add_argument("--games", type=int, default=10)
    parser.add_argument("--memories", nargs="+", default=["arigraph", "none"])
    parser.add_argument("--out", type=Path, default=Path("results/smollm-clone"))
    options = parser.parse_args()
    rows = [json.loads(line) for line in PATH.open()] if PATH.exists() else []
    name, level = options.level, LEVELS[options.level]
    if options.dagger:
        states = options.dagger
        name, level = f"{name}-dagger", level._replace(states=states, beta_steps=states // 2)
    done = {(row["memory"], row["game"]) for row in rows if row["level"] == name}

    def note(memory: str, game: int | None, row: dict[str, Any]) -> None:
        with PATH.open("a", encoding="utf-8") as file:
            kept = {"level": name, "memory": memory, "game": game, **row}
            file.write(json.dumps(kept) + "\n")

    folders = {memory: options.out / name / memory for memory in options.memories}
    for memory, folder in folders.items():
        if (memory, None) not in done:
            note(memory, None, train(level, memory, folder))
    policies = {memory: Lm(str(folders[memory] / "last.safetensors")) for memory in folders}
    for game in range(options.games):
        for memory, policy in policies.items():
            if (memory, game) not in done:
                note(memory, game, play(level, memory, policy, game))


if __name__ == "__main__":
    main()
