"""Map: the meanings of glyphs, and arithmetic on all cells at once.

Cells are numbered row by row, ``row * 79 + column``; masks are flat bool arrays of 1659 cells.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gym_memory.core.optional import require

__all__ = ["CLOSED_DOOR", "CORRIDOR", "DIRECTIONS", "DOORWAY", "EFFECT", "EIGHT", "FEATURE"]
__all__ += ["FLOOR", "FOUR", "HOSTILE", "NOTHING", "OBJECT", "OPEN_DOOR", "PET", "SHAPE", "SHIFT"]
__all__ += ["TRAP", "UNDER", "UNKNOWN", "WALL", "WATER", "Area", "AreaMap", "Glyph", "Glyphs"]
__all__ += ["Mask", "PathMap", "Ways", "area_name", "dilated", "direction_to", "distance"]
__all__ += ["glyph_tables", "label_patches", "neighbours", "nle", "offset_words"]


SHAPE = (21, 79)
"""Rows and columns of the map."""

Mask = npt.NDArray[np.bool_]

ROWS, COLUMNS = SHAPE
CELLS = ROWS * COLUMNS
UNREACHED = 1_000_000

DIRECTIONS = {
    "north": (-1, 0), "south": (1, 0), "east": (0, 1), "west": (0, -1),
    "northeast": (-1, 1), "northwest": (-1, -1), "southeast": (1, 1), "southwest": (1, -1),
}  # fmt: skip
"""Word of a direction to its step in (rows, columns)."""

_STEPS = np.array(list(DIRECTIONS.values()))
_WORD = {step: word for word, step in DIRECTIONS.items()}


def _neighbour_table() -> npt.NDArray[np.int32]:
    """Return the cells next to each cell, by :data:`DIRECTIONS`; ``CELLS`` off the map."""
    rows, columns = np.divmod(np.arange(CELLS), COLUMNS)
    down, right = rows[:, None] + _STEPS[:, 0], columns[:, None] + _STEPS[:, 1]
    inside = (down >= 0) & (down < ROWS) & (right >= 0) & (right < COLUMNS)
    return np.where(inside, down * COLUMNS + right, CELLS).astype(np.int32)


EIGHT = _neighbour_table()
"""int32 of shape (1659, 8): all neighbours."""
FOUR = EIGHT[:, :4].copy()
"""int32 of shape (1659, 4): neighbours that are not diagonal."""

_CROSSING = np.concatenate([np.ones(4, np.bool_), np.zeros(4, np.bool_)])


def neighbours(cell: int) -> list[int]:
    """Return the cells next to one, those off the map left out."""
    return [other for other in EIGHT[cell].tolist() if other < CELLS]


def dilated(mask: Mask) -> Mask:
    """Return the cells of a mask and all their neighbours."""
    framed = np.zeros((ROWS + 2, COLUMNS + 2), np.bool_)
    framed[1:-1, 1:-1] = mask.reshape(SHAPE)
    wide = framed[:, :-2] | framed[:, 1:-1] | framed[:, 2:]
    return (wide[:-2] | wide[1:-1] | wide[2:]).ravel()


def label_patches(masks: Mask) -> tuple[npt.NDArray[np.int32], int]:
    """Number the connected patches of masks (bool of shape (masks, 1659)), diagonals included.

    Return the number of each cell's patch, int32 of the same shape, 0 outside, and the number of
    patches; those of one mask come before those of the next.
    """
    ndimage = require("scipy.ndimage", "nethack", "NetHack")
    labels, count = ndimage.label(masks.reshape(-1, *SHAPE), structure=_ALL_AROUND)
    return labels.reshape(masks.shape), int(count)


_ALL_AROUND = np.zeros((3, 3, 3), np.bool_)
_ALL_AROUND[1] = True


def distance(cell: int, other: int) -> int:
    """Return the steps between two cells if nothing stood in the way."""
    return max(abs(cell // COLUMNS - other // COLUMNS), abs(cell % COLUMNS - other % COLUMNS))


def direction_to(cell: int, other: int) -> str:
    """Return the word for the direction of a neighbouring cell; "" if it is none."""
    step = (other // COLUMNS - cell // COLUMNS, other % COLUMNS - cell % COLUMNS)
    return _WORD.get(step, "")


@functools.lru_cache(maxsize=1 << 14)
def offset_words(down: int, right: int) -> str:
    """Return the position of something relative to the player.

    >>> offset_words(0, 0), offset_words(-2, 3)
    ('here', '3 east, 2 north')
    """
    parts = []
    if right:
        parts.append(f"{abs(right)} {'east' if right > 0 else 'west'}")
    if down:
        parts.append(f"{abs(down)} {'south' if down > 0 else 'north'}")
    return ", ".join(parts) or "here"


class Ways:
    """Connections of cells between which a step is possible.

    Args:
        passable: Cells that can be walked on.
        straight: Cells that cannot be entered or left diagonally (doors).
    """

    def __init__(self, passable: Mask, straight: Mask):
        sparse = require("scipy.sparse", "nethack", "NetHack")
        free = np.append(passable, np.False_)
        door = np.append(straight, np.True_)
        allowed = free[EIGHT] & passable[:, None]
        allowed &= _CROSSING | ~(door[EIGHT] | straight[:, None])
        ends = np.zeros(CELLS + 1, np.int32)
        np.cumsum(allowed.sum(axis=1), out=ends[1:])
        targets = EIGHT[allowed]
        steps = np.ones(len(targets), np.float64)
        self._graph: Any = sparse.csr_matrix((steps, targets, ends), shape=(CELLS, CELLS))

    @functools.cached_property
    def regions(self) -> npt.NDArray[np.int32]:
        """Return int32 of shape (1659,): cells with the same number can reach one another."""
        csgraph = require("scipy.sparse.csgraph", "nethack", "NetHack")
        return csgraph.connected_components(self._graph, directed=False)[1]

    def paths(self, start: int) -> PathMap:
        """Return the shortest paths from a cell to every cell that can be reached."""
        csgraph = require("scipy.sparse.csgraph", "nethack", "NetHack")
        steps, before = csgraph.dijkstra(
            self._graph, indices=start, unweighted=True, return_predecessors=True
        )
        lengths = np.where(np.isinf(steps), UNREACHED, steps).astype(np.int32)
        return PathMap(start, lengths, before)


class PathMap(NamedTuple):
    """Shortest paths from one cell.

    ``steps`` and ``before`` (the cell before each on its path) are int32 of shape (1659,).
    """

    start: int
    steps: npt.NDArray[np.int32]
    before: npt.NDArray[np.int32]

    def reaches(self, cell: int) -> bool:
        """True if there is a path to a cell."""
        return bool(self.steps[cell] < UNREACHED)

    def to(self, cell: int) -> list[int]:
        """Return the cells on the path, the start left out; empty if there is none."""
        path: list[int] = []
        if self.reaches(cell):
            while cell != self.start:
                path.append(cell)
                cell = int(self.before[cell])
        return path[::-1]

    def nearest(self, mask: Mask) -> int | None:
        """Return the nearest cell of a mask, the first of equals; None if none can be reached."""
        cells = np.flatnonzero(mask)
        if not len(cells):
            return None
        steps = self.steps[cells]
        best = int(steps.argmin())
        return int(cells[best]) if steps[best] < UNREACHED else None


# ------------------------------------------------------------ glyphs

UNKNOWN, WALL, FLOOR, CORRIDOR, DOORWAY, OPEN_DOOR, CLOSED_DOOR, WATER, UNDER = range(9)
"""Kinds of terrain. ``UNDER``: something that can be walked on, hidden by what stands on it."""

NOTHING, TERRAIN, FEATURE, TRAP, OBJECT, HOSTILE, PET, EFFECT = range(8)
"""Kinds of glyphs. ``HOSTILE``: any creature that is no pet."""

_SILENT = -1  # the glyph says nothing about the terrain


class Glyph(NamedTuple):
    """A meaning of a glyph.

    ``terrain`` is -1 where the glyph hides it; what ``hides`` can be walked under, what ``stays``
    does not move, what ``blocks`` cannot be walked over.
    """

    terrain: int
    kind: int
    alive: bool
    hides: bool
    stays: bool
    blocks: bool


class Glyphs(NamedTuple):
    """All glyphs by number, and the number of a boulder."""

    shown: tuple[Glyph, ...]
    boulder: int


def nle() -> Any:
    """Return NLE's module of constants."""
    return require("nle.nethack", "nethack", "NetHack")


@functools.cache
def glyph_tables() -> Glyphs:
    """Build the table from NLE's numbering, once."""
    game = nle()
    size = game.MAX_GLYPH + 1
    terrain = np.full(size, _SILENT, np.int8)
    kind = np.full(size, EFFECT, np.int8)
    cmap = game.GLYPH_CMAP_OFF
    for numbers, here, shows in (
        ((0,), _SILENT, NOTHING),
        (range(1, 12), WALL, TERRAIN),
        ((12,), DOORWAY, TERRAIN),
        ((13, 14), OPEN_DOOR, TERRAIN),
        ((15, 16), CLOSED_DOOR, TERRAIN),
        ((17, 18, 37, 38), WALL, TERRAIN),  # iron bars, a tree, raised drawbridges
        ((19, 20, 33, 35, 36, 39, 40), FLOOR, TERRAIN),  # ice, lowered drawbridges, air too
        ((21, 22), CORRIDOR, TERRAIN),
        (range(23, 32), FLOOR, FEATURE),
        ((32, 34, 41), WATER, TERRAIN),
        (range(42, 65), _SILENT, TRAP),
    ):
        glyphs = cmap + np.asarray(numbers)
        terrain[glyphs], kind[glyphs] = here, shows
    kind[: game.GLYPH_BODY_OFF] = HOSTILE  # normal, pets, unseen, detected
    kind[game.GLYPH_PET_OFF : game.GLYPH_INVIS_OFF] = PET
    kind[game.GLYPH_RIDDEN_OFF : game.GLYPH_OBJ_OFF] = PET
    kind[game.GLYPH_BODY_OFF : game.GLYPH_RIDDEN_OFF] = OBJECT
    kind[game.GLYPH_OBJ_OFF : game.GLYPH_CMAP_OFF] = OBJECT
    kind[game.GLYPH_WARNING_OFF : game.GLYPH_STATUE_OFF] = HOSTILE
    kind[game.GLYPH_STATUE_OFF :] = OBJECT
    kind[game.NO_GLYPH :] = EFFECT
    blocks = np.zeros(size, np.bool_)
    boulder = next(
        game.GLYPH_OBJ_OFF + number
        for number in range(game.NUM_OBJECTS)
        if game.OBJ_NAME(game.objclass(number)) == "boulder"
    )
    blocks[boulder] = True
    blocks[game.GLYPH_STATUE_OFF : game.NO_GLYPH] = True
    alive = (kind == HOSTILE) | (kind == PET)
    stays = (kind == FEATURE) | (kind == TRAP) | (kind == OBJECT)
    hides = (alive | stays) & (terrain < 0)
    columns = (terrain, kind, alive, hides, stays, blocks)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return Glyphs(tuple(map(Glyph._make, rows)), boulder)


# ------------------------------------------------------------ areas


Area = int
"""Number of a room (positive) or a corridor (negative); 0 for neither."""

SHIFT = 1000
"""A number above the corridors of any level, which makes every number of an area positive."""
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
    """A division of one level into areas.

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
        gone = self._renumber()
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

    def _renumber(self) -> list[tuple[Area, Area]]:
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
        self._sills = set(FOUR[list(self.doors)].ravel().tolist())
        for cell in self.doors:
            self._beside[cell] = self._areas_around(cell)
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
        areas = self.areas_of(cell)
        if len(areas) > 1 and cell != self.here and self.current in areas:
            return self.current
        return areas[0] if areas else 0

    @property
    def current(self) -> Area:
        """Return the area where the player is."""
        return self.area_of(self.here)

    def areas(self) -> tuple[Area, ...]:
        """Return all known areas, rooms first."""
        return self._areas
