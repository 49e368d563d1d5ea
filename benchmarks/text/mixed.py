"""Train one reader on many memories mixed, and play each memory with it and with the planner.

The reader is the transformer of ``baselines/rl/text.py``. It sees the rendered text of a memory,
never its name, and its labels come from the planner; it shares no rule with it. So the table shows
whether the planner's order of memories holds for a model that reads::

    OMP_NUM_THREADS=1 nice python -m benchmarks text/mixed     # resumes if interrupted
    python benchmarks/tables.py

``mixed.jsonl`` has a line for the training and one for each memory.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from readers import Mixture, fill, play
from text.run import GAMES, MAX_STEPS

from gym_memory.baselines.rl.players import Text
from gym_memory.baselines.rl.shared.envs import LocalEnvs
from gym_memory.baselines.rl.shared.trainer import Trainer
from gym_memory.baselines.rl.shared.training import TrainSettings
from gym_memory.baselines.rl.text import TextLearner, TextSettings
from gym_memory.cli.train import Arena

KEPT = Path(__file__).with_name("mixed.jsonl")
LEVEL, BUDGET, STEPS, TEST_GAMES = "rl-3", 500, 2400, 20


def train(folder: Path) -> dict[str, Any]:
    """Train the reader; return the result."""
    s = TextSettings(update_every=2, beta_steps=STEPS)
    arena = Arena(GAMES[LEVEL], Mixture.name, BUDGET, "valid", MAX_STEPS, s.teacher_memory)
    how = TrainSettings(
        steps=STEPS, games=100, valid_games=4, evaluate_every=STEPS, checkpoint_every=400, seed=0
    )
    trainer = Trainer(TextLearner(s, seed=0), LocalEnvs(arena.make), how, folder, arena.record())
    try:
        curve = trainer.run()
    finally:
        trainer.close()
    found = {key: curve[-1][key] for key in ("updates", "clone_loss", "train_score")}
    return {"level": LEVEL, "steps": STEPS, "cpu_seconds": round(trainer.cpu_seconds), **found}


def main() -> None:
    """Train once, then play the missing games."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("results/mixed"))
    folder = parser.parse_args().out

    def played(memory: str, games: Sequence[int]) -> dict[str, Any]:
        reader = Text(str(folder / "last.safetensors"), mode="greedy")
        return play(memory, GAMES[LEVEL], reader, games, budget=BUDGET, max_steps=MAX_STEPS)

    fill(KEPT, lambda: train(folder), played, [range(TEST_GAMES)])


if __name__ == "__main__":
    main()
