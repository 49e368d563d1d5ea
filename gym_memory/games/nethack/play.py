"""Press keys with interruptions, walk, and other parts of skills."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gym_memory.games.nethack.engine import ESCAPE, NetHackEngine, Screen
from gym_memory.games.nethack.grid import (
    CELLS,
    CLOSED_DOOR,
    COLUMNS,
    DIRECTIONS,
    EIGHT,
    FOUR,
    PathMap,
    direction_to,
    distance,
)
from gym_memory.games.nethack.level import Level
from gym_memory.games.nethack.tracker import Tracker

__all__ = ["DIRECTION_KEYS", "Impossible", "NetHackPlay", "Stop"]

DIRECTION_KEYS = {
    "north": "k", "south": "j", "east": "l", "west": "h", "northeast": "u", "northwest": "y",
    "southeast": "n", "southwest": "b", "up": "<", "down": ">", "self": ".",
}  # fmt: skip
"""Keys by direction."""

_OFFSETS = {word: row * COLUMNS + column for word, (row, column) in DIRECTIONS.items()}
"""Differences of cell numbers by direction."""
_OFFSET_BY_KEY = {ord(DIRECTION_KEYS[word]): offset for word, offset in _OFFSETS.items()}
_LOW_HP_SHARE = 0.4
_MAX_TURNS = 100
_CHOOSE_PLACE = "(For instructions type a "
_FORBIDDEN = re.compile(r"Really (?:quit|save)|explore mode|debug mode|suspend", re.IGNORECASE)


class Stop(Exception):
    """An interruption of a skill; the text gives the reason."""


class Impossible(Exception):
    """A refusal of an action before any key; the text gives the reason."""


class NetHackPlay:
    """A game in play.

    These events stop a skill: a new level, an unintended move, a thing or creature of a kind new on
    the level or newly in view, a loss of hit points to below 40 %, a question or menu, and 100
    turns of the game. Any loss of hit points stops a skill that walks.

    Attributes:
        avoid: Whether walking keeps a distance of one step to hostile creatures.
    """

    def __init__(self, engine: NetHackEngine, seed: int):
        self._engine = engine
        self.screen = engine.start(seed)
        self.tracker = Tracker(self.screen)
        self.avoid = False
        self._walking = self._raw = False
        self._hp = self._turn = 0
        self._place: Level = self.tracker.level
        self._look_around()

    @property
    def level(self) -> Level:
        """Return the player's level."""
        return self.tracker.level

    @property
    def here(self) -> int:
        """Return the player's cell."""
        return self.screen.here

    def begin(self) -> None:
        """Start a new action."""
        self.tracker.begin_report()
        status = self.tracker.status
        self._hp, self._turn, self._place = status.hp, status.turn, self.level
        self._walking = False

    def press(self, key: int | str, *, asks: bool = False) -> Screen:
        """Press a key, read its result, and stop the skill if needed.

        ``asks`` is True if a question is expected.
        """
        before, stood = self.here, self.level
        self._take(ord(key) if isinstance(key, str) else key)
        self._interrupt(before, stood, asks=asks)
        return self.screen

    def _take(self, code: int) -> None:
        known = len(self.tracker.levels)
        if code in _OFFSET_BY_KEY:
            self.tracker.facing = self.here + _OFFSET_BY_KEY[code]
        self.screen = self._engine.press(code)
        self.tracker.update(self.screen, {60: "up", 62: "down"}.get(code, ""))
        prompt = self.screen.prompt
        if prompt is not None and _FORBIDDEN.search(prompt.text):
            self.screen = self._engine.press(ESCAPE)
            self.tracker.update(self.screen)
            raise Stop("That is not something to do here.")
        if len(self.tracker.levels) > known:
            self._look_around()

    def _look_around(self) -> None:
        """Look at the things under the player, which the map hides; takes no time."""
        if self.screen.prompt is None and not self.screen.done:
            self._take_silently(ord(":"))
            self.tracker.stairs_here(self.screen.message)

    def _take_silently(self, code: int) -> None:
        kept = list(self.tracker.messages)
        self._take(code)
        self.tracker.messages = kept

    def _interrupt(self, before: int, stood: Level, *, asks: bool) -> None:
        screen, tracker, level = self.screen, self.tracker, self.level
        status = tracker.status
        if screen.done:
            raise Stop("The game is over.")
        if level is not self._place:
            raise Stop(f"You are on {level.name} now.")
        if level is stood and distance(before, screen.here) > 1:
            raise Stop("You were moved to another place.")
        if screen.prompt is not None and not asks:
            raise Stop("")
        if status.hp < self._hp and status.hp < _LOW_HP_SHARE * status.max_hp:
            raise Stop("You stop: your hit points are low.")
        if self._walking and status.hp < self._hp:
            raise Stop("You stop: you were hurt.")
        if tracker.news and screen.prompt is None:
            raise Stop(f"You stop, for you see: {', '.join(dict.fromkeys(tracker.news))}.")
        if status.turn - self._turn >= _MAX_TURNS:
            raise Stop(f"You stop after {_MAX_TURNS} turns.")

    def settle(self) -> None:
        """End the selection of a place, which raw keys and detections start without a question."""
        if self.screen.prompt is None and (self._raw or _CHOOSE_PLACE in self.screen.message):
            self._take_silently(ESCAPE)
        self._raw = False

    def raw(self, codes: Iterable[int]) -> None:
        """Press raw keys; stops only when the game is over."""
        self._raw = True
        for code in codes:
            self._take(code)
            if self.screen.done:
                return

    def paths(self) -> PathMap:
        """Return the shortest paths around all creatures but pets."""
        level = self.level
        others = [being for being in level.creatures if being.attitude != "tame"]
        if not others:
            return level.paths()
        foes = [being.cell for being in others if being.attitude == "hostile"] if self.avoid else ()
        mask = level.passable(away_from=tuple(foes))
        mask[[being.cell for being in others]] = False
        return level.paths_over(mask)

    def step(self, word: str, *, wary: bool = True) -> bool:
        """Go one step; True if the player moved.

        From now on, ``wary`` stops the skill after any loss of hit points.
        """
        before = self.here
        for being in self.level.creatures:
            if being.cell == before + _OFFSETS[word] and being.attitude != "tame":
                raise Stop(f"You stop: the {being.label} is in the way.")
        self._walking = wary
        self.press(DIRECTION_KEYS[word])
        return self.here != before

    def walk_to(self, cell: int, *, boulders: bool = False) -> None:
        """Walk to a cell on the shortest path."""
        failures = 0
        while self.here != cell:
            level = self.level
            if boulders:
                path = level.paths_over(level.passable(boulders=True)).to(cell)
            else:
                path = self.paths().to(cell) or level.paths().to(cell)
            if not path:
                raise Stop("You stop: there is no way to go on.")
            turn = self.tracker.status.turn
            if self.step(direction_to(self.here, path[0])):
                failures = 0
                continue
            failures += 1
            if failures >= 3:
                if self._is_closed(path[0], turn):
                    level.block(path[0])
                raise Stop("You stop: something is in the way.")

    def _is_closed(self, cell: int, turn: int) -> bool:
        """True if a step is impossible: it took no time, or a boulder did not move."""
        if any(being.cell == cell for being in self.level.creatures):
            return False
        return self.tracker.status.turn == turn or "boulder" in self.screen.message

    def beside(self, cell: int, *, straight: bool = False) -> int | None:
        """Return the nearest reachable cell next to one; None if there is none."""
        paths, around = self.paths(), (FOUR if straight else EIGHT)[cell].tolist()
        near = [other for other in around if other < CELLS and paths.reaches(other)]
        return min(near, key=lambda other: (paths.steps[other], other), default=None)

    def is_shut(self, cell: int) -> bool:
        """True if a cell has a closed door."""
        return bool(self.level.terrain[cell] == CLOSED_DOOR)
