"""Rooms and corridors: connected patches of floor with numbers that stay.

A patch keeps its number while it grows; where two turn out to be one, the smaller number stays.
Numbers are not used again, and those of doors never change.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gym_memory.games.nethack.grid import (
    CELLS,
    CORRIDOR,
    FLOOR,
    FOUR,
    UNDER,
    dilated,
    label_patches,
    neighbours,
)

__all__ = ["SHIFT", "Area", "AreaMap", "area_name"]

Area = int
"""Number of a room (positive) or a corridor (negative); 0 for neither."""

SHIFT = 1000
"""More than any level has corridors: what makes every number of an area positive."""
_NONE = np.int32(1 << 20)
_FEW = 8
"""Cells that are looked at one by one; more are quicker all at once."""


def area_name(area: Area) -> str:
    """Return the name of an area on its level.

    >>> area_name(3), area_name(-2)
    ('room 3', 'corridor 2')
    """
    return f"room {area}" if area > 0 else f"corridor {-area}"


def _fill(numbers: list[Area], patches: range, last: Area) -> Area:
    """Give new numbers to patches that had none or one that is taken; returns the last number."""
    taken: set[Area] = set()
    for patch in patches:
        if numbers[patch] == _NONE or numbers[patch] in taken:
            last += 1
            numbers[patch] = last
        taken.add(numbers[patch])
    return last


def _rooms_first(area: Area) -> tuple[bool, int]:
    return area < 0, abs(area)


class AreaMap:
    """Divide one level into areas.

    ``terrain`` (int8) and ``area`` (int16) have shape (1659,); ``doors`` maps a cell to a number,
    ``exits`` an area to cells; ``merged`` has pairs (gone, kept) since :meth:`take_merged`.
    """

    def __init__(self) -> None:
        self.terrain = np.zeros(CELLS, np.int8)
        self.area = np.zeros(CELLS, np.int16)
        self.here = 0
        self.doors: dict[int, int] = {}
        self.exits: dict[Area, list[int]] = {}
        self.merged: list[tuple[Area, Area]] = []
        self._areas: tuple[Area, ...] = ()
        self._beside: dict[int, tuple[Area, ...]] = {}  # door to the areas on its sides
        self._sills: set[int] = set()  # the cells on the sides of doors
        self._last_room = self._last_corridor = 0

    def relabel(self, cells: Sequence[int]) -> list[tuple[Area, Area]]:
        """Number the patches after a change; return unused numbers with their successors."""
        if len(cells) <= _FEW and self._join(cells):
            if len(self._beside) < len(self.doors) or not self._sills.isdisjoint(cells):
                self._find_exits()
            return []
        gone = self._number_anew()
        self.merged += gone
        self._find_exits()
        return gone

    def _join(self, cells: Sequence[int]) -> bool:
        """Add new cells to adjacent areas; return False, with no change, if one is unclear.

        Most steps show a little more of one corridor or room, so this spares a new numbering.
        """
        terrain, area = self.terrain, self.area
        joined: dict[int, Area] = {}
        for cell in cells:
            kind = terrain[cell]
            if kind == UNDER or area[cell]:
                return False
            if kind in (FLOOR, CORRIDOR):
                around = neighbours(cell)
                if UNDER in terrain[around]:
                    return False
                beside = {*area[around].tolist(), *[joined.get(other, 0) for other in around]}
                own = [number for number in beside if (number > 0 if kind == FLOOR else number < 0)]
                if len(own) != 1:
                    return False
                joined[cell] = own[0]
        for cell, number in joined.items():
            area[cell] = number
        return True

    def _number_anew(self) -> list[tuple[Area, Area]]:
        """Number all patches; return unused numbers with their successors."""
        terrain = self.terrain
        floor, narrow, under = terrain == FLOOR, terrain == CORRIDOR, terrain == UNDER
        if under.any():
            near = under & dilated(floor)
            narrow = narrow | (under & ~near & dilated(narrow))
            floor = floor | near
        (rooms, tunnels), count = label_patches(np.stack((floor, narrow)))
        first = int(rooms.max()) + 1  # of the corridors' labels
        best = np.full(count + 1, _NONE, np.int32)
        for labels, old in ((rooms, self.area), (tunnels, -self.area)):
            inside = labels.nonzero()[0]
            had = old[inside]
            np.minimum.at(best, labels[inside], np.where(had > 0, had, _NONE))
        numbers = best.tolist()
        self._last_room = _fill(numbers, range(1, first), self._last_room)
        self._last_corridor = _fill(numbers, range(first, count + 1), self._last_corridor)
        best[1:], best[0] = numbers[1:], 0
        area = (best[rooms] - best[tunnels]).astype(np.int16)
        before = self._areas
        self._areas = (*sorted(numbers[1:first]), *[-n for n in sorted(numbers[first:])])
        gone = self._vanished(area) if not set(before) <= set(self._areas) else []
        self.area = area
        return gone

    def _vanished(self, area: npt.NDArray[np.int16]) -> list[tuple[Area, Area]]:
        """Return numbers no longer used, with their successors."""
        before = self.area
        differs = np.flatnonzero((before != 0) & (before != area) & (area != 0))
        if not len(differs):
            return []
        pairs = zip(before[differs].tolist(), area[differs].tolist(), strict=True)
        kept = set(self._areas)
        first = dict(reversed(list(pairs)))
        return [(old, first[old]) for old in sorted(first, key=abs) if old not in kept]

    def _find_exits(self) -> None:
        self.exits, self._beside = {}, {}
        cells = list(self.doors)
        sides = FOUR[cells].tolist()
        self._sills = {other for around in sides for other in around}
        for cell, around in zip(cells, sides, strict=True):
            areas = {int(self.area[other]) for other in around if other < CELLS}
            self._beside[cell] = tuple(sorted(areas - {0}, key=_rooms_first))
            for area in self._beside[cell]:
                self.exits.setdefault(area, []).append(cell)

    def take_merged(self) -> list[tuple[Area, Area]]:
        """Take the areas that turned out to be one since the last call."""
        merged, self.merged = self.merged, []
        return merged

    def areas_of(self, cell: int) -> tuple[Area, ...]:
        """Return the areas of a cell: its own, or for a door those on both sides."""
        own = int(self.area[cell])
        if own:
            return (own,)
        beside = self._beside.get(cell)
        return self._areas_around(cell) if beside is None else beside

    def _areas_around(self, cell: int) -> tuple[Area, ...]:
        beside = [int(self.area[other]) for other in FOUR[cell].tolist() if other < CELLS]
        return tuple(sorted({area for area in beside if area}, key=_rooms_first))

    def area_of(self, cell: int) -> Area:
        """Return the area of a cell; of a door the one where the player is, else the room's."""
        own = int(self.area[cell])
        if own:
            return own
        areas = self.areas_of(cell)
        if not areas:
            return 0
        if cell != self.here:
            current = self.current
            if current in areas:
                return current
        return areas[0]

    @property
    def current(self) -> Area:
        """Return the area where the player is."""
        return self.area_of(self.here)

    def areas(self) -> tuple[Area, ...]:
        """Return all known areas, rooms first."""
        return self._areas
