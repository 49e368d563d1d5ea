"""Count the steps after which TextWorld's inventory from the logical state equals the engine's.

Every level plays its walkthroughs with commands by chance in between; the engine answers
``inventory`` after each step.

    python -m benchmarks inventory 10000 > benchmarks/inventory.jsonl
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from gym_memory.games.textworld.cleaning import Cleaning
from gym_memory.games.textworld.cooking import Cooking
from gym_memory.games.textworld.engine import clean_text
from gym_memory.games.textworld.errands import Errands
from gym_memory.games.textworld.treasure_hunt import TreasureHunt

FAMILIES = (Cooking, TreasureHunt, Cleaning, Errands)
LEVELS = [(family, level) for family in FAMILIES for level in family.levels]
_IDLE = ("go", "look", "inventory", "examine", "open", "close")


def compare(family: Any, level: str, steps: int) -> dict[str, Any]:
    """Play ``steps`` steps; return how many lists differ and how many the engine had to give."""
    env, chance = family(level, inventory=False), np.random.default_rng(0)
    engine, played, unequal, sent, seed = env.engine, 0, [], 0, 0
    while played < steps:
        env.reset(seed=seed % 4)  # games take longer to generate than to play
        seed += 1
        walk, others = list(env.oracle().walkthrough), 0
        while walk and played < steps and others < 60:
            acts = [a for a in engine.admissible_commands() if a.split()[0] not in _IDLE]
            if acts and chance.random() < 0.6:
                action, others = acts[chance.integers(len(acts))], others + 1
            else:
                action = walk.pop(0)
            if engine.send(action).won or engine._over:
                break
            before = engine._machine.save()
            truth = clean_text(engine._machine.send("inventory"))[0]
            engine._machine.load(before)
            sent += engine._inventory is None and engine._carried is None
            played += 1
            if engine.inventory() != truth:
                unequal.append([action, truth, engine.inventory()])
    env.close()
    return {"level": f"{family.__name__} {level}", "steps": played, "sent": sent,
            "unequal": unequal}  # fmt: skip


def main(steps: int) -> None:
    for level in LEVELS:
        print(json.dumps(compare(*level, -(-steps // len(LEVELS)))), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
