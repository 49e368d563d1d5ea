"""Errands: several days in one house, with one errand after another.

Each day is a separate game on the same map. Overnight, unfinished errands are completed, displaced
objects return, and some objects move to an adjacent room, so a day does not depend on earlier
actions. Each errand scores 1 point.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from gym_memory.core.records import Triple
from gym_memory.games.base import Feedback
from gym_memory.games.textworld import worldgen
from gym_memory.games.textworld.env import TextWorldFamily
from gym_memory.games.textworld.worldgen import Cell, Grid

if TYPE_CHECKING:
    from textworld.generator.game import Game

__all__ = ["Day", "Errand", "ErrandProgress", "Errands", "Life", "plan_life"]

_WOODS = ("oak", "pine", "walnut", "bamboo")
_READABLE = ("calendar", "diary", "envelope")
"""Objects that may look readable."""
_BRING, _BRING_BACK, _BRING_WHAT = (
    "Bring the {thing} to the {holder}.",
    "Bring the {thing} back to where it stood on the first day.",
    "Bring what stood on the {was} on the first day to the {holder}.",
)


class Errand(NamedTuple):
    """An errand: its text, the object, and the furniture to put it on."""

    text: str
    thing: str
    holder: str


class Day(NamedTuple):
    """A day: the place of each object in the morning, and the errands."""

    places: dict[str, str]
    errands: tuple[Errand, ...]


@dataclasses.dataclass(frozen=True)
class Life:
    """A sampled game before TextWorld builds it; some rooms have no furniture."""

    grid: Grid
    rooms: dict[Cell, str]
    furniture: dict[Cell, str]
    start: Cell
    days: tuple[Day, ...]

    def walkthrough(self, first: int = 0) -> list[str]:
        """Return commands for all errands from a day on, by shortest ways."""
        where = {piece: cell for cell, piece in self.furniture.items()}
        commands: list[str] = []
        for day in self.days[first:]:
            here = self.start
            for _, thing, holder in day.errands:
                commands += worldgen.route(self.grid, here, where[day.places[thing]])
                commands.append(f"take {thing} from {day.places[thing]}")
                commands += worldgen.route(self.grid, where[day.places[thing]], where[holder])
                commands.append(f"put {thing} on {holder}")
                here = where[holder]
        return commands


def plan_life(settings: Mapping[str, Any], seed: int) -> tuple[Life, random.Random]:
    """Sample a game; return it with the random generator for TextWorld's wording."""
    rng = random.Random(f"errands/{seed}")
    grid = worldgen.make_grid(rng, settings["rooms"], settings["box"], settings["openness"])
    cells = sorted(grid)
    rooms = dict(
        zip(cells, rng.sample(worldgen.WORDS["errands"]["rooms"], len(cells)), strict=True)
    )
    pieces = [f"{wood} {piece}" for wood in _WOODS for piece in worldgen.FURNITURE]
    furnished = sorted(rng.sample(cells, settings["furniture"]))
    furniture = dict(zip(furnished, rng.sample(pieces, len(furnished)), strict=True))
    things = rng.sample([t for t in worldgen.THINGS if t not in _READABLE], settings["things"])
    places = {thing: rng.choice(list(furniture.values())) for thing in things}
    first, days = dict(places), []
    for number in range(settings["days"]):
        if number:
            _move_overnight(rng, grid, furniture, places, settings["moved"])
        morning = dict(places)
        past = settings["past"] if number else 0
        errands: list[Errand] = []
        for i in range(settings["errands"]):
            asks = (_BRING_BACK, _BRING_WHAT)[i % 2] if i < past else _BRING
            used = [errand.thing for errand in errands]
            errands.append(_draw_errand(rng, asks, first, places, list(furniture.values()), used))
            places[errands[-1].thing] = errands[-1].holder
        rng.shuffle(errands)
        days.append(Day(morning, tuple(errands)))
    return Life(grid, rooms, furniture, rng.choice(cells), tuple(days)), rng


def _move_overnight(
    rng: random.Random, grid: Grid, furniture: dict[Cell, str], places: dict[str, str], count: int
) -> None:
    """Move some objects to an adjacent room."""
    where = {piece: cell for cell, piece in furniture.items()}
    for thing in rng.sample(sorted(places), count):
        near = [c for c in grid[where[places[thing]]].values() if c in furniture]
        if near:
            places[thing] = furniture[rng.choice(near)]


def _draw_errand(
    rng: random.Random,
    asks: str,
    first: Mapping[str, str],
    places: Mapping[str, str],
    pieces: list[str],
    used: list[str],
) -> Errand:
    """Sample an errand for an object without another errand on this day.

    ``asks`` is its wording, or the plain one if it fits no object. ``first`` has the places on the
    first day, ``places`` the present ones, ``used`` the objects of other errands.
    """
    full = list(first.values())
    fit = {
        _BRING: list(first),
        _BRING_BACK: [thing for thing in first if places[thing] != first[thing]],
        _BRING_WHAT: [thing for thing in first if full.count(first[thing]) == 1],
    }
    free = [thing for thing in fit[asks] if thing not in used]
    if not free:
        return _draw_errand(rng, _BRING, first, places, pieces, used)
    thing = rng.choice(free)
    others = [piece for piece in pieces if piece not in (places[thing], first[thing])]
    holder = first[thing] if asks == _BRING_BACK else rng.choice(others)
    return Errand(asks.format(thing=thing, holder=holder, was=first[thing]), thing, holder)


def _morning(settings: Mapping[str, Any], day: int) -> str:
    if day:
        return (
            f"Day {day + 1} begins. Overnight what was not done has been done, what you displaced "
            "went back, and some things ended up in a room next door."
        )
    return (
        f"Run the errands of the house for {settings['days']} days. You are told one at a time. It "
        "is done when the thing stands where it should, and is taken away from you after "
        f"{settings['patience']} moves. Remember how things stand on this first day."
    )


class ErrandProgress(NamedTuple):
    """A state of progress: day and errand (from 0), moves of the errand, errands done."""

    day: int = 0
    errand: int = 0
    waited: int = 0
    done: int = 0


class Errands(TextWorldFamily):
    """Objects and places to find again over days, while some objects are moved out of view.

    Each errand is to bring an object to a piece of furniture; the agent has seen both.
    From the second day on, errands also ask about the first day: *bring the bell back to where it
    stood on the first day*. An errand ends after ``patience`` moves.

    Settings of a level:

    * ``rooms``, ``box``, ``openness`` as in
      :func:`~gym_memory.games.textworld.worldgen.make_grid`; ``furniture``: number of rooms with a
      piece of furniture; ``things``: number of objects on it.
    * ``days``; ``errands`` per day, of which ``past`` ask about the first day; ``moved``: number of
      objects that move to an adjacent room overnight.
    * ``patience``: most moves of an errand; ``steps``: the step limit.

    The level ``long`` has 64 rooms and 1,000 steps, a transcript of some 80,000 tokens. Its
    walkthrough has about 700 moves.
    """

    family = "errands"
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "short": {
            "rooms": 12, "box": [4, 4], "openness": 0.4, "furniture": 9, "things": 12, "days": 3,
            "errands": 3, "past": 2, "moved": 3, "patience": 30, "steps": 150,
        },
        "long": {
            "rooms": 64, "box": [9, 9], "openness": 0.4, "furniture": 48, "things": 56, "days": 4,
            "errands": 12, "past": 6, "moved": 14, "patience": 50, "steps": 1000,
        },
    }  # fmt: skip
    sizes: ClassVar[Mapping[str, int]] = {"train": 20, "valid": 5, "test": 20, "held_out": 20}

    @classmethod
    def make_game(cls, settings: Mapping[str, Any], split: str, seed: int) -> Game:
        """Generate the game of one day: the first, or ``settings["day"]``."""
        number = settings.get("day", 0)
        life, rng = plan_life(settings, seed)
        day = life.days[number]
        maker = worldgen.new_maker(rng)
        rooms = worldgen.add_rooms(maker, rng, life.grid, life.rooms)
        pieces = {}
        for cell, piece in life.furniture.items():
            pieces[piece] = worldgen.new_holder(maker, rng, "s", piece)
            rooms[cell].add(pieces[piece])
        for thing, piece in day.places.items():
            pieces[piece].add(maker.new("o", thing))
        maker.set_player(rooms[life.start])
        return worldgen.finish_game(
            maker,
            objective=_morning(settings, number),
            walkthrough=life.walkthrough(number),
            max_score=settings["days"] * settings["errands"],
            errands=[list(errand) for errand in day.errands],
        )

    def description(self, task_id: str) -> str | PathLike[str]:
        """Return the path of the house on the present day."""
        day = self.tally.day if self.tally else 0
        settings = self.levels[self.level]
        return self._generated(task_id, {**settings, "day": day} if day else settings)

    @property
    def _errand(self) -> Errand:
        """Return the present errand, or the last one if all are over."""
        errands = self.game.metadata["errands"]
        return Errand(*errands[min(self.tally.errand, len(errands) - 1)])

    def goal(self) -> str:
        """Return the text of the present errand."""
        return f"Run the errands of the house, one at a time. Now: {self._errand.text}"

    def opening(self) -> str:
        """Return the first errand."""
        return f"Your errand: {self.game.metadata['errands'][0][0]}"

    def rescore(
        self, feedback: Feedback, added: frozenset[Triple], removed: frozenset[Triple]
    ) -> Feedback:
        """Score a finished errand; start the next one after it or after too many moves."""
        if self.tally is None:
            self.tally = ErrandProgress()
            return feedback
        settings, tally, errand = self.levels[self.level], self.tally, self._errand
        done = Triple(errand.thing, "is on", errand.holder) in added
        tally = tally._replace(waited=tally.waited + 1, done=tally.done + done)
        if done or tally.waited >= settings["patience"]:
            notice = "Your errand is done." if done else "Your errand took too long."
            tally = tally._replace(errand=tally.errand + 1, waited=0)
            if tally.errand == settings["errands"]:
                tally = tally._replace(day=tally.day + 1, errand=0)
            self.tally = tally
            if tally.errand:
                notice = f"{notice} The next one: {self._errand.text}"
            feedback = feedback._replace(text=f"{feedback.text}\n\n{notice}")
        self.tally = tally
        return feedback._replace(score=float(tally.done))

    def _send(self, action: str) -> Feedback:
        before = self.tally.day
        feedback = super()._send(action)
        if self.tally.day == before:
            return feedback
        if self.tally.day == self.levels[self.level]["days"]:
            won = feedback.score == feedback.max_score
            return feedback._replace(won=won, over=not won)
        morning = self.engine.start(self.description(self.task_id))
        text = f"{feedback.text}\n\n{morning.text}\n\n{self.opening()}"
        return feedback._replace(text=text, inventory=self.engine.inventory())
