"""Knowing when one is stuck: how long nothing new was seen.

The plan that a player publishes ends in ``| idle: 4 (bx kd qz)`` once it sees again what it saw a
little while ago. The letters stand for what was seen last; nothing can be told from them but
whether it comes again. They are no memory of the game: where it leads is not in them.
"""

from __future__ import annotations

import re
import zlib
from typing import NamedTuple

__all__ = ["Patience"]

_IDLE = re.compile(r"(?P<plan>.*) \| idle: (?P<steps>\d{1,4}) \((?P<seen>[a-z]{2}(?: [a-z]{2})*)\)")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LATEST = 24
"""Observations that are known again."""


class Patience(NamedTuple):
    """How long nothing new was seen, and the marks of what was seen last.

    Attributes:
        idle: Steps since something new was seen.
        seen: Marks of the latest observations that differ, earliest first.
    """

    idle: int = 0
    seen: tuple[str, ...] = ()

    @classmethod
    def read(cls, published: str) -> tuple[str, Patience]:
        """The plan without its end, and what the end says.

        >>> Patience.read("explore | last: go east | idle: 2 (bx kd)")
        ('explore | last: go east', Patience(idle=2, seen=('bx', 'kd')))
        """
        found = _IDLE.fullmatch(published)
        if found is None:
            return published, cls()
        return found["plan"], cls(int(found["steps"]), tuple(found["seen"].split(" ")))

    def after(self, text: str, inventory: str) -> Patience:
        """The patience once a text is seen: it, and what is carried, are new or not."""
        mark = _mark(f"{text}\n{inventory}")
        others = tuple(one for one in self.seen if one != mark)
        again = len(others) < len(self.seen)
        return Patience(self.idle + 1 if again else 0, (*others, mark)[-_LATEST:])

    def written_behind(self, plan: str) -> str:
        """The plan to publish."""
        return f"{plan} | idle: {self.idle} ({' '.join(self.seen)})" if self.seen else plan


def _mark(text: str) -> str:
    number = zlib.crc32(text.encode("utf-8", "replace"))
    return _LETTERS[number % 26] + _LETTERS[number // 26 % 26]
