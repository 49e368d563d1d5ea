"""Train the shipped players on Cooking rl-4 with arigraph; write them to baselines/rl/trained.

    python -m benchmarks agents/trained          # or some: agents/trained drrn
    python benchmarks/tables.py                  # the table of docs/results/llm-beside-rl.md

The best player on valid games ships, in 16 bits. If interrupted, run it again.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from keep import ship

from gym_memory.core.training_folder import BEST

OUT = Path("results/trained")
ENV = "Cooking?gata_actions=true&level=rl-4"
COMMANDS = {
    "drrn": "--games 20 --steps 8000 --evaluate-every 2000 --valid-games 10",
    "gata": "--games 100 --steps 12000 --evaluate-every 3000 --valid-games 20",
    "ltl-gata": "--games 100 --steps 3600 --evaluate-every 3600 --valid-games 10",
    "sb3": "--games 100 --steps 50000 --evaluate-every 10000 --set ent_coef=0.01",
    "text": "--games 100 --steps 4800 --evaluate-every 2400 --valid-games 20 --budget 500"
    " --set update_every=2 --set beta_steps=2400",
}


def train(name: str) -> Path:
    """Train a player; return its file."""
    words = ["gym-memory", "train", name, "-e", ENV, "-m", "arigraph", "--out", str(OUT / name)]
    subprocess.run([*words, *COMMANDS[name].split(), "--stop-at", "1.0"], check=True)
    return OUT / name / BEST


def main() -> None:
    """Train, then ship."""
    os.environ["OMP_NUM_THREADS"] = "1"
    for name in sys.argv[1:] or COMMANDS:
        ship(name, train(name))


if __name__ == "__main__":
    main()
