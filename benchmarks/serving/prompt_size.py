"""Measure tokens of a prompt late and early in an episode: of constant size, and appended.

python -m benchmarks serving/prompt_size
"""

from __future__ import annotations

import json

import numpy as np
from keep import write_measured

from gym_memory.memory.base import count_tokens
from gym_memory.train.session import Session
from gym_memory.train.steps import opening, state_prompt, turn_text

ENVS = ("Cooking?level=hard&max_steps=160", "TreasureHunt?level=hard&max_steps=160")
BUDGETS, SEEDS, STEPS = (200, 400), 4, 153
ENDS = ("eat", "cook", "chop", "dice", "slice", "prepare")
"""Verbs that may end a game of Cooking early."""


def play(env: str, budget: int, seed: int) -> list[tuple[int, int]]:
    session, rng = Session(env, "arigraph", budget), np.random.default_rng(seed)
    turn = session.reset(seed=seed)
    grown, sizes = opening(turn.obs), []
    while len(sizes) < STEPS and not turn.done:
        state = sum(count_tokens(m["content"]) for m in state_prompt(turn.obs))
        sizes.append((state, count_tokens(grown)))
        valid = [a for a in turn.obs["valid_actions"] if not a.startswith(ENDS)]
        command = valid[int(rng.integers(len(valid)))]
        turn = session.step(command)
        grown += f"\n{command}\n{turn_text(turn.obs)}"
    session.close()
    return sizes


def main() -> None:
    found = []
    for env in ENVS:
        for budget in BUDGETS:
            games = [play(env, budget, seed) for seed in range(SEEDS)]
            held = np.array([game for game in games if len(game) == STEPS])
            early, late = (held[:, t - 2 : t + 3].mean(axis=(0, 1)) for t in (10, 150))
            found.append(
                {
                    "env": env,
                    "budget": budget,
                    "games": len(held),
                    "state": [round(float(early[0])), round(float(late[0]))],
                    "state_ratio": round(float(late[0] / early[0]), 2),
                    "appended": [round(float(early[1])), round(float(late[1]))],
                    "appended_ratio": round(float(late[1] / early[1]), 1),
                }
            )
    write_measured("serving/prompt_size", found)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
