"""A planner that sees only the observation and keeps only its published plan.

So only the memory can make two runs differ. It has common knowledge (read notes, use a key on its
lock, cut with a knife) but knows no game's solution.
"""

from __future__ import annotations

from collections.abc import Iterator

from gym_memory.baselines.rules.base import AdvisedPolicy, explore, open_here, seek_new
from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.baselines.rules.plan import Aim, Kind, Move, if_any
from gym_memory.baselines.rules.textworld.cooking import cook, find_recipe
from gym_memory.baselines.rules.textworld.errands import carry, deliver, is_open_ended, run_errands
from gym_memory.baselines.rules.textworld.hunting import (
    fetch_wanted,
    open_locks,
    read_here,
    search,
    take_wanted,
    try_keys,
    use_keys,
)
from gym_memory.baselines.rules.textworld.tidying import Tidier
from gym_memory.memory.encoders import DEFAULT_MODEL

__all__ = ["Planner"]


class Planner(AdvisedPolicy):
    """A TextWorld player that explores, follows clues and recipes, unlocks, cooks and tidies.

    Args:
        encoder: Name of the encoder that compares objects and places; loaded for tidying only.
    """

    def __init__(self, encoder: str = DEFAULT_MODEL) -> None:
        super().__init__(
            cook,
            deliver,
            Tidier(encoder),
            run_errands,
            read_here,
            take_wanted,
            open_locks,
            use_keys,
            carry,
            fetch_wanted,
            self._seek,
            lambda beliefs: if_any(explore(beliefs, Aim("explore", Kind.EXPLORE))),
            lambda beliefs: if_any(open_here(beliefs, Aim("look inside"))),
            try_keys,
            find_recipe,
            search,
            Tidier(encoder, unrequested=True),
        )

    def _seek(self, beliefs: Beliefs) -> Iterator[Move]:
        if is_open_ended(beliefs.task.goal):
            yield from seek_new(beliefs, self.rng)
