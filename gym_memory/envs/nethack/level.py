"""One level as far as it was seen: terrain, rooms and corridors, doors, features, things.

Updated from the cells that changed on the screen. Rooms and corridors are connected patches of
floor; a patch keeps its number while it grows, and where two turn out to be one, the smaller
number stays (``merged`` says so). Numbers of doors never change.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gym_memory.envs.nethack.engine import Screen
from gym_memory.envs.nethack.glyphs import (
    CLOSED_DOOR,
    CORRIDOR,
    DOORWAY,
    FEATURE,
    FLOOR,
    OBJECT,
    OPEN_DOOR,
    PET,
    TRAP,
    UNDER,
    UNKNOWN,
    WALL,
    WATER,
    glyph_tables,
)  # fmt: skip
from gym_memory.envs.nethack.grid import (
    CELLS,
    EIGHT,
    FOUR,
    Mask,
    PathMap,
    Ways,
    dilated,
    distance,
    label_patches,
)

__all__ = ["Area", "Creature", "Level", "Reach", "area_name"]

Area = int
"""Number of a room (positive) or a corridor (negative); 0 for neither."""

_SHIFT = 1000  # more than any level has corridors
_NONE = np.int32(1 << 20)
_FEATURES = {
    "staircase up": "stairs up", "staircase down": "stairs down",
    "opulent throne": "throne", "ladder up": "ladder up", "ladder down": "ladder down",
}  # fmt: skip
_SAFE = (
    "stairs", "ladder", "throne", "sink", "fountain", "grave", "squeaky board", "vibrating square",
    "altar", "lawful", "neutral", "chaotic", "unaligned", "aligned", "high",
)  # fmt: skip
"""How the names of features begin that are no traps to keep out of."""
_PRICE = re.compile(r" \(for sale, ([^()]+)\)$")
_REMARK = re.compile(r" ?\([^()]*\)")
_NAMED = re.compile(r" called | - |, ")
_QUANTITY = re.compile(r"^(?:an?|the|some|\d+) ")


class Creature(NamedTuple):
    """A creature in view.

    Attributes:
        cell: Where it is.
        name: As the game calls it, without tame or peaceful.
        attitude: ``hostile``, ``peaceful`` or ``tame``.
    """

    cell: int
    name: str
    attitude: str

    @property
    def label(self) -> str:
        """Its name, after its attitude unless it is hostile."""
        return self.name if self.attitude == "hostile" else f"{self.attitude} {self.name}"


@functools.lru_cache(maxsize=1024)
def _item_name(words: str) -> str:
    """The name of a thing on the floor, with its price in a shop."""
    priced = _PRICE.sub(r" for \1", _QUANTITY.sub("", words.lower()))
    return _REMARK.sub("", priced).replace(";", ",") or "thing"


class Reach(NamedTuple):
    """What can be walked to: a mask of cells, and areas with such a cell."""

    cells: Mask
    areas: frozenset[Area]


def _rooms_first(area: Area) -> tuple[bool, int]:
    return area < 0, abs(area)


def area_name(area: Area) -> str:
    """What an area is called on its level.

    >>> area_name(3), area_name(-2)
    ('room 3', 'corridor 2')
    """
    return f"room {area}" if area > 0 else f"corridor {-area}"


class Level:
    """What is known of one level.

    Args:
        name: What it is called: ``level 2``, ``mines level 3``.

    Attributes:
        terrain: int8 of shape (1659,), see :mod:`.glyphs`.
        area: int16 of shape (1659,), the room or corridor of each cell.
        visited: Cells where the player was.
        searched: How often each cell was searched from, or from a cell next to it.
        doors: Cell to the number of the door there.
        door_tries: Cell of a door to how often it was pushed in vain.
        door_states: Cell to its state: ``doorway``, ``open``, ``closed``, ``locked``, ``broken``.
        exits: Area to the cells of its doors.
        features: Cell to the name of the feature there, unlike any other name on the level.
        items: Cell to what lies there on top.
        kinds: Area to what it is besides a room (a shop, a temple).
        creatures: Creatures in view.
        sightings: Label of a creature to the area where it was last seen.
        merged: Pairs (gone, kept) of areas that turned out to be one, since :meth:`take_merged`.
        version: Changes whenever terrain, areas, doors, features or items do.
    """

    def __init__(self, name: str):
        self.name = name
        self._glyphs = np.full(CELLS, -2, np.int16)
        self.terrain = np.zeros(CELLS, np.int8)
        self.area = np.zeros(CELLS, np.int16)
        self.visited = np.zeros(CELLS, np.bool_)
        self.searched = np.zeros(CELLS, np.int32)
        self.doors: dict[int, int] = {}
        self.door_states: dict[int, str] = {}
        self.exits: dict[Area, list[int]] = {}
        self.features: dict[int, str] = {}
        self.items: dict[int, str] = {}
        self.kinds: dict[Area, str] = {}
        self.creatures: tuple[Creature, ...] = ()
        self.sightings: dict[str, Area] = {}
        self.merged: list[tuple[Area, Area]] = []
        self.here = 0
        self.version = 0
        self._areas: tuple[Area, ...] = ()
        self._beside: dict[int, tuple[Area, ...]] = {}  # door to the areas on its sides
        self._last_room = self._last_corridor = 0
        self._known_glyphs: set[int] = set()
        self._names: dict[str, int] = {}
        self._blocked: frozenset[int] = frozenset()  # boulders and statues in view
        self._stuck: set[int] = set()
        self.door_tries: dict[int, int] = {}
        self._ways: tuple[tuple[int, int], Ways] | None = None
        self._paths: PathMap | None = None
        self._within_reach: tuple[int, Reach] | None = None
        self._frontier: tuple[int, Mask] | None = None
        self._roads = 0  # changes whenever what can be walked on does

    # ------------------------------------------------------------ the screen

    def update(self, screen: Screen) -> tuple[str, ...]:
        """Take in a screen; returns the names of things of a kind not seen on this level before."""
        tables = glyph_tables()
        here, glyphs = screen.here, screen.glyphs
        if not self.visited[here]:
            self.visited[here] = True
            self._frontier = None
        changed = np.flatnonzero(glyphs != self._glyphs)
        news: list[str] = []
        self.here = here
        if len(changed):
            self._glyphs[changed] = glyphs[changed]
            changed = changed[changed != here]
            self._take(changed, screen, news)
        if self.terrain[here] == UNKNOWN:
            self.terrain[here] = UNDER
            self._relabel()
        self._see(tables.alive[glyphs].nonzero()[0], screen, news)
        return tuple(news)

    def _take(self, changed: npt.NDArray[np.intp], screen: Screen, news: list[str]) -> None:
        """Take in the cells that changed, the player's own left out."""
        tables = glyph_tables()
        glyphs = self._glyphs[changed]
        kind, said = tables.kind[glyphs], tables.terrain[glyphs]
        before = self.terrain[changed]
        now = np.where(said >= 0, said, before)
        hidden = (said < 0) & (before == UNKNOWN) & (kind >= TRAP) & (kind <= PET)
        now[hidden] = UNDER
        moved = now != before
        self.terrain[changed] = now
        special = np.flatnonzero((kind == FEATURE) | (kind == TRAP) | (kind == OBJECT))
        for position in special.tolist():
            cell, shows = int(changed[position]), int(kind[position])
            words = screen.shown(cell)
            glyph = int(glyphs[position])
            is_new = glyph not in self._known_glyphs
            self._known_glyphs.add(glyph)
            if shows == OBJECT:
                self._put(cell, words)
            else:
                is_new &= self._mark(cell, words)
            if is_new:
                news.append(words)
        if self.items:
            bare = set(changed[kind < FEATURE].tolist()) | set(changed[kind == FEATURE].tolist())
            for cell in [cell for cell in self.items if cell in bare]:
                del self.items[cell]
                self.version += 1
        solid = (now == DOORWAY) | (now == OPEN_DOOR) | (now == CLOSED_DOOR)
        for cell in changed[solid].tolist():
            self._set_door(cell, screen.shown(cell))
        if self._blocked or tables.blocks[glyphs].any():
            blocked = frozenset(np.flatnonzero(tables.blocks[self._glyphs]).tolist())
            if blocked != self._blocked:
                self._blocked = blocked
                self._roads += 1
        if moved.any():
            self._relabel()

    def _put(self, cell: int, words: str) -> None:
        name = _item_name(words)
        if self._glyphs[cell] == glyph_tables().boulder:
            self.items.pop(cell, None)
        elif self.items.get(cell) != name:
            self.items[cell] = name
            self.version += 1

    def _mark(self, cell: int, words: str) -> bool:
        """Note a feature or a trap; the second of a kind gets a number. Whether it is news."""
        kind = _FEATURES.get(words, words)
        old = self.features.get(cell, "")
        if re.sub(r" \d+$", "", old) == kind:
            return False
        self._names[kind] = number = self._names.get(kind, 0) + 1
        self.features[cell] = kind if number == 1 else f"{kind} {number}"
        self.version += 1
        self._roads += 1
        return True

    def _set_door(self, cell: int, words: str) -> None:
        terrain = int(self.terrain[cell])
        if cell not in self.doors:
            self.doors[cell] = len(self.doors) + 1
        if terrain == CLOSED_DOOR:
            state = "locked" if self.door_states.get(cell) == "locked" else "closed"
        elif terrain == OPEN_DOOR:
            state = "open"
        else:
            was_broken = self.door_states.get(cell) == "broken"
            state = "broken" if "broken" in words or was_broken else "doorway"
        if self.door_states.get(cell) != state:
            self.door_states[cell] = state
            self.version += 1
            self._roads += 1

    def note_feature(self, cell: int, words: str) -> None:
        """Something else than the map's glyph says which feature is in a cell."""
        if cell not in self.features:
            self._mark(cell, words)

    def block(self, cell: int) -> None:
        """A cell proved to be closed to the player: a boulder that does not move, and the like."""
        self._stuck.add(cell)
        self._roads += 1

    def lock(self, cell: int) -> None:
        """A door proved to be locked."""
        if self.door_states.get(cell) == "closed":
            self.door_states[cell] = "locked"
            self.version += 1
            self._roads += 1

    def lift(self, cell: int) -> None:
        """What lay in a cell is no longer there."""
        if self.items.pop(cell, None) is not None:
            self.version += 1

    def _see(self, beings: npt.NDArray[np.intp], screen: Screen, news: list[str]) -> None:
        tables = glyph_tables()
        seen = []
        for cell in beings.tolist():
            if cell == self.here:
                continue
            words = screen.shown(cell)
            attitude = "hostile"
            for mood in ("tame", "peaceful"):
                if words.startswith(mood):
                    attitude, words = mood, words[len(mood) :].strip()
            if not words or "unseen" in words:
                words = "unseen creature"
            words = _QUANTITY.sub("", words)
            if attitude == "hostile" and tables.kind[screen.glyphs[cell]] == PET:
                attitude = "tame"
            seen.append(Creature(cell, _NAMED.split(words)[0], attitude))
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

    # ------------------------------------------------------------ rooms and corridors

    def _relabel(self) -> None:
        """Number the patches of floor anew; old numbers stay where they were."""
        self.version += 1
        self._roads += 1
        self._frontier = None
        terrain = self.terrain
        floor, narrow, under = terrain == FLOOR, terrain == CORRIDOR, terrain == UNDER
        if under.any():
            near = under & dilated(floor)
            narrow = narrow | (under & ~near & dilated(narrow))
            floor = floor | near
        rooms, self._last_room = self._number(floor, self.area, self._last_room)
        tunnels, self._last_corridor = self._number(narrow, -self.area, self._last_corridor)
        area = (rooms - tunnels).astype(np.int16)
        known = np.flatnonzero(np.bincount(area + _SHIFT)) - _SHIFT
        before = self._areas
        self._areas = tuple(sorted((a for a in known.tolist() if a), key=_rooms_first))
        gone = self._vanished(area) if not set(before) <= set(self._areas) else []
        self.area = area
        for old, new in gone:
            self._rename(old, new)
        self._find_exits()

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

    def _rename(self, old: Area, new: Area) -> None:
        self.merged.append((old, new))
        for label, area in self.sightings.items():
            if area == old:
                self.sightings[label] = new
        if old in self.kinds:
            self.kinds.setdefault(new, self.kinds.pop(old))

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

    # ------------------------------------------------------------ walking

    def passable(self, *, boulders: bool = False, away_from: tuple[int, ...] = ()) -> Mask:
        """Cells that can be walked on, as far as known.

        Args:
            boulders: Whether boulders count as such, for they can be pushed.
            away_from: Cells to keep one step away from.
        """
        terrain = self.terrain
        mask: Mask = (terrain != UNKNOWN) & (terrain != WALL) & (terrain != WATER)
        mask &= terrain != CLOSED_DOOR
        barred = list(self._stuck) if boulders else [*self._stuck, *self._blocked]
        barred += [c for c, name in self.features.items() if not name.startswith(_SAFE)]
        mask[barred] = False
        if away_from:
            mask[EIGHT[list(away_from)].clip(max=CELLS - 1).ravel()] = False
        mask[self.here] = True
        return mask

    def ways(self) -> Ways:
        """Which steps are possible, traps and boulders avoided."""
        now = (self._roads, self.here if self.here in self._barred() else -1)
        if self._ways is None or self._ways[0] != now:
            self._ways = (now, Ways(self.passable(), self.terrain == OPEN_DOOR))
            self._paths, self._within_reach = None, None
        return self._ways[1]

    def paths(self) -> PathMap:
        """Shortest paths from where the player is, traps and boulders avoided."""
        ways = self.ways()
        if self._paths is None or self._paths.start != self.here:
            self._paths = ways.paths(self.here)
        return self._paths

    def reachable(self) -> Reach:
        """Cells and areas that can be walked to."""
        regions = self.ways().regions
        region = int(regions[self.here])
        if self._within_reach is None or self._within_reach[0] != region:
            cells = regions == region
            areas = np.flatnonzero(np.bincount(self.area[cells] + _SHIFT)) - _SHIFT
            self._within_reach = (region, Reach(cells, frozenset(areas.tolist())))
        return self._within_reach[1]

    def _barred(self) -> frozenset[int]:
        unsafe = (c for c, name in self.features.items() if not name.startswith(_SAFE))
        return self._blocked.union(self._stuck, unsafe)

    def paths_over(self, mask: Mask) -> PathMap:
        """Shortest paths over other cells than the usual ones."""
        return Ways(mask, self.terrain == OPEN_DOOR).paths(self.here)

    def frontier(self, mask: Mask | None = None) -> Mask:
        """Cells that can be walked on, were not yet, and have a neighbour that was never seen.

        Args:
            mask: What can be walked on; None for :meth:`passable`.
        """
        if mask is not None:
            return mask & ~self.visited & dilated(self.terrain == UNKNOWN)
        if self._frontier is None or self._frontier[0] != self._roads:
            self._frontier = (self._roads, self.frontier(self.passable()))
        return self._frontier[1]

    def adjacent(self, attitude: str = "hostile") -> list[Creature]:
        """Creatures next to the player."""
        return [
            being
            for being in self.creatures
            if being.attitude == attitude and distance(being.cell, self.here) == 1
        ]
