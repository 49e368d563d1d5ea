"""Find the games that cost a memory most, against the best of the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gym_memory.core.names import Spec
from gym_memory.run.results.score import ENGINE_MEMORY, Unit, grouped

__all__ = ["Loss", "losses"]


class Loss(NamedTuple):
    """A game in which ``best`` scored higher than ``unit``."""

    unit: Unit
    best: Unit

    @property
    def cost(self) -> float:
        """Return the cost of the game: ``best``'s score minus that of ``unit``."""
        return self.best.score - self.unit.score


def losses(all_units: Sequence[Unit], most: int = 3) -> list[Loss]:
    """Return the most costly games, worst first, each compared with the best other memory.

    Only games of the user's own memories count, if there are any; else those of every memory but
    the best. Jobs that failed by an exception are left out.
    """
    by_memory = grouped((unit for unit in all_units if not unit.failed), lambda unit: unit.memory)
    means = {
        memory: float(np.mean([unit.score for unit in own]))
        for memory, own in by_memory.items()
        if Spec(memory).name != ENGINE_MEMORY
    }
    if len(means) < 2:
        return []
    first, second = sorted(means, key=lambda memory: -means[memory])[:2]
    own = [memory for memory in means if ":" in Spec(memory).name]
    found = []
    for memory in own or [memory for memory in means if memory != first]:
        best = second if memory == first else first
        partners = {_game(unit): unit for unit in by_memory[best]}
        found += [Loss(u, partners[_game(u)]) for u in by_memory[memory] if _game(u) in partners]
    found = [loss for loss in found if loss.cost > 0]
    return sorted(found, key=lambda loss: -loss.cost)[:most]


def _game(unit: Unit) -> tuple[object, ...]:
    return unit.protocol, unit.env, unit.policy, unit.budget, unit.seed
