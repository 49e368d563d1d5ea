"""Train the players that ship on Cooking rl-4 with arigraph; write them to baselines/rl/trained.

    python -m benchmarks agents/trained          # or some: agents/trained drrn sb3
    python benchmarks/tables.py                  # the table of docs/results/llm-beside-rl.md

They learn from the 100 training games; the best on 20 valid games ships, in 16 bits. If
interrupted, run it again.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from gym_memory.baselines.rl.shared import checkpoints

OUT = Path("results/trained")
ENV = "Cooking?gata_actions=true&level=rl-4"
COMMANDS = {
    **dict.fromkeys(("drrn", "gata", "ltl-gata"), "--steps 12000 --evaluate-every 3000"),
    "text": "--steps 4800 --evaluate-every 2400",
}
HOW = "--games 100 --valid-games 20 --stop-at 1.0"
PPO = "benchmarks/rl/sb3_cooking.py --level rl-4 --models ppo --steps 12000 --out"


def train(name: str) -> Path:
    """Train a player; return its file."""
    if name == "sb3":
        subprocess.run([sys.executable, *PPO.split(), str(OUT)], check=True)
        return OUT / "ppo.safetensors"
    words = ["gym-memory", "train", name, "-e", ENV, "-m", "arigraph", "--out", str(OUT / name)]
    subprocess.run([*words, *HOW.split(), *COMMANDS[name].split()], check=True)
    return OUT / name / checkpoints.BEST


def main() -> None:
    """Train, then ship."""
    os.environ["OMP_NUM_THREADS"] = "1"
    for name in sys.argv[1:] or [*COMMANDS, "sb3"]:
        tensors, record = checkpoints.read(train(name))
        halves = {key: tensor.half() for key, tensor in tensors.items()}
        checkpoints.write(checkpoints.SHIPPED / f"{name}.safetensors", halves, record)


if __name__ == "__main__":
    main()
