"""Cleaning: tidy a house of nine rooms with eleven misplaced things.

This is AriGraph's game (appendix "Text-based Games") from a new seeded generator. The right room of
a thing is common sense, which the game never states. The score comes from the engine's facts; the
game file has no quest.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from gym_memory.core.records import Oracle, Triple
from gym_memory.games.base import Feedback
from gym_memory.games.textworld import worldgen
from gym_memory.games.textworld.env import TextWorldFamily
from gym_memory.games.textworld.voices.houses import make_voiced_house
from gym_memory.games.textworld.worldgen import Cell, Grid
from gym_memory.graph.schema import INVENTORY

if TYPE_CHECKING:
    from textworld.generator.game import Game

__all__ = ["HOUSE", "Cleaning", "CleaningProgress", "Furnishing", "HousePlan", "plan_house", "tidy"]


class Furnishing(NamedTuple):
    """Contents of a kind of room; ``boxes`` are closed at the start.

    ``things`` belong in no other room. Names share no words, so the parser never asks which one is
    meant.
    """

    surfaces: tuple[str, ...]
    boxes: tuple[str, ...]
    things: tuple[str, ...]


HOUSE = {
    room: Furnishing(*(tuple(kind[part]) for part in Furnishing._fields))
    for room, kind in worldgen.WORDS["cleaning"].items()
}
"""Kinds of rooms, of which a house has nine."""

_TYPICAL_THINGS_PER_ROOM = 3
"""Typical things that stay in every room to show its use."""
_CONDITIONS = ("clean", "dusty", "modern", "old", "well used", "brand new", "plain")


@dataclasses.dataclass(frozen=True)
class HousePlan:
    """A drawn game before TextWorld builds it: the home and the place of each thing."""

    grid: Grid
    rooms: dict[Cell, str]
    start: Cell
    homes: dict[str, str]
    places: dict[str, str]
    misplaced: tuple[str, ...]

    def walkthrough(self) -> list[str]:
        """Return commands that tidy the house, always in the nearest room with something to do."""
        where = {name: cell for cell, name in self.rooms.items()}
        found = {thing: where[room_of(self.places[thing])] for thing in self.misplaced}
        held: list[str] = []
        commands: list[str] = []
        here = self.start
        while True:
            for thing in [t for t, cell in found.items() if cell == here]:
                place = self.places[thing]
                commands.append(f"take {thing}" + ("" if place in HOUSE else f" from {place}"))
                held.append(thing)
                del found[thing]
            for thing in [t for t in held if where[self.homes[t]] == here]:
                surface = HOUSE[self.homes[thing]].surfaces[0]
                commands.append(f"put {thing} on {surface}")
                held.remove(thing)
            useful = {*found.values(), *(where[self.homes[thing]] for thing in held)}
            if not useful:
                return commands
            goal = next(cell for cell in self.grid.distances(here) if cell in useful)
            commands += worldgen.route(self.grid, here, goal)
            here = goal


def room_of(place: str) -> str:
    """Return the room of a piece of furniture; a room is its own.

    >>> room_of("fridge"), room_of("garden")
    ('kitchen', 'garden')
    """
    return place if place in HOUSE else _ROOM_OF[place]


def _is_home(place: str, home: str) -> bool:
    return place == home or _ROOM_OF.get(place) == home


_ROOM_OF = {piece: room for room, kind in HOUSE.items() for piece in (*kind.surfaces, *kind.boxes)}


def plan_house(settings: Mapping[str, Any], seed: int) -> tuple[HousePlan, random.Random]:
    """Draw a game; return it with the random generator for TextWorld's wording."""
    rng = random.Random(f"cleaning/{seed}")
    columns, rows = settings["box"]
    grid = worldgen.make_grid(rng, columns * rows, (columns, rows), openness=0.6)
    cells = sorted(grid)
    names = rng.sample(list(HOUSE), len(cells))
    share, over = divmod(settings["things"], len(names))
    homes: dict[str, str] = {}
    movable: list[str] = []
    for i, name in enumerate(names):
        own = rng.sample(HOUSE[name].things, share + (i < over))
        homes.update(dict.fromkeys(own, name))
        movable += own[_TYPICAL_THINGS_PER_ROOM:]
    misplaced = tuple(sorted(rng.sample(movable, settings["misplaced"])))
    places = {}
    for thing, home in homes.items():
        if thing in misplaced:  # in view, so a walk through all rooms is enough
            wrong = rng.choice([name for name in names if name != home])
            places[thing] = rng.choice([*HOUSE[wrong].surfaces, wrong])
        else:
            kind = HOUSE[home]
            places[thing] = rng.choice([*kind.surfaces, *kind.surfaces, *kind.boxes, home])
    rooms = dict(zip(cells, names, strict=True))
    return HousePlan(grid, rooms, rng.choice(cells), homes, places, misplaced), rng


class CleaningProgress(NamedTuple):
    """Things outside their room, and things that gained or lost a point."""

    away: frozenset[str]
    picked: frozenset[str] = frozenset()
    placed: frozenset[str] = frozenset()
    disturbed: frozenset[str] = frozenset()

    @property
    def score(self) -> int:
        """Return the points so far."""
        return len(self.picked) + len(self.placed) - len(self.disturbed)


def tidy(
    tally: CleaningProgress,
    homes: Mapping[str, str],
    misplaced: Iterable[str],
    added: Iterable[Triple],
    removed: Iterable[Triple],
) -> CleaningProgress:
    """Update the progress by the facts that a command added and removed.

    ``homes`` maps a thing to a room of :data:`HOUSE` or a piece of furniture.
    """
    away, picked, placed, disturbed = tally
    for thing, place in _locations(removed, homes):
        if _is_home(place, homes[thing]):
            disturbed |= {thing}
            away |= {thing}
    for thing, place in _locations(added, homes):
        if place == INVENTORY:
            picked |= {thing} & frozenset(misplaced)
        elif _is_home(place, homes[thing]):
            placed |= {thing} & frozenset(misplaced)
            away -= {thing}
    return CleaningProgress(away, picked, placed, disturbed)


def _locations(facts: Iterable[Triple], homes: Mapping[str, str]) -> list[tuple[str, str]]:
    return [
        (thing, place)
        for thing, relation, place in facts
        if thing in homes and relation in ("is in", "is on")
    ]


class Cleaning(TextWorldFamily):
    """A house to tidy, by finding misplaced things and putting them where they belong.

    Points, each at most once per thing; the best score is twice the number of misplaced things:

    * +1 for picking up a misplaced thing,
    * +1 for putting it down in its room, on or in furniture or on the floor,
    * -1 for taking a thing from where it belongs.

    The game is won when everything is in its room, including things that the player moved.

    The level ``standard`` is the paper's: 9 rooms in 3 x 3, 57 things, 11 of them misplaced. In the
    levels ``voices-room`` and ``voices-house`` things belong in and on furniture, and names,
    wordings and goals differ between train, valid and test.
    """

    family = "cleaning"
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "standard": {"box": [3, 3], "things": 57, "misplaced": 11},
        "voices-room": {
            "voice": 2, "rooms": [1, 1], "things": [3, 8], "misplaced": [1, 3], "steps": 50,
        },
        "voices-house": {
            "voice": 2, "rooms": [2, 9], "things": [6, 18], "misplaced": [3, 8], "steps": 100,
        },
    }  # fmt: skip

    @classmethod
    def make_game(cls, settings: Mapping[str, Any], split: str, seed: int) -> Game:
        """Generate the game of a seed."""
        if "voice" in settings:
            return make_voiced_house(settings, split, seed)
        house, rng = plan_house(settings, seed)
        maker = worldgen.new_maker(rng)
        rooms = worldgen.add_rooms(maker, rng, house.grid, house.rooms)
        holders = {}
        for cell, name in house.rooms.items():
            holders[name] = rooms[cell]
            for kind, pieces in (("s", HOUSE[name].surfaces), ("c", HOUSE[name].boxes)):
                for piece in pieces:
                    holders[piece] = worldgen.new_holder(maker, rng, kind, piece)
                    rooms[cell].add(holders[piece])
            for piece in HOUSE[name].boxes:
                holders[piece].add_property("closed")
        for thing in sorted(house.places):
            text = f"The {thing} is {rng.choice(_CONDITIONS)}."
            holders[house.places[thing]].add(maker.new("o", thing, text))
        maker.set_player(rooms[house.start])
        return worldgen.finish_game(
            maker,
            objective=(
                f"Tidy up the house! In its {len(rooms)} rooms, {len(house.misplaced)} things are "
                "out of place. Find them, pick them up and put each into the room where it "
                "belongs. Leave alone what is already in its room."
            ),
            walkthrough=house.walkthrough(),
            max_score=2 * len(house.misplaced),
            homes=house.homes,
            misplaced=list(house.misplaced),
        )

    def rescore(
        self, feedback: Feedback, added: frozenset[Triple], removed: frozenset[Triple]
    ) -> Feedback:
        """Score by :func:`tidy`; the game is won when everything is in its room."""
        misplaced = frozenset(self.game.metadata["misplaced"])
        before = CleaningProgress(away=misplaced) if self.tally is None else self.tally
        self.tally = tidy(before, self.game.metadata["homes"], misplaced, added, removed)
        return feedback._replace(score=float(self.tally.score), won=not self.tally.away)

    def oracle(self) -> Oracle:
        """Add ``homes`` (thing to place), ``misplaced`` (at the start) and ``praised``.

        ``praised`` has the facts in ``objects`` about where each thing belongs: putting a misplaced
        thing there earns a point, taking another from there costs one.
        """
        oracle = super().oracle()
        extra = {key: self.game.metadata[key] for key in ("homes", "misplaced")}
        types = oracle.objects["types"]
        extra["praised"] = tuple(
            Triple(thing, "belongs on" if types.get(home) == "s" else "belongs in", home)
            for thing, place in extra["homes"].items()
            for home in [place.lower()]
        )
        return oracle._replace(objects={**oracle.objects, **extra})
