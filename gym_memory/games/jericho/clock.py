"""Passing of a story's time, by which a parser's refusal is known in any wording."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gym_memory.games.jericho.vocabulary import Bytes

__all__ = ["Clock"]


class Clock:
    """The bytes of memory that change whenever time passes.

    Commands that take a turn change them alike, and a parser's refusal leaves them alone.

    Args:
        before: Memory before any command.
        turns: Memories after commands that take a turn.
        refused: Memories after commands that a parser cannot read.
    """

    def __init__(self, before: Bytes, turns: Sequence[Bytes], refused: Sequence[Bytes]):
        changed = turns[0] != before
        for memory in turns:
            changed &= memory == turns[0]
        for memory in refused:
            changed &= memory == before
        self._at = np.flatnonzero(changed)
        self._before = before[self._at]

    def runs(self, memory: Bytes) -> bool:
        """True if time has passed; False in a story that shows no clock."""
        return bool((memory[self._at] != self._before).any())
