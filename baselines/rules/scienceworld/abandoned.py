"""What the imitator gave up because it led nowhere, as its published plan tells it.

The plan ends in ``| gave up: examine lead; pour cup into pot``, the latest last. A move that was
given up is not due in any demonstration, so that another one is followed, or another part of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gym_memory.baselines.rules.scienceworld.phrases import Act, fit, parse

__all__ = ["NOTHING", "THE_SAME", "Abandoned"]

THE_SAME = 0.75
"""Least agreement of a move with what was given up for it to be the same one."""
_MARK = " | gave up: "
_MOST = 12
"""Moves that stay given up; after these the first may be tried once more."""


class Abandoned(NamedTuple):
    """Moves that led nowhere, earliest first."""

    acts: tuple[Act, ...] = ()

    @classmethod
    def read(cls, published: str) -> tuple[str, Abandoned]:
        """The plan without its end, and what the end says.

        >>> Abandoned.read("wait | gave up: open door; pick up jug")[1].acts[1]
        Act(verb='pick up', things=('jug',), link='')
        """
        plan, mark, told = published.partition(_MARK)
        return plan, cls(tuple(map(parse, told.split("; ")))) if mark else cls()

    def adding(self, acts: Iterable[Act]) -> Abandoned:
        """With more of them."""
        more = tuple(dict.fromkeys(acts))
        return Abandoned((*(one for one in self.acts if one not in more), *more)[-_MOST:])

    def has(self, act: Act) -> bool:
        """Whether a move is one of them."""
        return any(fit(act, one) > THE_SAME for one in self.acts)

    def written_behind(self, plan: str) -> str:
        """The plan to publish."""
        return plan + (_MARK + "; ".join(map(str, self.acts)) if self.acts else "")


NOTHING = Abandoned()
