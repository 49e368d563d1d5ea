"""Train a learner for a million steps on Cooking rl-4, and take the time.

    python -m benchmarks rl/million                  # all arms; hours
    python -m benchmarks rl/million drrn arigraph 0  # one learner, memory and seed
    python -m benchmarks rl/million words history 1 250000  # fewer steps
    python -m benchmarks rl/million words-levels none 0 50000  # easier levels first

100 training games; 20 valid ones every 25,000 steps. The best player then plays the 100 games of
``held_out`` once. One thread plays and learns. If interrupted, run it again: the training
continues, without its wall time. It writes ``million.json`` beside this file.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from keep import read_rows

HERE = Path(__file__).parent
OUT = Path("results/rl-million")
ENV = "Cooking?gata_actions=true&level="
EASIER = ("rl-1", "rl-2")
"""Levels of the curriculum before rl-4, each from the best player of the last one."""
LESSON = 25_000
"""Steps on each easier level."""
STEPS = 1_000_000
TRAIN = "--games 100 --evaluate-every 25000 --checkpoint-every 100000"
LEARNERS = {
    "drrn": ("drrn", "--set update_every=8"),
    "sb3": ("sb3", ""),
    "words": ("drrn", "--set update_every=8 --set facts=rendered --set vocabulary=16384"),
    "text": (
        "text",
        "--set teacher_memory= --set forget=0 --set dim=32 --set layers=1 --set lr=0.001 "
        "--set batch=16 --set update_every=8 --set clip=5",
    ),
}
"""Baseline and further words of the command; DRRN has half as many updates as by default."""
ARMS = (
    *((learner, memory) for learner in ("drrn", "sb3") for memory in ("arigraph", "none")),
    *(("words", memory) for memory in ("arigraph", "summary", "history", "none")),
    *(("text", memory) for memory in ("arigraph", "none")),
    *((f"{learner}-levels", memory) for learner in ("words", "text")
      for memory in ("arigraph", "none")),
)  # fmt: skip
"""Learners, and the memories that they see."""


def train(learner: str, memory: str, seed: int, steps: int = STEPS) -> dict[str, Any]:
    """Train and play the held-out games; return the curve, the times and the scores."""
    folder, played = OUT / f"{learner}-{memory}-{seed}", OUT / f"played-{learner}-{memory}-{seed}"
    baseline, words = LEARNERS[learner.removesuffix("-levels")]
    whole, begun = not folder.exists(), time.monotonic()
    start: list[str] = []
    best: dict[str, float] = {}
    lessons = EASIER if learner.endswith("-levels") else ()
    for level, length in (*((one, LESSON) for one in lessons), ("rl-4", steps)):
        out = folder if level == "rl-4" else folder.with_name(f"{folder.name}-{level}")
        command("train", baseline, "-e", ENV + level, *TRAIN.split(), *words.split(),
                "--steps", str(length), "--seed", str(seed), "-m", memory, *start,
                "--out", str(out))  # fmt: skip
        start = ["--start", str(out)]
        scores = [row["valid_score"] for row in read_rows(out / "curve.jsonl")]
        best[level] = round(max(scores), 4)
    minutes = (time.monotonic() - begun) / 60
    held_out = f"{ENV}rl-4&split=held_out&max_steps=100"
    command("run", "-e", held_out, "-m", memory, "--seeds", "0:100",
            "-p", f"{baseline}?checkpoint={folder}", "--out", str(played))  # fmt: skip
    curve = list(read_rows(folder / "curve.jsonl"))
    episodes = sorted(read_rows(played / "episodes.jsonl"), key=lambda row: int(row["seed"]))
    return {
        "learner": learner,
        "memory": memory,
        "seed": seed,
        "minutes": round(minutes, 1) if whole else None,
        "curve": [
            [row["steps"], round(row["cpu_seconds"]), round(row["valid_score"], 4)] for row in curve
        ],
        "scores": [round(row["normalized"], 4) for row in episodes],
        **({"best": best} if lessons else {}),
    }


def command(*words: str) -> None:
    """Run gym-memory with one thread."""
    subprocess.run(
        [sys.executable, "-m", "gym_memory", *words], check=True, stdout=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip


def key(row: dict[str, Any]) -> tuple[str, str, int, int]:
    """Return the identity of a training: learner, memory, steps and seed."""
    return row["learner"], row["memory"], row["curve"][-1][0], row["seed"]


def main() -> None:
    """Train the given arm, or all, and keep the rows."""
    given = sys.argv[1:]
    path = HERE / "million.json"
    arms = [(*given[:2], *map(int, given[2:]))] if given else [(*arm, 0) for arm in ARMS]
    for arm in arms:
        row = train(*arm)
        kept = json.loads(path.read_text("utf-8")) if path.exists() else []
        rows = sorted({key(row): row for row in [*kept, row]}.values(), key=key)
        lines = ",\n".join(map(json.dumps, rows))
        path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
