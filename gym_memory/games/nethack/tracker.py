"""Track what was seen of all levels, and the events since the last report.

Both descriptions and the engine facts use this tracker.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gym_memory.games.nethack.engine import Screen
from gym_memory.games.nethack.grid import Area, area_name
from gym_memory.games.nethack.level import Level

__all__ = ["AreaEntry", "AreaListing", "Status", "Tracker"]

_DUNGEONS = {
    1: "gehennom level", 2: "mines level", 3: "quest level", 4: "sokoban level",
    5: "fort ludios level", 6: "tower level", 7: "plane",
}  # fmt: skip
_LOCKED = re.compile(r"\bThis door is locked\b|\bdoor is locked\b")
_SHOP = re.compile(r"[Ww]elcome(?: again)? to [\w' -]+?'s? ([\w' -]+?)!")
_TEMPLE = re.compile(r"You (?:have a (?:strange )?forbidding feeling|experience a sense of peace)")
_PICKED_UP = re.compile(r"see no objects here|(?:^|[.!] )[a-zA-Z$] - ")
_HUNGER = ("satiated", "", "hungry", "weak from hunger", "fainting", "fainted", "starved")
_ENCUMBRANCE = ("", "burdened", "stressed", "strained", "overtaxed", "overloaded")
_CONDITIONS = (
    "turning to stone", "turning to slime", "strangled", "food poisoned", "terminally ill",
    "blind", "deaf", "stunned", "confused", "hallucinating", "levitating", "flying", "riding",
)  # fmt: skip
_UNDERFOOT = (
    "staircase up", "staircase down", "ladder up", "ladder down", "altar", "fountain",
    "opulent throne", "sink",
)  # fmt: skip
"""Features that the look command names."""


class AreaEntry(NamedTuple):
    """An entry in the listing of an area; only doors have a state."""

    name: str
    cell: int
    state: str = ""


class AreaListing(NamedTuple):
    """A complete listing of an area's contents."""

    area: Area
    kind: str
    explored: bool
    features: tuple[AreaEntry, ...]
    exits: tuple[AreaEntry, ...]
    items: tuple[AreaEntry, ...]
    creatures: tuple[AreaEntry, ...]


class Status(NamedTuple):
    """Numbers of the status line."""

    hp: int
    max_hp: int
    ac: int
    experience: int
    gold: int
    energy: int
    max_energy: int
    depth: int
    turn: int
    score: int
    conditions: tuple[str, ...]

    @classmethod
    def of(cls, screen: Screen) -> Status:
        """Read the status of a screen."""
        s = screen.status
        hunger = _HUNGER[s[21]] if 0 <= s[21] < len(_HUNGER) else ""
        load = _ENCUMBRANCE[s[22]] if 0 <= s[22] < len(_ENCUMBRANCE) else ""
        ill = [name for bit, name in enumerate(_CONDITIONS) if s[25] >> bit & 1] if s[25] else ()
        conditions = tuple(filter(None, (hunger, load, *ill)))
        return cls(s[10], s[11], s[16], s[18], s[13], s[14], s[15], s[12], s[20], s[9], conditions)


class Tracker:
    """A tracker of everything seen in a game.

    Since the last :meth:`begin_report`: ``messages``, ``passed`` (listings of areas on leaving
    them), ``arrival`` (stairs taken) and ``news`` (kinds of things new on a level). ``facing`` is
    the target cell of the last direction key; ``climbs`` maps taken stairs to their other ends.
    """

    def __init__(self, screen: Screen):
        self.levels: dict[tuple[int, int], Level] = {}
        self.passed: dict[tuple[str, Area], AreaListing] = {}
        self.reported_on_the_way: list[tuple[Level, AreaListing]] = []
        self.messages: list[str] = []
        self.arrival: tuple[str, Area, Level] | None = None
        self.climbs: dict[tuple[str, int], tuple[str, int]] = {}
        self.merged: list[tuple[Level, Area, Area]] = []
        self.news: list[str] = []
        self.deepest = 0
        self.most_experienced = 0
        self.facing = -1
        self._reported: dict[tuple[str, Area], AreaListing] = {}
        self.level = Level("")
        self.screen = screen
        self.status = Status.of(screen)
        self.update(screen)

    def begin_report(self) -> None:
        """Begin the next report, and forget the events reported so far."""
        self.passed, self.messages, self.news = {}, [], []
        self.merged, self.arrival = [], None

    def update(self, screen: Screen, key: str = "") -> None:
        """Update from the screen after a key; ``key`` is ``up`` or ``down`` for stairs."""
        before, old = self.screen, self.level
        left, stood = (old.current, before.here) if old.name else (0, -1)
        question = screen.prompt.text if screen.prompt is not None else ""
        message = screen.message.replace(question, "").strip() if question else screen.message
        if message:
            self.messages.append(message)
        if screen.done or screen.status[20] == 0:  # the map is hidden
            return
        self.screen = screen
        self.status = Status.of(screen)
        self.deepest = max(self.deepest, self.status.depth)
        self.most_experienced = max(self.most_experienced, self.status.experience)
        place = (screen.status[23], screen.status[24])
        level = self.levels.get(place)
        if level is None:
            name = f"{_DUNGEONS.get(place[0], 'level')} {self.status.depth}"
            level = self.levels[place] = Level(name)
        self.level = level
        self.news += level.update(screen)
        for other in self.levels.values():
            if other is not level and other.sightings:
                for being in level.creatures:
                    other.sightings.pop(being.label, None)
        self.merged += [(level, gone, kept) for gone, kept in level.take_merged()]
        if level is not old and old.name:
            old.creatures = ()
            self._record_passed(old, left)
            if key and stood in old.features:
                self.arrival = (old.features[stood], left, old)
                self.climbs[old.name, stood] = (level.name, screen.here)
        elif left and left != level.current:
            self._record_passed(level, left)
        if screen.message:
            self._read(screen)

    def _record_passed(self, level: Level, area: Area) -> None:
        if area:
            self.passed[level.name, area] = listing(level, area)

    def _read(self, screen: Screen) -> None:
        """Read information about the map in the messages."""
        message, level, here = screen.message, self.level, screen.here
        if "locked" in message and _LOCKED.search(message):
            level.lock(self.facing)
        shop = _SHOP.search(message)
        if shop is not None and level.current:
            inside = [area for area in level.areas_of(here) if area > 0]
            level.kinds.setdefault(max(inside, default=level.current), shop[1].lower())
        elif _TEMPLE.search(message) and level.current > 0:
            level.kinds.setdefault(level.current, "temple")
        if here in level.items and _PICKED_UP.search(message):
            del level.items[here]

    def stairs_here(self, words: str) -> None:
        """Read the stairs under the player in the message of the look command."""
        name = next((name for name in _UNDERFOOT if f" {name}" in words), "")
        if name:
            self.level.note_feature(self.screen.here, name)

    def here(self) -> AreaListing:
        """Return the things at the player's cell."""
        return listing(self.level, self.level.current)

    def unreported(self) -> list[tuple[Level, AreaListing]]:
        """Return areas passed since the last report whose last state was not reported.

        Creatures seen elsewhere since then are omitted.
        """
        if not self.passed:
            return []
        levels = {level.name: level for level in self.levels.values()}
        found = []
        for (name, area), seen in self.passed.items():
            level = levels[name]
            still = [c for c in seen.creatures if level.sightings.get(c.name) == area]
            left = seen._replace(creatures=tuple(still))
            here = level is self.level and area == level.current
            if not here and self._reported.get((name, area)) != left and (level.area == area).any():
                found.append((level, left))
        return found

    def note_report(self, level: Level, shown: AreaListing) -> None:
        """Record that a listing was reported."""
        self._reported[level.name, shown.area] = shown


def listing(level: Level, area: Area) -> AreaListing:
    """List the known contents of an area."""

    def inside(cell: int) -> bool:
        own = int(level.area[cell])
        return own == area if own else area in level.areas_of(cell)

    doors = sorted(level.exits.get(area, ()))
    items = sorted(level.items.items())
    return AreaListing(
        area,
        level.kinds.get(area, ""),
        area not in level.unexplored(),
        tuple([AreaEntry(name, cell) for cell, name in level.features.items() if inside(cell)]),
        tuple([AreaEntry(f"door {level.doors[c]}", c, level.door_states[c]) for c in doors]),
        tuple([AreaEntry(name, cell) for cell, name in items if inside(cell)]),
        tuple(
            [AreaEntry(being.label, being.cell) for being in level.creatures if inside(being.cell)]
        ),
    )


def title(level: Level, area: Area) -> str:
    """Return the full name of an area.

    >>> title(Level("level 2"), 3)
    'room 3 of level 2'
    """
    return f"{area_name(area)} of {level.name}"
