"""Measure the cost of wrapping per step: the same actions, bare and wrapped.

    python benchmarks/foreign/overhead.py    # prints the table of README.md

CPU milliseconds per step, the minimum of four interleaved rounds of the same 20 steps; wall
milliseconds if the engine runs in a Java process.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

from draw import environment, snippets

from gym_memory.wrappers.memory import MemoryObservation

STEPS, ROUNDS = 20, 4
JAVA = ("scienceworld", "textworld-express")


def plan(env: Any) -> list[str]:
    """Return random valid actions of an episode."""
    rng, actions = random.Random(0), []
    obs, _ = env.reset(seed=0)
    for _ in range(STEPS):
        actions.append(rng.choice(obs["valid_actions"]))
        obs, _, terminated, truncated, _ = env.step(actions[-1])
        if terminated or truncated:
            break
    return actions


def milliseconds(
    reset: Callable[[], Any], step: Callable[[str], Any], actions: list[str], clock: Any
) -> float:
    """Return the mean time of a step over one round."""
    reset()
    began = clock()
    for action in actions:
        step(action)
    return (clock() - began) / len(actions) * 1e3


def row(name: str) -> str:
    """Return a line of the table."""
    made = environment(name)
    raw = made.unwrapped
    actions = plan(made)
    clock = time.perf_counter if name in JAVA else time.process_time
    commands = {a: raw._names.index(a) if raw._names else a for a in actions}

    def reset() -> None:
        raw.reset(seed=0)

    def bare(action: str) -> None:
        raw.foreign.step(commands[action])

    envs = [MemoryObservation(raw, memory=memory) for memory in ("none", "arigraph")]
    ways = [(reset, bare), *((lambda env=env: env.reset(seed=0), env.step) for env in envs)]
    rounds = [[milliseconds(*way, actions, clock) for way in ways] for _ in range(ROUNDS)]
    times = [min(column) for column in zip(*rounds, strict=True)]
    made.close()
    cells = " | ".join(f"{ms:.3f}" for ms in times)
    ratios = " | ".join(f"{ms / times[0]:.2f}" for ms in times[1:])
    return f"| {name} | {'wall' if name in JAVA else 'CPU'} | {cells} | {ratios} |"


if __name__ == "__main__":
    print("| environment | clock | bare | `none` | `arigraph` | ratio `none` | ratio `arigraph` |")
    print("|---|---|---|---|---|---|---|")
    for name in snippets():
        print(row(name), flush=True)
