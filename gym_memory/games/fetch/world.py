"""Build the houses of Fetch: rooms on a grid, furniture, things, and what is wanted of them."""

from __future__ import annotations

import random
from typing import NamedTuple

__all__ = ["OPPOSITE", "House", "build"]

OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}
_MOVES = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}
_ROOMS = (
    *("attic", "bathroom", "bedroom", "cellar", "corridor", "garage", "garden", "kitchen"),
    *("laundry", "library", "lounge", "nursery", "office", "pantry", "parlor", "porch"),
    *("sauna", "studio", "study", "workshop"),
)
_FURNITURE = (
    *("bench", "bookcase", "chair", "chest", "counter", "couch", "crate", "desk", "dresser"),
    *("nightstand", "pedestal", "rack", "shelf", "sideboard", "stand", "stool", "table"),
    *("tray", "trunk", "workbench"),
)
_THINGS = (
    *("bell", "book", "bottle", "bowl", "broom", "brush", "bucket", "candle", "clock", "coin"),
    *("comb", "compass", "cup", "fork", "hammer", "hat", "kettle", "lamp", "letter", "mirror"),
    *("mug", "needle", "pen", "pillow", "plate", "ring", "rope", "saw", "scarf", "spoon"),
    *("towel", "umbrella", "vase", "whistle"),
)


class House(NamedTuple):
    """A house before the game.

    ``exits`` maps a room to directions and rooms; ``furniture`` a piece to its room; ``things`` a
    thing to its piece; ``requests`` are pairs (thing, piece).
    """

    start: str
    exits: dict[str, dict[str, str]]
    furniture: dict[str, str]
    things: dict[str, str]
    requests: tuple[tuple[str, str], ...]


def build(seed: str, rooms: int, requests: int) -> House:
    """Build the house of a seed: a tree of ``rooms`` in [2, 20]."""
    rng = random.Random(seed)
    names = rng.sample(_ROOMS, rooms)
    spots = {(0, 0): names[0]}
    exits: dict[str, dict[str, str]] = {names[0]: {}}
    for name in names[1:]:
        free = [
            (spot, way)
            for spot in spots
            for way, (x, y) in _MOVES.items()
            if (spot[0] + x, spot[1] + y) not in spots
        ]
        spot, way = rng.choice(free)
        spots[spot[0] + _MOVES[way][0], spot[1] + _MOVES[way][1]] = name
        exits[spots[spot]][way] = name
        exits[name] = {OPPOSITE[way]: spots[spot]}
    furniture = dict(zip(rng.sample(_FURNITURE, rooms), names, strict=True))
    pieces = list(furniture)
    things = {thing: rng.choice(pieces[1:]) for thing in rng.sample(_THINGS, rooms + 4)}
    wanted = rng.sample(list(things), requests)
    return House(names[0], exits, furniture, things, tuple((t, pieces[0]) for t in wanted))
