"""Train one reader on many memories mixed, and play each memory with it and with the planner.

The reader is the transformer of ``baselines/rl/text.py``. It sees the rendered text of a memory,
never its name, and its labels come from the planner; it shares no rule with it. So the table says
whether the order of memories by the planner holds for a model that reads::

    OMP_NUM_THREADS=1 nice python -m benchmarks text/mixed     # resumes if interrupted
    python benchmarks/tables.py

``mixed.jsonl`` has a line for the training and one for each memory.
"""

from __future__ import annotations

import argparse
import json
import zlib
from pathlib import Path
from typing import Any, ClassVar

from text.run import GAMES, MAX_STEPS

from gym_memory.baselines.base import make_policy
from gym_memory.baselines.rl.shared.training import Trainer, TrainSettings
from gym_memory.baselines.rl.text import Text, TextLearner, TextSettings
from gym_memory.cli.train import Arena
from gym_memory.core.names import Spec
from gym_memory.core.records import Cue, Outcome, Recall, Step, Task
from gym_memory.memory.base import MEMORIES, Memory, make_memory
from gym_memory.run import rollout
from gym_memory.wrappers.make import make_env

KEPT = Path(__file__).with_name("mixed.jsonl")
LEVEL, BUDGET, STEPS, TEST_GAMES = "rl-3", 500, 2400, 20
READ = (
    *("arigraph", "fusion", "summary", "stma", "history", "rag", "simulacra", "amem", "ldm2"),
    *("memrl", "present", "none"),
)
"""Memories of the mixture; the table has the controls ``shuffled`` and ``noise`` too."""
PLAYED = (*READ, "shuffled", "noise")
PLANNER = "planner?encoder=hash"


class Mixture(Memory):
    """A memory that is another one of :data:`READ` in each episode, in turn."""

    name: ClassVar[str] = "mixture"

    def __init__(self) -> None:
        self._inner = [make_memory(spec) for spec in READ]
        self._turn, self._now = 0, self._inner[0]

    def begin(self, task: Task, seed: int | None) -> None:
        """Start an episode with the next memory; games begin at different ones."""
        self._turn += 1
        start = zlib.crc32(task.id.encode())
        self._now = self._inner[(start + self._turn) % len(self._inner)]
        self._now.begin(task, seed)

    def observe(self, step: Step) -> None:
        """Let the memory of this episode learn."""
        self._now.observe(step)

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Return what it recalls."""
        return self._now.recall(cue, budget)

    def end(self, outcome: Outcome) -> None:
        """End its episode."""
        self._now.end(outcome)

    def state(self) -> dict[str, Any]:
        """Return whose turn it is; what a memory knows ends with its episode."""
        return {"turn": self._turn}

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on with the next episode."""
        self._turn = state["turn"]


def train(folder: Path) -> dict[str, Any]:
    """Train the reader; return what it came to."""
    MEMORIES.register("mixture", Mixture)
    s = TextSettings(update_every=2, beta_steps=STEPS)
    arena = Arena(GAMES[LEVEL], "mixture", BUDGET, "valid", MAX_STEPS, s.teacher_memory)
    how = TrainSettings(
        steps=STEPS, games=100, valid_games=4, evaluate_every=STEPS, checkpoint_every=400, seed=0
    )
    trainer = Trainer(TextLearner(s, seed=0), arena.make, how, folder, arena.record())
    try:
        curve = trainer.run()
    finally:
        trainer.close()
    found = {key: curve[-1][key] for key in ("updates", "clone_loss", "train_score")}
    return {"level": LEVEL, "steps": STEPS, "cpu_seconds": round(trainer.cpu_seconds), **found}


def play(memory: str, reader: Text) -> dict[str, Any]:
    """Play the test games with both readers."""
    name, kwargs = Spec(GAMES[LEVEL]).parts
    settings = {"budget": BUDGET, "split": "test", "max_steps": MAX_STEPS, **kwargs}
    row: dict[str, Any] = {"memory": memory}
    for who, policy in (("model", reader), ("rules", make_policy(PLANNER))):
        env = make_env(name, memory=memory, **settings)
        results = [rollout(env, policy, seed=game) for game in range(TEST_GAMES)]
        env.close()
        row[who] = [round(result.normalized, 4) for result in results]
    return row


def main() -> None:
    """Train once, then play what is missing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("results/mixed"))
    folder = parser.parse_args().out
    rows = [json.loads(line) for line in KEPT.open()] if KEPT.exists() else []
    done = {row.get("memory", "") for row in rows}
    with KEPT.open("a", encoding="utf-8") as file:
        if "" not in done:
            print(json.dumps(train(folder)), file=file, flush=True)
        for memory in PLAYED:
            if memory not in done:
                reader = Text(str(folder / "last.safetensors"), mode="greedy")
                print(json.dumps(play(memory, reader)), file=file, flush=True)


if __name__ == "__main__":
    main()
