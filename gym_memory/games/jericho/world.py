"""The part of a story's memory that is its world, and what of it changes for no reason.

The object tree holds where everything is and which attributes it has; behind it stand the
properties. A command changed the world if this region is not what it is after waiting. Bytes that
differ between commands that change nothing (looking, waiting, examining) say nothing and are left
out. (Standard 1.1, section 12.)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Region", "object_region", "steady"]

Bytes = NDArray[np.uint8]


class Region(NamedTuple):
    """Bytes ``start`` to ``end`` of dynamic memory: the object tree and its properties."""

    start: int
    end: int

    def of(self, memory: Bytes) -> Bytes:
        """These bytes of a memory."""
        return memory[self.start : self.end]


def object_region(story: bytes) -> Region:
    """Where a story keeps its objects.

    Objects are not counted anywhere: they end where the first of their property tables begins.
    """
    old = story[0] <= 3
    defaults, size, pointer = (31, 9, 7) if old else (63, 14, 12)
    first = _at(story, 0x0A) + 2 * defaults
    dynamic = min(_at(story, 0x0E), len(story))
    tables, address, end = dynamic, first, first
    while address + size <= tables:
        properties = _at(story, address + pointer)
        if not first < properties < dynamic:
            break
        tables = min(tables, properties)
        end = max(end, _end_of(story, properties, old=old))
        address += size
    return Region(first, min(end, dynamic))


def _end_of(story: bytes, address: int, *, old: bool) -> int:
    """Where a property table ends."""
    address += 1 + 2 * story[address]  # the short name
    while address < len(story) and story[address]:
        head = story[address]
        if old:
            address += 2 + (head >> 5)
        elif head & 0x80:
            address += 2 + ((story[address + 1] & 63) or 64)
        else:
            address += 2 + (head >> 6)
    return address + 1


def _at(story: bytes, address: int) -> int:
    return int.from_bytes(story[address : address + 2], "big")


def steady(memories: Iterable[Bytes]) -> NDArray[np.bool_]:
    """Which bytes are the same in all of ``memories``; shape of one of them."""
    stack = np.stack(list(memories))
    same: NDArray[np.bool_] = (stack == stack[0]).all(axis=0)
    return same
