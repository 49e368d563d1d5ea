"""Cleaning with voices: rooms and houses in which things belong in and on furniture.

Homes are common sense, from the word files. A thing may be misplaced within its own room, in a
closed container, or on the floor. The goal may state the number of misplaced things, and a note may
name some homes.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gym_memory.games.textworld import worldgen
from gym_memory.games.textworld.voices import (
    Holder,
    Name,
    Voice,
    add_holders,
    add_things,
    things_of,
)
from gym_memory.games.textworld.worldgen import Cell, Grid

if TYPE_CHECKING:
    from textworld.generator.game import Game

__all__ = ["VoicedHouse", "make_voiced_house", "plan_voiced_house"]


@dataclasses.dataclass(frozen=True)
class VoicedHouse:
    """A drawn game before TextWorld builds it.

    ``places`` has furniture, or a cell for the floor; ``notes`` has name, text and cell of a note.
    """

    grid: Grid
    rooms: dict[Cell, Name]
    start: Cell
    homes: dict[Name, Holder]
    places: dict[Name, Holder | Cell]
    misplaced: tuple[Name, ...]
    notes: tuple[tuple[Name, str, Cell], ...]
    goal: str

    def walkthrough(self) -> list[str]:
        """Return commands that bring home the nearest thing first, and read notes on the way."""
        commands: list[str] = []
        opened: set[Holder] = set()
        unread = [(cell, name.name) for name, _, cell in self.notes]
        here, left = self.start, list(self.misplaced)

        def go(cell: Cell) -> None:
            nonlocal here
            commands.extend(worldgen.route(self.grid, here, cell))
            here = cell
            for note in [note for note in unread if note[0] == here]:
                unread.remove(note)
                commands.append(f"examine {note[1]}")

        def open_up(piece: Holder) -> None:
            if piece.shut and piece not in opened:
                opened.add(piece)
                commands.append(f"open {piece.name.name}")

        while left:
            far = self.grid.distances(here)
            thing = min(left, key=lambda t: far[_cell(self.places[t])])
            left.remove(thing)
            place, home = self.places[thing], self.homes[thing]
            go(_cell(place))
            if isinstance(place, Holder):
                open_up(place)
                commands.append(f"take {thing.name} from {place.name.name}")
            else:
                commands.append(f"take {thing.name}")
            go(home.cell)
            open_up(home)
            how = ("insert", "into") if home.kind == "c" else ("put", "on")
            commands.append(f"{how[0]} {thing.name} {how[1]} {home.name.name}")
        return commands


def _cell(place: Holder | Cell) -> Cell:
    return place.cell if isinstance(place, Holder) else place


def plan_voiced_house(
    settings: Mapping[str, Any], split: str, seed: int
) -> tuple[VoicedHouse, random.Random]:
    """Draw a game; return it with the random generator for TextWorld's wording.

    ``rooms``, ``things`` and ``misplaced`` of the settings are (fewest, most).
    """
    rng = random.Random(f"voices/house/{split}/{seed}")
    voice = Voice(split, rng)
    kinds = list(voice.data["rooms"])
    rng.shuffle(kinds)
    fewest, most = settings["rooms"]
    kinds = kinds[: rng.randint(fewest, min(most, len(kinds)))]
    side = math.isqrt(len(kinds)) + 1
    grid = worldgen.make_grid(rng, len(kinds), (side, side), rng.choice((0.2, 0.6)))
    cells = dict(zip(kinds, sorted(grid), strict=True))
    rooms = {cell: _named(rng.choice(voice.data["rooms"][kind])) for kind, cell in cells.items()}
    for name in rooms.values():
        voice.take(name.name)
    groups = voice.data["homes"]
    if len(kinds) == 1:  # a single room may have any furniture
        groups = rng.sample(groups, rng.randint(3, 5))
        cells = {group["room"]: next(iter(rooms)) for group in groups}
    homes: dict[Name, Holder] = {}
    spare: list[Name] = []
    for group in groups:
        piece_name = _named(rng.choice(group["names"]))
        if group["room"] not in cells or not voice.take(piece_name.name):
            continue
        shut = group["kind"] == "c" and rng.random() < 0.6
        piece = Holder(piece_name, group["kind"], cells[group["room"]], shut)
        own = things_of(group["one"], group["some"], group["pair"])
        own = [thing for thing in own if voice.take(thing.name)]
        rng.shuffle(own)
        homes.update(dict.fromkeys(own, piece))
        spare += own
    rng.shuffle(spare)
    misplaced = sorted(spare[: rng.randint(*settings["misplaced"])])
    kept = spare[len(misplaced) :][: rng.randint(*settings["things"])]
    pieces = sorted(set(homes.values()), key=lambda piece: piece.name)
    places: dict[Name, Holder | Cell] = {thing: homes[thing] for thing in kept}
    for thing in misplaced:
        wrong: list[Holder | Cell] = [piece for piece in pieces if piece != homes[thing]]
        places[thing] = rng.choice([*wrong, rng.choice(sorted(grid))])
    notes = _notes(rng, voice, rooms, places, misplaced) if rng.random() < 0.4 else ()
    wording = rng.choice(("counted", "counted", "uncounted", "uncounted", "none"))
    goal = voice.say(voice.data["forms"]["tidy goal"][wording], n=len(misplaced))
    homes = {thing: homes[thing] for thing in (*kept, *misplaced)}
    start = rng.choice(sorted(grid))
    house = VoicedHouse(grid, rooms, start, homes, places, tuple(misplaced), notes, goal)
    return house, rng


def _named(name: str) -> Name:
    return Name(name, proper=name[-1].isdigit())


def _notes(
    rng: random.Random,
    voice: Voice,
    rooms: dict[Cell, Name],
    places: dict[Name, Holder | Cell],
    misplaced: list[Name],
) -> tuple[tuple[Name, str, Cell], ...]:
    sentences = []
    for thing in misplaced:
        place = places[thing]
        others = [name for name in rooms.values() if name != rooms[_cell(place)]]
        other: dict[str, Any] = {"other": rng.choice(others)} if others else {}
        if thing.indefinite or rng.random() < 0.5:
            continue
        if isinstance(place, Holder):
            sentences.append(voice.say("holder", x=thing, y=place.name, prep=place.prep))
        else:
            sentences.append(voice.say("room", x=thing, room=rooms[place], **other))
    if not sentences:
        return ()
    return ((voice.name("note"), " ".join(sentences), rng.choice(sorted(rooms))),)


def make_voiced_house(settings: Mapping[str, Any], split: str, seed: int) -> Game:
    """Generate the game of a seed; see :func:`plan_voiced_house`."""
    house, rng = plan_voiced_house(settings, split, seed)
    maker = worldgen.new_maker(rng)
    names = {cell: name.name for cell, name in house.rooms.items()}
    places: dict[Any, Any] = dict(worldgen.add_rooms(maker, rng, house.grid, names))
    pieces = {*house.homes.values(), *(p for p in house.places.values() if isinstance(p, Holder))}
    add_holders(maker, rng, places, sorted(pieces, key=lambda piece: piece.name))
    add_things(maker, places, sorted(house.places.items(), key=lambda item: item[0]))
    for name, text, cell in house.notes:
        places[cell].add(maker.new("o", name.name, text))
    maker.set_player(places[house.start])
    return worldgen.finish_game(
        maker,
        objective=house.goal,
        walkthrough=house.walkthrough(),
        max_score=2 * len(house.misplaced),
        homes={t.name.lower(): piece.name.name.lower() for t, piece in house.homes.items()},
        misplaced=[thing.name.lower() for thing in house.misplaced],
    )
