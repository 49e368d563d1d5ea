"""A map: the meanings of glyphs, and array operations on all cells.

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
"""Directions with their steps in (rows, columns)."""

_STEPS = np.array(list(DIRECTIONS.values()))
_WORD = {step: word for word, step in DIRECTIONS.items()}


def _neighbour_table() -> npt.NDArray[np.int32]:
    """Return the neighbours of each cell, ordered as :data:`DIRECTIONS`; ``CELLS`` off the map."""
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
    """Return the neighbours of a cell on the map."""
    return [other for other in EIGHT[cell].tolist() if other < CELLS]


def dilated(mask: Mask) -> Mask:
    """Return the cells of a mask and all their neighbours."""
    framed = np.zeros((ROWS + 2, COLUMNS + 2), np.bool_)
    framed[1:-1, 1:-1] = mask.reshape(SHAPE)
    wide = framed[:, :-2] | framed[:, 1:-1] | framed[:, 2:]
    return (wide[:-2] | wide[1:-1] | wide[2:]).ravel()


def label_patches(masks: Mask) -> tuple[npt.NDArray[np.int32], int]:
    """Number the connected patches, including diagonals, of masks (bool of shape (masks, 1659)).

    Return the number of each cell's patch, int32 of the same shape, 0 outside, and the number of
    patches; those of one mask come before those of the next.
    """
    ndimage = require("scipy.ndimage", "nethack", "NetHack")
    labels, count = ndimage.label(masks.reshape(-1, *SHAPE), structure=_ALL_AROUND)
    return labels.reshape(masks.shape), int(count)


_ALL_AROUND = np.zeros((3, 3, 3), np.bool_)
_ALL_AROUND[1] = True


def distance(cell: int, other: int) -> int:
    """Return the number of steps between two cells without obstacles."""
    return max(abs(cell // COLUMNS - other // COLUMNS), abs(cell % COLUMNS - other % COLUMNS))


def direction_to(cell: int, other: int) -> str:
    """Return the direction of a neighbouring cell; empty for other cells."""
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
    """Possible steps between cells.

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
        """Return numbers (int32 of shape (1659,)) that are equal for mutually reachable cells."""
        csgraph = require("scipy.sparse.csgraph", "nethack", "NetHack")
        return csgraph.connected_components(self._graph, directed=False)[1]

    def paths(self, start: int) -> PathMap:
        """Return the shortest paths from a cell to all reachable cells."""
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
        """Return the cells on the path after the start; empty if there is no path."""
        path: list[int] = []
        if self.reaches(cell):
            while cell != self.start:
                path.append(cell)
                cell = int(self.before[cell])
        return path[::-1]

    def nearest(self, mask: Mask) -> int | None:
        """Return the nearest reachable cell of a mask, the first of ties; None if there is none."""
        cells = np.flatnonzero(mask)
        if not len(cells):
            return None
        steps = self.steps[cells]
        best = int(steps.argmin())
        return int(cells[best]) if steps[best] < UNREACHED else None


UNKNOWN, WALL, FLOOR, CORRIDOR, DOORWAY, OPEN_DOOR, CLOSED_DOOR, WATER, UNDER = range(9)
"""Kinds of terrain. ``UNDER`` is walkable terrain hidden by a thing or creature."""

NOTHING, TERRAIN, FEATURE, TRAP, OBJECT, HOSTILE, PET, EFFECT = range(8)
"""Kinds of glyphs. ``HOSTILE`` includes all creatures but pets."""

_HIDDEN = -1  # the glyph hides the terrain


class Glyph(NamedTuple):
    """A meaning of a glyph.

    ``terrain`` is -1 if the glyph hides it. A glyph that ``hides`` covers walkable terrain, one
    that ``stays`` does not move, and one that ``blocks`` cannot be walked over.
    """

    terrain: int
    kind: int
    alive: bool
    hides: bool
    stays: bool
    blocks: bool


class Glyphs(NamedTuple):
    """A table of all glyphs by number, with the number of boulders."""

    shown: tuple[Glyph, ...]
    boulder: int


def nle() -> Any:
    """Return NLE's module of constants."""
    return require("nle.nethack", "nethack", "NetHack")


@functools.cache
def glyph_tables() -> Glyphs:
    """Build the table from NLE's numbering; cached."""
    game = nle()
    size = game.MAX_GLYPH + 1
    terrain = np.full(size, _HIDDEN, np.int8)
    kind = np.full(size, EFFECT, np.int8)
    cmap = game.GLYPH_CMAP_OFF
    for numbers, here, shows in (
        ((0,), _HIDDEN, NOTHING),
        (range(1, 12), WALL, TERRAIN),
        ((12,), DOORWAY, TERRAIN),
        ((13, 14), OPEN_DOOR, TERRAIN),
        ((15, 16), CLOSED_DOOR, TERRAIN),
        ((17, 18, 37, 38), WALL, TERRAIN),  # iron bars, a tree, raised drawbridges
        ((19, 20, 33, 35, 36, 39, 40), FLOOR, TERRAIN),  # also ice, lowered drawbridges, air
        ((21, 22), CORRIDOR, TERRAIN),
        (range(23, 32), FLOOR, FEATURE),
        ((32, 34, 41), WATER, TERRAIN),
        (range(42, 65), _HIDDEN, TRAP),
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


Area = int
"""Number of a room (positive) or a corridor (negative); 0 for neither."""

SHIFT = 1000
"""Offset that makes all numbers of areas positive; it exceeds the corridors of any level."""
_NO_LABEL = np.int32(1 << 20)
_MAX_SINGLE_CELLS = 8
"""Most cells to process one by one; array operations are faster for more."""


def area_name(area: Area) -> str:
    """Return the name of an area on its level.

    >>> area_name(3), area_name(-2)
    ('room 3', 'corridor 2')
    """
    return f"room {area}" if area > 0 else f"corridor {-area}"


def _fill(numbers: list[Area], patches: range, last: Area) -> Area:
    """Number patches without a number of their own; return the last number used."""
    taken: set[Area] = set()
    for patch in patches:
        if numbers[patch] == _NO_LABEL or numbers[patch] in taken:
            last += 1
            numbers[patch] = last
        taken.add(numbers[patch])
    return last


class AreaMap:
    """A division of one level into areas.

    ``terrain`` (int8) and ``area`` (int16) have shape (1659,). ``doors`` maps cells to door
    numbers, ``exits`` areas to cells. ``merged`` has pairs (removed, kept) since
    :meth:`take_merged`.
    """

    def __init__(self) -> None:
        self.terrain = np.zeros(CELLS, np.int8)
        self.area = np.zeros(CELLS, np.int16)
        self.here = 0
        self.doors: dict[int, int] = {}
        self.exits: dict[Area, list[int]] = {}
        self.merged: list[tuple[Area, Area]] = []
        self._areas: tuple[Area, ...] = ()
        self._beside: dict[int, tuple[Area, ...]] = {}  # door to the areas on both sides
        self._sills: set[int] = set()  # cells beside doors
        self._last_room = self._last_corridor = 0

    def relabel(self, cells: Sequence[int]) -> list[tuple[Area, Area]]:
        """Renumber the patches after a change; return removed numbers with their successors."""
        if len(cells) <= _MAX_SINGLE_CELLS and self._join(cells):
            if len(self._beside) < len(self.doors) or not self._sills.isdisjoint(cells):
                self._find_exits()
            return []
        gone = self._renumber()
        self.merged += gone
        self._find_exits()
        return gone

    def _join(self, cells: Sequence[int]) -> bool:
        """Add new cells to adjacent areas; return False, without a change, if one is ambiguous.

        Most steps show a little more of one area, so this avoids renumbering.
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
        """Renumber all patches; return removed numbers with their successors."""
        terrain = self.terrain
        floor, narrow, under = terrain == FLOOR, terrain == CORRIDOR, terrain == UNDER
        if under.any():
            near = under & dilated(floor)
            narrow = narrow | (under & ~near & dilated(narrow))
            floor = floor | near
        (rooms, tunnels), count = label_patches(np.stack((floor, narrow)))
        first = int(rooms.max()) + 1  # offset of the corridors' labels
        best = np.full(count + 1, _NO_LABEL, np.int32)
        for labels, old in ((rooms, self.area), (tunnels, -self.area)):
            inside = labels.nonzero()[0]
            had = old[inside]
            np.minimum.at(best, labels[inside], np.where(had > 0, had, _NO_LABEL))
        numbers = best.tolist()
        self._last_room = _fill(numbers, range(1, first), self._last_room)
        self._last_corridor = _fill(numbers, range(first, count + 1), self._last_corridor)
        best[1:], best[0] = numbers[1:], 0
        area = (best[rooms] - best[tunnels]).astype(np.int16)
        before = self._areas
        self._areas = (*sorted(numbers[1:first]), *[-n for n in sorted(numbers[first:])])
        gone = self._successors(area) if not set(before) <= set(self._areas) else []
        self.area = area
        return gone

    def _successors(self, area: npt.NDArray[np.int16]) -> list[tuple[Area, Area]]:
        """Return removed numbers with their successors."""
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
        """Return the pairs of merged areas since the last call."""
        merged, self.merged = self.merged, []
        return merged

    def areas_of(self, cell: int) -> tuple[Area, ...]:
        """Return the areas of a cell; of a door, those on both sides."""
        own = int(self.area[cell])
        if own:
            return (own,)
        beside = self._beside.get(cell)
        return self._areas_around(cell) if beside is None else beside

    def _areas_around(self, cell: int) -> tuple[Area, ...]:
        beside = {int(self.area[other]) for other in FOUR[cell].tolist() if other < CELLS} - {0}
        return tuple(sorted(beside, key=lambda area: (area < 0, abs(area))))

    def area_of(self, cell: int) -> Area:
        """Return the area of a cell; of a door, the player's if adjacent, else the room."""
        areas = self.areas_of(cell)
        if len(areas) > 1 and cell != self.here and self.current in areas:
            return self.current
        return areas[0] if areas else 0

    @property
    def current(self) -> Area:
        """Return the player's area."""
        return self.area_of(self.here)

    def areas(self) -> tuple[Area, ...]:
        """Return all known areas, rooms first."""
        return self._areas
