"""A planner by rules that plays from the observation alone.

It reads the observation (the text in view, the inventory, the valid actions, and what the memory
recalls), and from step to step it keeps nothing but the short plan that it publishes as ``focus``,
the last action included. So what it knows is what the observation shows, and two runs that differ
in their memory differ in nothing else.

It knows how people go about things (read what is readable, follow what was read, use a key on
its lock, cut with a knife, put things where their like are), and no game's answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from gym_memory.baselines.planning.beliefs import Beliefs
from gym_memory.baselines.planning.cooking import cook
from gym_memory.baselines.planning.hunting import (
    fetch_wanted,
    open_locks,
    read_here,
    take_wanted,
    use_keys,
)
from gym_memory.baselines.planning.tidying import Tidier
from gym_memory.baselines.planning.travel import Move, explore, open_here
from gym_memory.baselines.rules import RulePolicy
from gym_memory.memory.encoders import DEFAULT_MODEL
from gym_memory.memory.extract import get_extractor
from gym_memory.types import Observation

__all__ = ["Planner"]

Advisor = Callable[[Beliefs], Move | None]


class Planner(RulePolicy):
    """Explores, follows clues and recipes, fetches, unlocks, cooks, tidies.

    Args:
        encoder: Encoder by which it judges where a thing belongs; loaded only when it must tidy.
    """

    name: ClassVar[str] = "planner"

    def __init__(self, encoder: str = DEFAULT_MODEL) -> None:
        super().__init__()
        self._advisors: tuple[Advisor, ...] = (
            cook,
            Tidier(encoder),
            take_wanted,
            open_locks,
            use_keys,
            read_here,
            fetch_wanted,
            lambda beliefs: explore(beliefs, "explore"),
            lambda beliefs: open_here(beliefs, "see what it holds"),
        )

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """The next action; publishes the plan behind it as ``focus``."""
        last = Move.read(self.focus).action
        rules = get_extractor(self._dialect)
        beliefs = Beliefs(obs, rules, self._task(obs), plan=self.focus, action=last)
        move = self._decide(beliefs, last)
        self.focus = str(move)
        return move.action

    def _decide(self, beliefs: Beliefs, last: str) -> Move:
        for advise in self._advisors:
            move = advise(beliefs)
            if (
                move
                and beliefs.can(move.action)
                and not (move.action == last and move.action.startswith(("examine ", "read ")))
            ):
                return move
        return self._wander(beliefs)

    def _wander(self, beliefs: Beliefs) -> Move:
        """Nothing to do is known: look around, or leave by any exit."""
        options = [a for a in beliefs.actions if a.startswith(("go ", "open "))]
        if not beliefs.here and "look" in beliefs.actions:
            return Move("look", "find out where this is")
        if options:
            return Move(options[int(self._rng.integers(len(options)))], "wander")
        return Move("look", "look around")
