"""Play TextArena's single-player games at random, to find false wins.

    python -m benchmarks foreign/arena    # writes the table of docs/foreign-environments.md

Each game is wrapped by the snippet of that page without its definition of success.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from draw import GAMES, MOVES, environment
from keep import write_measured

from gym_memory.baselines.base import make_policy
from gym_memory.run import rollout

_WAYS = ["[up]", "[down]", "[left]", "[right]"]
MORE = {
    "2048": _WAYS,
    "Sokoban": _WAYS,
    "FifteenPuzzle": _WAYS,
    "PegJump": [f"[{a} {b}]" for a in range(1, 16) for b in range(1, 16) if a != b],
    "Mastermind": [f"[{a} {b} {c} {d}]" for a in "12" for b in "34" for c in "56" for d in "13"],
    "Minesweeper": [f"[reveal {a} {b}]" for a in range(8) for b in range(8)],
}
"""Games that are not drawn from, with their moves."""
CHANGES = {
    **{changes["TowerOfHanoi"]: changes for changes in GAMES["textarena"]},
    **{
        game: {"TowerOfHanoi": game, MOVES: repr(moves), ", won=solved": ""}
        for game, moves in MORE.items()
    },
}


def play(game: str, seeds: range) -> dict[str, Any]:
    """Return the ends of random episodes of a game."""
    env = environment("textarena", CHANGES[game])
    results = [rollout(env, make_policy("random"), seed, limit=60) for seed in seeds]
    env.close()
    points = [result.score for result in results]
    known = [result.success for result in results if result.success is not None]
    return {
        "game": game, "episodes": len(results), "positive": sum(p > 0 for p in points),
        "best": round(max(points), 3), "successes": sum(known) if known else None,
        "normalized": any(result.normalized is not None for result in results),
    }  # fmt: skip


if __name__ == "__main__":
    write_measured("foreign/arena", [play(game, range(20)) for game in sorted(CHANGES)])
    subprocess.run([sys.executable, "benchmarks/tables.py"], check=True)
