"""Clone a small transformer over text for each memory, and play test games.

    OMP_NUM_THREADS=1 nice -n 10 python benchmarks/text/run.py
    python benchmarks/tables.py                      # README.md's table of what is finished

Every arm is trained by the same teacher (the planner with its own memory), for the same number of
steps and updates and without reward, on the first 100 training games; only the memory that it reads
differs. It then plays the first test games, greedily and by sampling. An arm in ``arms.jsonl`` is
not played again, and an interrupted one continues; the most important arms come first.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.baselines.rl.players import Text
from gym_memory.baselines.rl.shared.envs import LocalEnvs
from gym_memory.baselines.rl.shared.trainer import Trainer
from gym_memory.baselines.rl.shared.training import TrainSettings
from gym_memory.baselines.rl.text import TextLearner, TextSettings
from gym_memory.cli.train import Arena
from gym_memory.core.names import Spec
from gym_memory.run import rollout
from gym_memory.wrappers.make import make_env

HERE = Path(__file__).parent
LONGEST = ("rl-4", "hunt", "rl-3")
"""Levels trained for 4,800 steps too."""
UNHINTED = ("rl-4 without hint", "rl-3 without hint")
SHORTER = ("stma-2", "medium", "hunt, voices")
"""Levels trained for 2,400 steps, only for their curves."""
GAMES = {
    "rl-4": "Cooking?level=rl-4&gata_actions=true",
    "hunt": "TreasureHunt?level=easy",
    "rl-3": "Cooking?level=rl-3&gata_actions=true",
    "rl-4 without hint": "Cooking?level=rl-4&gata_actions=true&hints=false",
    "rl-3 without hint": "Cooking?level=rl-3&gata_actions=true&hints=false",
    "stma-2": "Cooking?level=stma-2",
    "medium": "Cooking?level=medium",
    "hunt, voices": "TreasureHunt?level=voices-easy",
}
MEMORIES = ("arigraph", "none", "history?full=true", "rag", "shuffled")
MAX_STEPS = 60


class Arm(NamedTuple):
    """An arm: its training and its test games."""

    game: str
    memory: str
    budget: int
    words: str
    seed: int
    steps: int = 1200


def arms() -> list[Arm]:
    """Return all arms, the most important first."""
    first = [Arm(game, memory, 500, "own", 0) for game in LONGEST + UNHINTED for memory in MEMORIES]
    again = [arm._replace(seed=1) for arm in first[:10]]

    def longer(game: str, seed: int) -> list[Arm]:
        memories = ("arigraph", "history", "none", "history?full=true", "rag", "shuffled")
        return [Arm(game, memory, 500, "own", seed, 4800) for memory in memories]

    minilm = [Arm("rl-4", memory, 500, "minilm", 0) for memory in ("arigraph", "none")]
    large = [Arm("rl-4", "rag", 4000, "own", 0, 4800)]
    # Curves of score against token budget in six worlds.
    curves = [
        Arm(game, memory, budget, "own", 0, 4800 if game in LONGEST else 2400)
        for memories in (("arigraph", "history"), ("summary", "stma", "rag"))
        for game in LONGEST + SHORTER
        for budget in (500, 125)
        for memory in memories
    ]
    every = (
        first[:15] + again + first[15:] + longer("rl-4", 0) + minilm + longer("rl-4", 1)
        + longer("hunt", 0) + large + longer("hunt", 1) + curves + longer("rl-3", 0)
        + longer("rl-4", 2)
    )  # fmt: skip
    return list(dict.fromkeys(every))


def play(arm: Arm, options: argparse.Namespace) -> dict[str, Any]:
    """Train and test one arm."""
    started = time.process_time()
    s = TextSettings(words=arm.words, update_every=2, beta_steps=arm.steps // 2)
    arena = Arena(GAMES[arm.game], arm.memory, arm.budget, "valid", MAX_STEPS, s.teacher_memory)
    how = TrainSettings(
        steps=arm.steps, games=100, valid_games=4, evaluate_every=arm.steps,
        checkpoint_every=400, seed=arm.seed,
    )  # fmt: skip
    folder = options.out / "-".join(map(str, arm)).replace("?", "-").replace(" ", "-")
    trainer = Trainer(
        TextLearner(s, seed=arm.seed), LocalEnvs(arena.make), how, folder, arena.record()
    )
    try:
        curve = trainer.run()
    finally:
        trainer.close()
    row: dict[str, Any] = {**arm._asdict(), "train_cpu_seconds": round(trainer.cpu_seconds)}
    row |= {key: curve[-1][key] for key in ("updates", "clone_loss", "train_score")}
    name, kwargs = Spec(GAMES[arm.game]).parts
    for mode in ("greedy", "sample"):
        policy = Text(str(folder / "last.safetensors"), mode=mode)
        env = make_env(
            name, memory=arm.memory, budget=arm.budget, split="test", max_steps=MAX_STEPS, **kwargs
        )
        results = [rollout(env, policy, seed=game) for game in range(options.games)]
        env.close()
        row[mode] = [round(result.normalized, 4) for result in results]
        row["tokens"] = round(sum(result.tokens for result in results) / len(results))
    return {**row, "cpu_seconds": round(time.process_time() - started)}


def main() -> None:
    parser = argparse.ArgumentParser(description="Memories read as text.")
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--level", choices=GAMES, help="only the arms of this one")
    parser.add_argument("--out", type=Path, default=Path("results/text"))
    options = parser.parse_args()
    path = HERE / "arms.jsonl"
    rows = [json.loads(line) for line in path.open()] if path.exists() else []
    done = {tuple(row[field] for field in Arm._fields) for row in rows}
    for arm in arms():
        if tuple(arm) not in done and options.level in (None, arm.game):
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(play(arm, options)) + "\n")


if __name__ == "__main__":
    main()
