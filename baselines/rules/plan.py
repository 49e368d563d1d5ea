"""The plan of a rule-based player, and the test if it still sees anything new."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from gym_memory.core.records import PlanState

__all__ = ["RulePlan", "saw"]

_LATEST = 24
"""Number of latest observations that are recognized."""
_HASHES = 26 * 26
"""Number of hashes: so few that two observations may share one, so they are no memory."""


@dataclass(frozen=True)
class RulePlan(PlanState):
    """The plan of a rule-based player.

    ``idle`` counts the steps since something new was seen, ``seen`` has hashes of the latest
    observations, the latest last.
    """

    idle: int = 0
    seen: tuple[int, ...] = ()

    def notes(self) -> dict[str, str]:
        """Return what there is to show next to the aim, by name."""
        idle = {"nothing new for": f"{self.idle} steps"} if self.idle else {}
        return {**super().notes(), **idle}


def saw(state: RulePlan, text: str, inventory: str) -> tuple[int, tuple[int, ...]]:
    """Return the steps without anything new and the latest observations, after one more."""
    mark = zlib.crc32(f"{text}\n{inventory}".encode("utf-8", "replace")) % _HASHES
    others = tuple(one for one in state.seen if one != mark)
    again = len(others) < len(state.seen)
    return state.idle + 1 if again else 0, (*others, mark)[-_LATEST:]
