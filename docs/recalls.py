"""Play a real game with every memory and return its recall, for its page.

python docs/recalls.py [MEMORY ...]    # prints it
"""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gym_memory.core.trajectory import read_rows
from gym_memory.memory import MEMORIES
from gym_memory.memory.base import count_tokens
from gym_memory.run.compare import compare
from gym_memory.run.config import RunConfig
from gym_memory.viewer.recordings import Recording, find, replay_page

ENV, SEED, BUDGET, STEP = "TreasureHunt?level=easy", 3, 300, 16
OVER_TRIALS = ("clin", "reflexion", "ldm2", "placebo")
"""Memories that learn between episodes: their pages show the third."""


class Recalled(NamedTuple):
    """Text, recall and replay of one step, with the command that plays the game."""

    command: str
    step: int
    seen: str
    text: str
    tokens: int
    budget: int
    facts: int
    replay: str


def recall_all(names: Sequence[str] = ()) -> dict[str, Recalled]:
    """Return the recalls of memories, by name; of all by default."""
    names = names or MEMORIES.names()
    once = [name for name in names if name not in OVER_TRIALS]
    often = [name for name in names if name in OVER_TRIALS]
    return {
        **_play(once, ENV, "walkthrough", "single_episode"),
        **_play(often, f"{ENV}&max_steps=40", "learner", "trials?k=3"),
    }


def _play(names: list[str], env: str, policy: str, protocol: str) -> dict[str, Recalled]:
    if not names:
        return {}
    config = RunConfig(
        (env,), tuple(names), (policy,), (SEED,), protocol=protocol, budgets=(BUDGET,)
    )
    with tempfile.TemporaryDirectory() as folder:
        compare(config, Path(folder), workers=1)
        last = {recording.job.memory: recording for recording in find([folder])}
        words = ["gym-memory", "compare", "-e", env, "-p", policy, "--seeds", str(SEED)]
        words += ["--protocol", protocol, "--budget", str(BUDGET)]
        return {name: _recalled(name, last[name], words) for name in names}


def _recalled(name: str, recording: Recording, words: list[str]) -> Recalled:
    rows = [r for r in read_rows(recording.file) if r["episode"] == recording.episode]
    row = rows[min(STEP, len(rows) - 1)]
    play = f"{shlex.join(words)} \\\n    -m {name} --out results/{name}"
    trial = f'--episode "trial {recording.episode + 1}"'
    return Recalled(
        f"{play}\ngym-memory view results/{name} {trial} --html {name}.html",
        row["t"],
        row["text"].strip(),
        row.get("memory", "").strip(),
        count_tokens(row.get("memory", "")),
        BUDGET,
        len(row.get("recalled", ())),
        replay_page([recording]),
    )


if __name__ == "__main__":
    for name, what in recall_all(sys.argv[1:]).items():
        print(
            f"== {name}, step {what.step}, {what.tokens} tokens, {what.facts} facts\n{what.text}\n"
        )
