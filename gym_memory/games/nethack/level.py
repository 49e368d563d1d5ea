"""The seen part of a level, updated from the cells of the screen that change."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

import numpy as np

from gym_memory.core.text import without_article
from gym_memory.games.nethack import grid
from gym_memory.games.nethack.engine import Screen
from gym_memory.games.nethack.grid import SHIFT, Area, AreaMap

__all__ = ["Creature", "Level", "ReachableArea"]

_FEATURES = {
    "staircase up": "stairs up", "staircase down": "stairs down", "opulent throne": "throne",
}  # fmt: skip
_SAFE_FEATURES = (
    "stairs", "ladder", "throne", "sink", "fountain", "grave", "squeaky board", "vibrating square",
    "altar", "lawful", "neutral", "chaotic", "unaligned", "aligned", "high",
)  # fmt: skip
"""First words of features that are safe to step on, unlike traps."""
_WALKABLE_TERRAIN = np.isin(
    range(9), (grid.UNKNOWN, grid.WALL, grid.WATER, grid.CLOSED_DOOR), invert=True
)
"""Walkability by kind of terrain."""
_PRICE = re.compile(r" \(for sale, ([^()]+)\)$")
_REMARK = re.compile(r" ?\([^()]*\)")
_NAMED = re.compile(r" called | - |, ")


class Creature(NamedTuple):
    """A creature in view; its attitude is ``hostile``, ``peaceful`` or ``tame``."""

    cell: int
    name: str
    attitude: str

    @property
    def label(self) -> str:
        """Return the name, preceded by the attitude unless it is hostile."""
        return self.name if self.attitude == "hostile" else f"{self.attitude} {self.name}"


@functools.lru_cache(maxsize=1024)
def _item_name(words: str) -> str:
    """Return the name of a thing on the floor, with its price if in a shop."""
    priced = _PRICE.sub(r" for \1", without_article(words.lower(), "some", r"\d+"))
    return _REMARK.sub("", priced).replace(";", ",") or "thing"


@functools.lru_cache(maxsize=1024)
def _parse_creature(words: str) -> tuple[str, str]:
    """Return name and attitude of a creature.

    >>> _parse_creature("peaceful gnome called Bo")
    ('gnome', 'peaceful')
    """
    attitude = "hostile"
    for mood in ("tame", "peaceful"):
        if words.startswith(mood):
            attitude, words = mood, words[len(mood) :].strip()
    if not words or "unseen" in words:
        words = "unseen creature"
    return _NAMED.split(without_article(words, "some", r"\d+"))[0], attitude


class ReachableArea(NamedTuple):
    """A mask of reachable cells, with the areas that it touches."""

    cells: grid.Mask
    areas: frozenset[Area]


class Level(AreaMap):
    """The seen part of a level, named ``level 2``, ``mines level 3`` or similar.

    ``items``, ``features`` and ``door_states`` map cells to their contents. ``kinds`` maps areas to
    special kinds of rooms (shop, temple), and ``sightings`` maps the labels of creatures to the
    areas where they were last seen.
    """

    def __init__(self, name: str):
        super().__init__()
        self.name = name
        self._glyphs = np.full(grid.CELLS, -2, np.int16)
        self.visited = np.zeros(grid.CELLS, np.bool_)
        self.searched = np.zeros(grid.CELLS, np.int32)
        self.door_states: dict[int, str] = {}
        self.features: dict[int, str] = {}
        self.items: dict[int, str] = {}
        self.kinds: dict[Area, str] = {}
        self.creatures: tuple[Creature, ...] = ()
        self.sightings: dict[str, Area] = {}
        self._known_glyphs: set[int] = set()
        self._names: dict[str, int] = {}
        self._alive: set[int] = set()  # cells with a creature in view, perhaps the player's
        self._blocked: set[int] = set()  # boulders and statues in view
        self._stuck: set[int] = set()
        self.door_tries: dict[int, int] = {}
        self._ways: tuple[tuple[int, int], grid.Ways] | None = None
        self._paths: grid.PathMap | None = None
        self._within_reach: tuple[int, ReachableArea] | None = None
        self._frontier: tuple[int, grid.Mask] | None = None
        self._unexplored: frozenset[Area] | None = None
        self._roads = 0  # incremented when walkable cells change

    def update(self, screen: Screen) -> tuple[str, ...]:
        """Update the level from a screen; return the names of things of kinds new to it."""
        here, glyphs = screen.here, screen.glyphs
        if not self.visited[here]:
            self.visited[here] = True
            if self._frontier is not None and self._frontier[1][here]:
                self._frontier[1][here] = False
                self._unexplored = None
        changed = (glyphs != self._glyphs).nonzero()[0]
        news: list[str] = []
        self.here = here
        if len(changed):
            now = glyphs[changed]
            self._glyphs[changed] = now
            self._update_cells(changed.tolist(), now.tolist(), screen, news)
        if self.terrain[here] == grid.UNKNOWN:
            self.terrain[here] = grid.UNDER
            self._rebuild([here])
        self._update_creatures(screen, news)
        return tuple(news)

    def _update_cells(
        self, cells: list[int], glyphs: list[int], screen: Screen, news: list[str]
    ) -> None:
        """Update changed cells; at the player's own cell, only creatures and missing things."""
        table, terrain, blocked = grid.glyph_tables().shown, self.terrain, self._blocked
        other: list[int] = []  # cells with changed terrain
        roads = False
        for cell, glyph, before in zip(cells, glyphs, terrain[cells].tolist(), strict=True):
            stated, kind, alive, hides, stays, blocks = table[glyph]
            if alive:
                self._alive.add(cell)
            else:
                self._alive.discard(cell)
            if blocks != (cell in blocked):
                roads = True
                blocked ^= {cell}
            if cell == self.here:
                continue
            now = stated
            if stated < 0:
                now = grid.UNDER if hides and before == grid.UNKNOWN else before
            if now != before:
                terrain[cell] = now
                other.append(cell)
            if stays:
                words = screen.shown(cell)
                is_new = glyph not in self._known_glyphs
                self._known_glyphs.add(glyph)
                if kind == grid.OBJECT:
                    self._place_item(cell, words)
                else:
                    is_new &= self._record_feature(cell, words)
                if is_new:
                    news.append(words)
            if kind <= grid.FEATURE:
                self.items.pop(cell, None)
            if grid.DOORWAY <= now <= grid.CLOSED_DOOR:
                self._set_door(cell, now, screen.shown(cell))
        if roads:
            self._roads += 1
        if other:
            self._rebuild(other)

    def _place_item(self, cell: int, words: str) -> None:
        if self._glyphs[cell] == grid.glyph_tables().boulder:
            self.items.pop(cell, None)
        else:
            self.items[cell] = _item_name(words)

    def _record_feature(self, cell: int, words: str) -> bool:
        """Record a feature or trap; number each after the first of its kind. True if it is new."""
        kind = _FEATURES.get(words, words)
        old = self.features.get(cell, "")
        if re.sub(r" \d+$", "", old) == kind:
            return False
        self._names[kind] = number = self._names.get(kind, 0) + 1
        self.features[cell] = kind if number == 1 else f"{kind} {number}"
        self._roads += 1
        return True

    def _set_door(self, cell: int, terrain: int, words: str) -> None:
        if cell not in self.doors:
            self.doors[cell] = len(self.doors) + 1
        if terrain == grid.CLOSED_DOOR:
            state = "locked" if self.door_states.get(cell) == "locked" else "closed"
        elif terrain == grid.OPEN_DOOR:
            state = "open"
        else:
            was_broken = self.door_states.get(cell) == "broken"
            state = "broken" if "broken" in words or was_broken else "doorway"
        if self.door_states.get(cell) != state:
            self.door_states[cell] = state
            self._roads += 1

    def note_feature(self, cell: int, words: str) -> None:
        """Record a feature that its glyph does not show."""
        if cell not in self.features:
            self._record_feature(cell, words)

    def block(self, cell: int) -> None:
        """Record a cell that the player cannot enter, such as a stuck boulder."""
        self._stuck.add(cell)
        self._roads += 1

    def lock(self, cell: int) -> None:
        """Record a locked door."""
        if self.door_states.get(cell) == "closed":
            self.door_states[cell] = "locked"
            self._roads += 1

    def _update_creatures(self, screen: Screen, news: list[str]) -> None:
        seen = []
        for cell in sorted(self._alive):
            if cell == self.here:
                continue
            name, attitude = _parse_creature(screen.shown(cell))
            glyph = grid.glyph_tables().shown[self._glyphs[cell]]
            if attitude == "hostile" and glyph.kind == grid.PET:
                attitude = "tame"
            seen.append(Creature(cell, name, attitude))
        before = {being.label for being in self.creatures}
        self.creatures = tuple(seen)
        for being in seen:
            area = self.area_of(being.cell)
            if area:
                self.sightings.pop(being.label, None)
                self.sightings[being.label] = area
            if being.attitude == "hostile" and being.label not in before:
                news.append(being.name)
        if self.sightings:
            here, labels = self.current, {being.label for being in seen}
            for label in [n for n, area in self.sightings.items() if area == here]:
                if label not in labels:
                    del self.sightings[label]

    def _rebuild(self, cells: list[int]) -> None:
        """Recompute areas and ways after a change of terrain."""
        self._roads += 1
        for old, new in self.relabel(cells):
            for label, area in self.sightings.items():
                if area == old:
                    self.sightings[label] = new
            if old in self.kinds:
                self.kinds.setdefault(new, self.kinds.pop(old))

    def passable(self, *, boulders: bool = False, away_from: tuple[int, ...] = ()) -> grid.Mask:
        """Return the walkable cells, without ``away_from`` and its neighbours."""
        mask: grid.Mask = _WALKABLE_TERRAIN[self.terrain]
        mask[list(self._barred(boulders=boulders))] = False
        if away_from:
            mask[grid.EIGHT[list(away_from)].clip(max=grid.CELLS - 1).ravel()] = False
        mask[self.here] = True
        return mask

    def ways(self) -> grid.Ways:
        """Return the possible steps, avoiding traps and boulders."""
        now = (self._roads, self.here if self.here in self._barred() else -1)
        if self._ways is None or self._ways[0] != now:
            self._ways = (now, grid.Ways(self.passable(), self.terrain == grid.OPEN_DOOR))
            self._paths, self._within_reach = None, None
        return self._ways[1]

    def paths(self) -> grid.PathMap:
        """Return the shortest paths from the player, avoiding traps and boulders."""
        ways = self.ways()
        if self._paths is None or self._paths.start != self.here:
            self._paths = ways.paths(self.here)
        return self._paths

    def reachable(self) -> ReachableArea:
        """Return the reachable cells and areas."""
        regions = self.ways().regions
        region = int(regions[self.here])
        if self._within_reach is None or self._within_reach[0] != region:
            cells = regions == region
            areas = np.flatnonzero(np.bincount(self.area[cells] + SHIFT)) - SHIFT
            self._within_reach = (region, ReachableArea(cells, frozenset(areas.tolist())))
        return self._within_reach[1]

    def _barred(self, *, boulders: bool = False) -> set[int]:
        unsafe = (c for c, name in self.features.items() if not name.startswith(_SAFE_FEATURES))
        return self._stuck.union(unsafe, () if boulders else self._blocked)

    def paths_over(self, mask: grid.Mask) -> grid.PathMap:
        """Return the shortest paths over the cells of a mask."""
        return grid.Ways(mask, self.terrain == grid.OPEN_DOOR).paths(self.here)

    def frontier(self, mask: grid.Mask | None = None) -> grid.Mask:
        """Return the unvisited cells of ``mask`` (or :meth:`passable`) with unseen neighbours."""
        if mask is not None:
            return mask & ~self.visited & grid.dilated(self.terrain == grid.UNKNOWN)
        if self._frontier is None or self._frontier[0] != self._roads:
            self._frontier = (self._roads, self.frontier(self.passable()))
            self._unexplored = None
        return self._frontier[1]

    def unexplored(self) -> frozenset[Area]:
        """Return the areas of the cells of the :meth:`frontier`; 0 if some have no area."""
        frontier = self.frontier()
        if self._unexplored is None:
            self._unexplored = frozenset(self.area[frontier].tolist())
        return self._unexplored

    def adjacent(self) -> list[Creature]:
        """Return the hostile creatures next to the player."""
        return [
            being
            for being in self.creatures
            if being.attitude == "hostile" and grid.distance(being.cell, self.here) == 1
        ]
