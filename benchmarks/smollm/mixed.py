"""Train SmolLM2 once on many memories mixed, and play each memory with it and with the planner.

The model never sees a memory's name; its labels come from the planner. Its adapter ships::

    OMP_NUM_THREADS=1 nice python -m benchmarks smollm/mixed     # resumes if interrupted
    python benchmarks/tables.py

``mixed.jsonl`` has a line for the training, then for each game one per memory, which starts empty.
After an interruption, the table has the games that all memories have played.
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from keep import ship
from readers import Mixture, fill, play
from smollm.clone import BUDGET, LEVELS, train

from gym_memory.core.records import Observation, playable
from gym_memory.core.training_folder import LAST
from gym_memory.train.lm import Lm, LmLearner
from gym_memory.train.steps import state_prompt

KEPT = Path(__file__).with_name("mixed.jsonl")
LEVEL = LEVELS["rl-2"]._replace(states=1600, beta_steps=800, model="smollm?dtype=bfloat16")
"""Weights of 16 bits, which newer CPUs multiply in half the time; the player that ships has 32."""
TEST_GAMES = 20


class WholePrompts(LmLearner):
    """A learner that reads a prompt in one piece, in a quarter of the time of short pieces."""

    block = LEVEL.tokens


class Reader(Lm):
    """A player with the trained model, which decides equal states once."""

    learner_class = WholePrompts

    def __init__(self, checkpoint: str):
        super().__init__(checkpoint)
        self._decided: dict[str, str] = {}

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the likeliest valid action."""
        state = repr(state_prompt(playable(obs, info), None))
        if state not in self._decided:
            self._decided[state] = super().act(obs, info)
        return self._decided[state]


def main() -> None:
    """Train once, then play the missing games."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("results/smollm-mixed"))
    folder = parser.parse_args().out
    reader = functools.cache(lambda: Reader(str(folder / LAST)))

    def trained() -> dict[str, Any]:
        row = train(LEVEL, Mixture.name, folder, WholePrompts)
        ship("lm", folder / LAST, model="smollm")
        return row

    def played(memory: str, games: Sequence[int]) -> dict[str, Any]:
        policy, started = reader(), time.process_time()
        scores = play(memory, LEVEL.env, policy, games, budget=BUDGET, max_steps=LEVEL.max_steps)
        return {**scores, "cpu_seconds": round(time.process_time() - started)}

    fill(KEPT, trained, played, [[game] for game in range(TEST_GAMES)])


if __name__ == "__main__":
    main()
