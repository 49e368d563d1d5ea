"""Rooms and corridors: connected patches of floor with numbers that stay.

A patch keeps its number while it grows; where two turn out to be one, the smaller number stays.
Numbers are not used again, and those of doors never change.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gym_memory.envs.nethack.glyphs import CORRIDOR, FLOOR, UNDER
from gym_memory.envs.nethack.grid import CELLS, FOUR, Mask, dilated, label_patches

__all__ = ["SHIFT", "Area", "AreaMap", "area_name"]

Area = int
"""Number of a room (positive) or a corridor (negative); 0 for neither."""

SHIFT = 1000
"""More than any level has corridors: what makes every number of an area positive."""
_NONE = np.int32(1 << 20)


def area_name(area: Area) -> str:
    """What an area is called on its level.

    >>> area_name(3), area_name(-2)
    ('room 3', 'corridor 2')
    """
    return f"room {area}" if area > 0 else f"corridor {-area}"


def _rooms_first(area: Area) -> tuple[bool, int]:
    return area < 0, abs(area)


class AreaMap:
    """The areas of one level.

    Attributes:
        terrain: int8 of shape (1659,), see :mod:`.glyphs`.
        area: int16 of shape (1659,), the room or corridor of each cell.
        here: Cell of the player.
        doors: Cell to the number of the door there.
        exits: Area to the cells of its doors.
        merged: Pairs (gone, kept) of areas that turned out to be one, since :meth:`take_merged`.
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
        self._last_room = self._last_corridor = 0

    def relabel(self) -> list[tuple[Area, Area]]:
        """Number the patches of floor anew; old numbers stay where they were.

        Returns:
            Numbers that are no longer used, with those that stand in their place.
        """
        terrain = self.terrain
        floor, narrow, under = terrain == FLOOR, terrain == CORRIDOR, terrain == UNDER
        if under.any():
            near = under & dilated(floor)
            narrow = narrow | (under & ~near & dilated(narrow))
            floor = floor | near
        rooms, self._last_room = self._number(floor, self.area, self._last_room)
        tunnels, self._last_corridor = self._number(narrow, -self.area, self._last_corridor)
        area = (rooms - tunnels).astype(np.int16)
        known = np.flatnonzero(np.bincount(area + SHIFT)) - SHIFT
        before = self._areas
        self._areas = tuple(sorted((a for a in known.tolist() if a), key=_rooms_first))
        gone = self._vanished(area) if not set(before) <= set(self._areas) else []
        self.area = area
        self.merged += gone
        self._find_exits()
        return gone

    def _number(
        self, mask: Mask, old: npt.NDArray[np.int16], last: int
    ) -> tuple[npt.NDArray[np.int32], int]:
        """Patches of a mask with the smallest number that they had; the highest number so far."""
        labels, count = label_patches(mask)
        if not count:
            return labels, last
        inside = np.flatnonzero(labels)
        had = old[inside]
        best = np.full(count + 1, _NONE, np.int32)
        np.minimum.at(best, labels[inside], np.where(had > 0, had, _NONE))
        best[0] = 0
        taken: set[int] = set()
        for patch, number in enumerate(best.tolist()[1:], 1):
            if number == _NONE or number in taken:
                last += 1
                best[patch] = number = last
            taken.add(number)
        return best[labels], last

    def _vanished(self, area: npt.NDArray[np.int16]) -> list[tuple[Area, Area]]:
        """Numbers that are no longer used, with those that stand in their place."""
        before = self.area
        differs = np.flatnonzero((before != 0) & (before != area) & (area != 0))
        if not len(differs):
            return []
        pairs = zip(before[differs].tolist(), area[differs].tolist(), strict=True)
        kept = set(self._areas)
        first = dict(reversed(list(pairs)))
        return [(old, first[old]) for old in sorted(first, key=abs) if old not in kept]

    def _find_exits(self) -> None:
        """Which doors lead out of which area."""
        self.exits, self._beside = {}, {}
        if not self.doors:
            return
        cells = list(self.doors)
        beside = np.append(self.area, np.int16(0))[FOUR[cells]].tolist()
        for cell, areas in zip(cells, beside, strict=True):
            self._beside[cell] = tuple(sorted({a for a in areas if a}, key=_rooms_first))
            for area in self._beside[cell]:
                self.exits.setdefault(area, []).append(cell)

    def take_merged(self) -> list[tuple[Area, Area]]:
        """Areas that turned out to be one since the last call."""
        merged, self.merged = self.merged, []
        return merged

    def areas_of(self, cell: int) -> tuple[Area, ...]:
        """The areas that a cell belongs to: its own, or for a door those on both sides."""
        own = int(self.area[cell])
        if own:
            return (own,)
        beside = self._beside.get(cell)
        return self._areas_around(cell) if beside is None else beside

    def _areas_around(self, cell: int) -> tuple[Area, ...]:
        beside = [int(self.area[other]) for other in FOUR[cell].tolist() if other < CELLS]
        return tuple(sorted({area for area in beside if area}, key=_rooms_first))

    def area_of(self, cell: int) -> Area:
        """The area of a cell; of a door the one where the player is, else the room's."""
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
        """The area where the player is."""
        return self.area_of(self.here)

    def areas(self) -> tuple[Area, ...]:
        """All known areas, rooms first."""
        return self._areas
