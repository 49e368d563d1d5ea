"""Train SB3's MaskablePPO and PPO on Cooking rl-4 with and without a memory.

    OMP_NUM_THREADS=1 python benchmarks/rl/sb3.py               # all arms
    OMP_NUM_THREADS=1 python benchmarks/rl/sb3.py none 0        # one arm and seed

100 training games; 20 valid ones every 10,000 steps. The best player then plays the 100 games of
``held_out`` once. If interrupted, run it again. It writes ``sb3.json`` beside this file.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from gym_memory.core.files import read_json

HERE = Path(__file__).parent
OUT = Path("results/rl-sb3")
ENV = "Cooking?gata_actions=true&level=rl-4"
TRAIN = "--games 100 --steps 50000 --evaluate-every 10000 --checkpoint-every 10000 --stop-at 1.0"
SEEDS = (0, 1, 2)
ARMS = {"arigraph": "", "none": "", "ppo": "--set algorithm=ppo"}
"""Names of arms to further words of the command; ``ppo`` plays with ``arigraph``."""


def train(arm: str, seed: int) -> dict[str, Any]:
    """Train an arm and play the held-out games; return the curve and the scores."""
    folder, memory = OUT / f"{arm}-{seed}", "none" if arm == "none" else "arigraph"
    command("train", "sb3", "-e", ENV, *TRAIN.split(), *ARMS[arm].split(), "--seed", str(seed),
            "-m", memory, "--out", str(folder))  # fmt: skip
    played = OUT / f"played-{arm}-{seed}"
    command("run", "-e", f"{ENV}&split=held_out&max_steps=100", "-m", memory, "--seeds", "0:100",
            "-p", f"sb3?checkpoint={folder}", "--out", str(played))  # fmt: skip
    curve = [json.loads(line) for line in (folder / "curve.jsonl").read_text("utf-8").splitlines()]
    settings = read_json(folder / "config.json")["settings"]
    rows = map(json.loads, (played / "episodes.jsonl").read_text("utf-8").splitlines())
    return {
        "arm": arm,
        "ent_coef": settings["ent_coef"],
        "seed": seed,
        "curve": [[row["steps"], round(row["valid_score"], 4)] for row in curve],
        "cpu_seconds": round(curve[-1]["cpu_seconds"]),
        "scores": [round(row["normalized"], 4) for row in sorted(rows, key=lambda r: r["seed"])],
        "versions": read_json(folder / "result.json").get("versions", {}),
    }


def command(*words: str) -> None:
    """Run gym-memory."""
    subprocess.run(
        [sys.executable, "-m", "gym_memory", *words], check=True, stdout=subprocess.DEVNULL
    )


def key(row: dict[str, Any]) -> tuple[str, float, int]:
    """Return the identity of a training: arm, weight of the entropy and seed."""
    return row["arm"], row["ent_coef"], row["seed"]


def main() -> None:
    """Train the given arm, or all, and keep the rows."""
    given = sys.argv[1:]
    arms = [(given[0], int(given[1]))] if given else [(arm, s) for s in SEEDS for arm in ARMS]
    path = HERE / "sb3.json"
    for arm, seed in arms:
        row = train(arm, seed)
        kept = read_json(path) if path.exists() else []
        kept = sorted({key(row): row for row in [*kept, row]}.values(), key=key)
        lines = ",\n".join(map(json.dumps, kept))
        path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
