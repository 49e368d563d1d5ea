"""Train one reader a world on many memories mixed, and play each memory with it and the planner.

The reader is the transformer of ``baselines/rl/text.py``. It sees the rendered text of a memory,
never its name; memories and budgets change from episode to episode. The planner labels the first
100 training games, whose reward is not used (DAgger). So the tables show whether the planner's
order of memories holds for a model that reads, and the worth of each memory within a budget::

    OMP_NUM_THREADS=1 nice python -m benchmarks text/mixed     # resumes if interrupted
    OMP_NUM_THREADS=1 nice python -m benchmarks text/mixed --own
    python benchmarks/tables.py

``mixed.jsonl`` has a line for each training, and one for each memory in a world under a budget.
With ``--own``, readers are trained on one memory alone; ``own.jsonl`` has their scores.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from keep import read_rows
from readers import PLAYED, Mixture, play

from gym_memory.baselines.rl.players import Text
from gym_memory.baselines.rl.shared.envs import LocalEnvs
from gym_memory.baselines.rl.shared.trainer import Trainer
from gym_memory.baselines.rl.shared.training import TrainSettings
from gym_memory.baselines.rl.text import TextLearner, TextSettings
from gym_memory.cli.train import Arena
from gym_memory.core.names import Spec

KEPT, OWN = (Path(__file__).with_name(f"{name}.jsonl") for name in ("mixed", "own"))
WORLDS = (
    "Cooking?level=rl-4&gata_actions=true",
    "TreasureHunt?level=easy",
    "Cooking?level=rl-3&gata_actions=true",
    "TreasureHunt?level=voices-easy",
    "Cooking?level=medium",
    "Cooking?level=stma-2",
)
CURVES = ("arigraph", "history", "summary", "rag", "stma")
"""Memories that play under smaller budgets too."""
LARGEST, CUTS = 500, 3
STEPS, OWN_STEPS, TEST_GAMES, MAX_STEPS = 16_000, 4_800, 20, 60
OWN_TRAININGS = 3


def train(world: str, memory: str, steps: int, folder: Path, seed: int = 0) -> dict[str, Any]:
    """Train a reader of a world; return the result."""
    s = TextSettings(update_every=2, beta_steps=steps // 2)
    arena = Arena(world, memory, LARGEST, "valid", MAX_STEPS, s.teacher_memory)
    how = TrainSettings(
        steps=steps, games=100, valid_games=4, evaluate_every=steps, checkpoint_every=400, seed=seed
    )
    learner = TextLearner(s, seed=seed)
    trainer = Trainer(learner, LocalEnvs(arena.make), how, folder, arena.record())
    try:
        curve = trainer.run()
    finally:
        trainer.close()
    found = {key: curve[-1][key] for key in ("updates", "clone_loss", "train_score")}
    return {"steps": steps, "cpu_seconds": round(trainer.cpu_seconds), **found}


def arms() -> Iterator[tuple[str, int]]:
    """Yield memories and budgets: all under the largest, some under its halves."""
    yield from ((memory, LARGEST) for memory in PLAYED)
    yield from ((memory, LARGEST >> cut) for cut in range(1, CUTS) for memory in CURVES)


def scores(world: str, memory: str, budget: int, folder: Path) -> dict[str, Any]:
    """Return the scores of the reader in a folder and of the planner."""
    reader = Text(str(folder / "last.safetensors"), mode="greedy")
    games = range(TEST_GAMES)
    return play(memory, world, reader, games, budget=budget, max_steps=MAX_STEPS)


def shared(world: str, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the missing rows of a world, whose reader all memories share."""
    done = [(row.get("memory"), row.get("budget")) for row in read_rows(KEPT)
            if row["world"] == world]  # fmt: skip
    if not done:
        yield train(world, f"{Mixture.name}?cuts={CUTS}", STEPS, folder)
    for memory, budget in arms():
        if (memory, budget) not in done:
            row = scores(world, memory, budget, folder)
            yield {"memory": memory, "budget": budget, **row}


def own(world: str, out: Path) -> Iterator[dict[str, Any]]:
    """Yield the missing rows of readers of one memory in a world, seed after seed."""
    done = [(row["memory"], row["seed"]) for row in read_rows(OWN) if row["world"] == world]
    for seed, memory in itertools.product(range(OWN_TRAININGS), ("none", *CURVES)):
        if (memory, seed) not in done:
            folder = out / f"own-{name_of(world)}-{memory}-{seed}"
            trained = train(world, memory, OWN_STEPS, folder, seed)
            row = scores(world, memory, LARGEST, folder)
            yield {"memory": memory, "seed": seed, "budget": LARGEST, **trained, **row}


def name_of(world: str) -> str:
    """Return the name of a world for its folder."""
    name, settings = Spec(world).parts
    return f"{name}-{settings['level']}"


def main() -> None:
    """Train and play what is missing, world by world."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("worlds", nargs="*", default=WORLDS, help="only these")
    parser.add_argument("--own", action="store_true", help="readers of one memory")
    parser.add_argument("--out", type=Path, default=Path("results/mixed"))
    given = parser.parse_args()
    for world in given.worlds:
        if given.own:
            rows, path = own(world, given.out), OWN
        else:
            rows, path = shared(world, given.out / name_of(world)), KEPT
        for row in rows:
            keep(path, {"world": world, **row})


def keep(path: Path, row: dict[str, Any]) -> None:
    """Append a row."""
    with path.open("a", encoding="utf-8") as file:
        print(json.dumps(row), file=file)


if __name__ == "__main__":
    main()
