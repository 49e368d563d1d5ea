"""Say how far the tier `smoke` orders memories as `standard` does on other seeds.

Plays nothing: both orders come from the rows that ship with `standard`. Memories that played alike
count once. The order of `standard` leaves out the seeds that `smoke` plays::

    python -m benchmarks agreement
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import numpy as np
from rank import shipped, shipped_cells

from gym_memory.evaluate.rank.card import Games, areas_of
from gym_memory.evaluate.rank.suite import load_suite
from gym_memory.run.config import parse_seeds

DRAWS = 200
_SMALL, _LARGE = "smoke", "standard"


def kendall(one: Sequence[float], other: Sequence[float]) -> float:
    """Return Kendall's tau-b.

    >>> kendall([1, 2, 3], [1, 3, 2]), kendall([1, 1, 2], [1, 1, 2])
    (0.3333333333333333, 1.0)
    """
    pairs = [*itertools.combinations(range(len(one)), 2)]
    signs = [[int(np.sign(values[i] - values[j])) for i, j in pairs] for values in (one, other)]
    both = sum(a * b for a, b in zip(*signs, strict=True))
    untied = [sum(map(abs, own)) for own in signs]
    return both / float(np.sqrt(untied[0] * untied[1]))


def agreement() -> list[tuple[str, str]]:
    """Return what was counted, and the numbers."""
    small, large = load_suite(_SMALL), load_suite(_LARGE)
    lines = {card.group or card.memory: card for card in shipped(_LARGE) if card.rank}
    cells = shipped_cells(_LARGE)
    areas = [areas_of(large, cells[card.memory]) for card in lines.values()]
    play, wide = (next(p for p in s.parts if p.measure == "play") for s in (small, large))
    seeds, used = parse_seeds(wide.seeds), parse_seeds(play.seeds)

    def tau(chosen: Sequence[int]) -> float:
        rest = [seed for seed in seeds if seed not in chosen]
        orders = [
            [_mean(own, envs, [seeds.index(seed) for seed in part]) for own in areas]
            for envs, part in ((play.envs, chosen), (wide.envs, rest))
        ]
        return kendall(*orders)

    draw = random.Random(0)
    others = [tau(draw.sample(seeds, len(used))) for _ in range(DRAWS)]
    ranked = {card.group or card.memory: card.rank for card in shipped(_SMALL) if card.rank}
    top = sum(rank[0] == 1 for rank in ranked.values())
    return [
        ("Kendall's tau of `smoke` with `standard` on its other seeds", f"{tau(used):.2f}"),
        (f"mean of {DRAWS} draws of the seeds of `smoke`", f"{np.mean(others):.2f}"),
        ("lowest twentieth of these draws", f"{np.quantile(others, 0.05):.2f}"),
        ("lines that tie at the top of `smoke`", f"{top} of {len(ranked)}"),
    ]


def _mean(games: Games, envs: Sequence[str], places: Sequence[int]) -> float:
    """Return the mean over worlds of the means over games."""
    by_world = [[area for (env, _), area in games.items() if env == world] for world in envs]
    return float(np.mean([np.mean([own[place] for place in places]) for own in by_world]))


if __name__ == "__main__":
    for what, value in agreement():
        print(f"{what}: {value}")
