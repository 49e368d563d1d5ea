"""Compute the lead of one memory over its rivals, with the world as the unit.

``benchmarks/tables.py`` writes the results of :func:`lead_rows` and :func:`lead_sentences`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from gym_memory.run.results.intervals import Estimate, over_worlds
from gym_memory.run.results.score import format_interval

__all__ = ["World", "lead", "lead_rows", "lead_sentences"]

World = Mapping[str, Mapping[str, float]]
"""Memory to the area of each game."""
Players = Mapping[str, Mapping[str, World]]
"""Player to world to the areas of its memories."""


def lead(worlds: Mapping[str, World], memory: str, rival: str) -> Estimate:
    """Estimate the lead of a memory over a rival, from the games that both played."""
    gaps = [
        (name, world[memory][task] - score)
        for name, world in worlds.items()
        for task, score in world.get(rival, {}).items()
    ]
    return over_worlds([gap for _, gap in gaps], [name for name, _ in gaps])


def lead_rows(players: Players, memory: str, rivals: Sequence[str]) -> list[list[str]]:
    """Return a line for each player: its worlds, and the lead over each rival."""
    return [
        [player, str(len(worlds)), *(_shown(lead(worlds, memory, rival)) for rival in rivals)]
        for player, worlds in players.items()
    ]


def lead_sentences(players: Players, memory: str, rivals: Sequence[str]) -> list[str]:
    """Return sentences on the leads that exclude 0, and on the world with the largest gap."""
    sure = {
        rival: sum(_excludes_zero(lead(worlds, memory, rival)) for worlds in players.values())
        for rival in rivals
    }
    counts = ", ".join(f"`{rival}` {count}" for rival, count in sure.items())
    found = [f"Rows of {len(players)} whose interval excludes 0: {counts}."]
    unsure = [rival for rival, count in sure.items() if not count]
    if unsure:
        worlds = next(iter(players.values()))
        widest = max(worlds, key=lambda name: _gap({name: worlds[name]}, memory, unsure))
        rest = {name: world for name, world in worlds.items() if name != widest}
        gaps = (f"`{rival}` {_shown(lead(rest, memory, rival))}" for rival in unsure)
        found.append(f"The first row without {widest}: {', '.join(gaps)}.")
    return found


def _gap(worlds: Mapping[str, World], memory: str, rivals: Sequence[str]) -> float:
    means = [lead(worlds, memory, rival).mean for rival in rivals]
    return sum(mean for mean in means if not math.isnan(mean))


def _excludes_zero(found: Estimate) -> bool:
    ends = found.interval()
    return ends is not None and ends[0] > 0


def _shown(found: Estimate) -> str:
    return f"{found.mean:+.2f} {format_interval(found.interval())}"
