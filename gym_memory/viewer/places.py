"""A map of places: each on a square of a grid, so that compass directions point the right way.

Going east from the kitchen leads to the hall, so the hall lies right of the kitchen. Where a
world does not fit the plane (a square is taken, a way leads up or through a named door), a place
goes to the nearest free square in about the right direction.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from gym_memory.core.records import Triple
from gym_memory.graph.schema import direction_of

__all__ = ["Square", "lay_out"]

Square = tuple[int, int]
"""Column (east is +1) and row (south is +1)."""

_STEPS: dict[str, Square] = {
    "north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0),
    "northeast": (1, -1), "southwest": (-1, 1), "northwest": (-1, -1), "southeast": (1, 1),
    "up": (1, -1), "down": (-1, 1), "in": (1, 1), "out": (-1, -1),
}  # fmt: skip
_ANYWHERE: Square = (1, 1)


def lay_out(facts: Iterable[Triple], at: dict[str, Square] | None = None) -> dict[str, Square]:
    """Squares of all places that ways lead to or from.

    Args:
        facts: Facts in the order in which they were learnt; only ways are looked at.
        at: Squares that are given already, for a map that grows; they stay.

    >>> lay_out([Triple("hall", "is east of", "kitchen"), Triple("shed", "is north of", "hall")])
    {'kitchen': (0, 0), 'hall': (1, 0), 'shed': (1, -1)}
    """
    ways: dict[str, dict[str, Square]] = {}
    for subject, relation, obj in facts:
        direction = direction_of(relation)
        if direction is None:
            continue
        column, row = _STEPS.get(direction, _ANYWHERE)
        ways.setdefault(obj, {})[subject] = (column, row)
        ways.setdefault(subject, {}).setdefault(obj, (-column, -row))
    squares = dict(at or {})
    taken = set(squares.values())
    for start in [*squares, *ways]:
        if start not in squares:  # a part of the map that no way leads to yet
            left = min((column for column, _ in taken), default=0)
            lowest = max((row for _, row in taken), default=-2)
            squares[start] = (left, lowest + 2)
            taken.add(squares[start])
        queue = [start]
        for place in queue:  # grows while it is read: breadth first
            column, row = squares[place]
            for neighbour, (right, down) in ways.get(place, {}).items():
                if neighbour not in squares:
                    squares[neighbour] = _free((column + right, row + down), (right, down), taken)
                    taken.add(squares[neighbour])
                    queue.append(neighbour)
    return squares


def _free(square: Square, towards: Square, taken: set[Square]) -> Square:
    """The nearest free square, of equally near ones the one farthest in a direction."""
    column, row = square
    for radius in count():
        ring = [
            (column + x, row + y)
            for x in range(-radius, radius + 1)
            for y in range(-radius, radius + 1)
            if max(abs(x), abs(y)) == radius and (column + x, row + y) not in taken
        ]
        if ring:
            return max(
                ring,
                key=lambda s: (
                    -abs(s[0] - column) - abs(s[1] - row),
                    (s[0] - column) * towards[0] + (s[1] - row) * towards[1],
                ),
            )
    raise AssertionError("unreachable")
