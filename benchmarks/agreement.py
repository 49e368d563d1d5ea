"""Measure how well the tier `smoke` orders memories as `standard` does on other games.

It plays nothing: both orders come from the shipped rows of `standard`. Memories with equal play
count once. The order of `standard` leaves out the games that `smoke` plays::

    python -m benchmarks agreement
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Mapping, Sequence

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
    """Return the counts and the measures."""
    small, large = load_suite(_SMALL), load_suite(_LARGE)
    lines = {card.group or card.memory: card for card in shipped(_LARGE) if card.rank}
    cells = shipped_cells(_LARGE)
    areas = [areas_of(large, cells[card.memory]) for card in lines.values()]
    worlds: dict[str, list[str]] = {}
    for world, task in areas[0]:  # in the order of the seeds
        worlds.setdefault(world, []).append(task)
    play = next(part for part in small.parts if part.measure == "play")
    used = range(len(parse_seeds(play.seeds)))
    most = min(len(worlds[world]) for world in play.envs)

    def tau(chosen: Collection[int]) -> float:
        here = {world: [worlds[world][n] for n in chosen] for world in play.envs}
        there = {w: [t for t in tasks if t not in here.get(w, ())] for w, tasks in worlds.items()}
        return kendall(*([_mean(own, games) for own in areas] for games in (here, there)))

    draw = random.Random(0)
    others = [tau(draw.sample(range(most), len(used))) for _ in range(DRAWS)]
    ranked = {card.group or card.memory: card.rank for card in shipped(_SMALL) if card.rank}
    top = sum(rank[0] == 1 for rank in ranked.values())
    return [
        ("Kendall's tau of `smoke` with `standard` on its other games", f"{tau(used):.2f}"),
        (f"mean of {DRAWS} draws of the seeds of `smoke`", f"{np.mean(others):.2f}"),
        ("lowest twentieth of these draws", f"{np.quantile(others, 0.05):.2f}"),
        ("lines that tie at the top of `smoke`", f"{top} of {len(ranked)}"),
    ]


def _mean(areas: Games, worlds: Mapping[str, Sequence[str]]) -> float:
    """Return the mean over worlds of the means over games."""
    means = [np.mean([areas[world, task] for task in tasks]) for world, tasks in worlds.items()]
    return float(np.mean(means))


if __name__ == "__main__":
    for what, value in agreement():
        print(f"{what}: {value}")
