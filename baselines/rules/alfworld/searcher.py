"""A searcher by rules for household tasks: finds things, treats them, brings them where they go.

It reads the observation only (the text in view, the inventory, the valid actions, and what the
memory recalls) and from step to step keeps nothing but its published plan. It knows where things
usually are, counted over ALFWorld's train games, and what cleans, heats and cools.
"""

from __future__ import annotations

from typing import ClassVar

from gym_memory.baselines.registry import POLICIES
from gym_memory.baselines.rules.advised import Advised
from gym_memory.baselines.rules.alfworld.errand import Errand
from gym_memory.baselines.rules.alfworld.habits import chance
from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.baselines.rules.plan import Move, only
from gym_memory.core.settings import check_flag
from gym_memory.games.alfworld.rules import goal_in

__all__ = ["Searcher"]


@POLICIES.register("searcher")
class Searcher(Advised):
    """All six task types of ALFWorld; where the task is another, it wanders.

    Args:
        habits: Whether it knows where things usually are; without, all furniture is alike to it.
    """

    name: ClassVar[str] = "searcher"

    def __init__(self, habits: bool = True) -> None:
        super().__init__(self._run_errand)
        check_flag("habits", habits)
        self._chance = chance if habits else _anywhere

    def _run_errand(self, beliefs: Beliefs) -> tuple[Move, ...]:
        goal = goal_in(beliefs.task.goal)
        if goal is None:
            return ()
        return only(Errand(beliefs, goal, self._chance, self._rng).next_move())


def _anywhere(thing: str, furniture: str) -> float:
    return 1.0
