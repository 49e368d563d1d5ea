"""Treasure Hunt: a chain of keys, lockers and notes that ends at the golden locker.

This is AriGraph's game (appendix "Text-based Games") from a new seeded generator. Each room has a
locked locker of its own colour; the start room has the first key and a note. Each locker contains
the next key and note. A key scores 1 point, the treasure 3: the best scores are 7, 8 and 10.
"""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from gym_memory.core.records import Oracle
from gym_memory.games.textworld import worldgen
from gym_memory.games.textworld.env import TextWorldFamily
from gym_memory.games.textworld.voices.hunts import make_voiced_hunt
from gym_memory.games.textworld.worldgen import Cell, Grid

if TYPE_CHECKING:
    from textworld.generator.game import Game

__all__ = ["Hunt", "KeyAndLocker", "TreasureHunt", "plan_hunt"]

KEY_POINTS = 1
TREASURE_POINTS = 3

_LETTERS = (*"ABCDEFGHIJKLMNOPQRSTUVWXYZ", *(f"{letter}2" for letter in "ABCDEFGHIJ"))
_WORDS = worldgen.WORDS["treasure_hunt"]
_OPEN_NOTES = (
    "The {key} opens the {locker}. It stands in {room}.",
    "The {locker} in {room} opens with the {key}.",
    "Take the {key} to {room}. It opens the {locker} there.",
    "Go to {room} and unlock the {locker} with the {key}.",
)
_HIDDEN_NOTES = (
    "The {key} opens the {locker}. Nobody remembers in which room it stands.",
    "The {locker} opens with the {key}, but you must find the room yourself.",
    "Unlock the {locker} with the {key}. Search all the rooms, for it stands far from here.",
)


@dataclasses.dataclass(frozen=True)
class KeyAndLocker:
    """A key, the note beside it, and the key's locker."""

    key: str
    note: str
    text: str
    locker: str
    cell: Cell


@dataclasses.dataclass(frozen=True)
class Hunt:
    """A drawn game before TextWorld builds it.

    The key and the note of link ``i + 1`` are in the locker of link ``i``. ``start`` has the
    player, the first key and the golden locker; ``floor`` and ``furniture`` have things without
    use.
    """

    grid: Grid
    rooms: dict[Cell, str]
    lockers: dict[Cell, str]
    start: Cell
    links: tuple[KeyAndLocker, ...]
    floor: dict[Cell, list[str]]
    furniture: dict[Cell, tuple[str, list[str]]]

    def walkthrough(self) -> list[str]:
        """Return the shortest solution, which reads no note."""
        commands = [f"take {self.links[0].key}"]
        here = self.start
        for link, following in zip(self.links, (*self.links[1:], None), strict=True):
            prize = following.key if following else "treasure"
            commands += worldgen.route(self.grid, here, link.cell)
            commands.append(f"unlock {link.locker} with {link.key}")
            commands.append(f"open {link.locker}")
            commands.append(f"take {prize} from {link.locker}")
            here = link.cell
        return commands


def plan_hunt(settings: Mapping[str, Any], seed: int) -> tuple[Hunt, random.Random]:
    """Draw a game; return it with the random generator for TextWorld's wording."""
    rng = random.Random(f"treasure_hunt/{seed}")
    count, hidden = settings["rooms"], settings["hidden"]
    grid = worldgen.make_grid(rng, count, settings["box"], settings["openness"])
    cells = sorted(grid)
    letters = rng.sample(_LETTERS[:count], count)
    rooms = {cell: f"Room {letter}" for cell, letter in zip(cells, letters, strict=True)}
    colours = rng.sample(_WORDS["colours"], count)
    lockers = {cell: f"{colour} locker" for cell, colour in zip(cells, colours, strict=True)}
    start = rng.choice(cells)
    lockers[start] = "golden locker"
    targets = _choose_targets(rng, grid, start, settings["keys"] - 1, hidden)
    metals = [*rng.sample(_WORDS["metals"], settings["keys"] - 1), "golden"]
    papers = rng.sample(_WORDS["papers"], settings["keys"])
    links = []
    for i, cell in enumerate([*targets, start]):
        key = f"{metals[i]} key"
        wording = rng.choice(_HIDDEN_NOTES if hidden and i == 0 else _OPEN_NOTES)
        text = wording.format(key=key, locker=lockers[cell], room=rooms[cell])
        links.append(KeyAndLocker(key, f"{papers[i]} note", text, lockers[cell], cell))
    floor, furniture = _scatter(rng, cells, *settings["distractors"])
    return Hunt(grid, rooms, lockers, start, tuple(links), floor, furniture), rng


def _choose_targets(
    rng: random.Random, grid: Grid, start: Cell, count: int, hidden: bool
) -> list[Cell]:
    near_to_far = list(grid.distances(start))[1:]
    if not hidden:
        return rng.sample(near_to_far, count)
    first = rng.choice(near_to_far[-(len(grid) // 3) :])
    near_to_far.remove(first)
    return [first, *rng.sample(near_to_far, count - 1)]


def _scatter(
    rng: random.Random, cells: list[Cell], fewest: int, most: int
) -> tuple[dict[Cell, list[str]], dict[Cell, tuple[str, list[str]]]]:
    floor: dict[Cell, list[str]] = {}
    furniture: dict[Cell, tuple[str, list[str]]] = {}
    if most:
        things = iter(rng.sample(worldgen.THINGS, len(worldgen.THINGS)))
        pieces = iter(rng.sample(worldgen.FURNITURE, len(worldgen.FURNITURE)))
        furnished = rng.sample(cells, len(cells) // 3)
        for cell in cells:
            found = [next(things) for _ in range(rng.randint(fewest, most))]
            if cell in furnished:
                furniture[cell] = (next(pieces), found)
            else:
                floor[cell] = found
    return floor, furniture


class TreasureHunt(TextWorldFamily):
    """A treasure hunt along keys and notes to a golden locker.

    Settings of a level:

    * ``rooms``: rooms, each with a locker; ``keys``: number of keys in the chain.
    * ``box``: columns and rows of the map; ``openness``: probability of further connections between
      neighbouring rooms.
    * ``hidden``: whether the second key is harder to find: its locker is in the most distant third
      of the rooms, and the note does not name its room.
    * ``distractors``: things without use in each room, as (fewest, most).

    Names, wordings and goals of the levels ``voices-*`` differ between train, valid and test.
    Increment their ``voice`` and list the games again whenever forms or words change.

    A planner with perfect memory won each of 1,000 games of each level within the 150 steps. Its
    median is 37, 53 and 107 moves, its maximum 53, 73 and 141; the median walkthrough has 25, 34
    and 54.
    """

    family = "treasure_hunt"
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "easy": {
            "rooms": 12, "keys": 4, "box": [4, 4], "openness": 0.3, "hidden": False,
            "distractors": [0, 0],
        },
        "hard": {
            "rooms": 16, "keys": 5, "box": [5, 4], "openness": 0.3, "hidden": True,
            "distractors": [0, 0],
        },
        "hardest": {
            "rooms": 36, "keys": 7, "box": [7, 6], "openness": 0.5, "hidden": False,
            "distractors": [1, 2],
        },
        "voices-easy": {
            "voice": 2, "rooms": [1, 8], "keys": [2, 3], "decoys": [0, 2], "hidden": 0.1,
            "apart": 0.2, "steps": 100,
        },
        "voices-hard": {
            "voice": 2, "rooms": [9, 40], "keys": [4, 6], "decoys": [0, 6], "hidden": 0.15,
            "apart": 0.35, "steps": 200,
        },
    }  # fmt: skip

    @classmethod
    def make_game(cls, settings: Mapping[str, Any], split: str, seed: int) -> Game:
        """Generate the game of a level and a seed."""
        if "voice" in settings:
            return make_voiced_hunt(settings, split, seed)
        hunt, rng = plan_hunt(settings, seed)
        maker = worldgen.new_maker(rng)
        rooms = worldgen.add_rooms(maker, rng, hunt.grid, hunt.rooms)
        lockers = {}
        for cell, room in rooms.items():
            lockers[cell] = worldgen.new_holder(maker, rng, "c", hunt.lockers[cell])
            lockers[cell].add_property("locked")
            room.add(lockers[cell])
            if cell in hunt.furniture:
                piece, things = hunt.furniture[cell]
                stand = worldgen.new_holder(maker, rng, "s", piece)
                stand.add(*(maker.new("o", thing) for thing in things))
                room.add(stand)
            room.add(*(maker.new("o", thing) for thing in hunt.floor.get(cell, ())))
        maker.set_player(rooms[hunt.start])
        quests = []
        place = rooms[hunt.start]
        for link in hunt.links:
            key = maker.new("k", link.key)
            maker.add_fact("match", key, lockers[link.cell])
            place.add(key, maker.new("o", link.note, link.text))
            quests.append(worldgen.held(maker, key, KEY_POINTS))
            place = lockers[link.cell]
        treasure = maker.new("o", "treasure")
        place.add(treasure)
        quests.append(worldgen.held(maker, treasure, TREASURE_POINTS))
        first = hunt.links[0]
        game = worldgen.finish_game(
            maker,
            objective=(
                "Find the treasure! It lies in the golden locker, and only the golden key opens "
                "that locker. All lockers are locked, and each has a key of its own. Start with "
                f"the {first.key} and the {first.note} in {hunt.rooms[hunt.start]}: every note "
                "tells which locker to open next. You win when you take the treasure."
            ),
            walkthrough=hunt.walkthrough(),
            quests=quests,
            chain=[[hunt.rooms[link.cell], link.locker, link.key] for link in hunt.links],
        )
        for room in game.world.rooms:  # a proper name has no article
            text = game.infos[room.id]
            text.desc = re.sub(r"\b(?:[Aa]n?|[Tt]he) (?=Room [A-Z])", "", text.desc)
        return game

    def oracle(self) -> Oracle:
        """Add ``chain`` to ``objects``: (room, locker, key), the golden locker last."""
        oracle = super().oracle()
        return oracle._replace(objects={**oracle.objects, "chain": self.game.metadata["chain"]})
