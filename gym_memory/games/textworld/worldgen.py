"""Parts of the TextWorld generators here: seeded grids of rooms and a game maker.

All randomness comes from a generator seeded with a name and a number; global random state is
unused.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from gym_memory.core.optional import require
from gym_memory.graph.map import distances

if TYPE_CHECKING:
    from textworld import GameMaker
    from textworld.generator.game import Game, Quest

__all__ = ["FURNITURE", "THINGS", "WORDS", "Cell", "Grid", "add_rooms"]
__all__ += ["finish_game", "held", "make_grid", "new_holder", "new_maker", "route"]

Cell = tuple[int, int]
"""(column, row); rows grow southwards."""

WORDS = tomllib.loads((files(__package__) / "words.toml").read_text("utf-8"))
"""Words of the generated games, by game."""
THINGS = tuple(WORDS["things"])
"""Things to carry, one word each."""
FURNITURE = tuple(WORDS["furniture"])
"""Furniture to put things on."""
_ROOM_ADJECTIVES = ("bright", "calm", "cold", "dim", "plain", "quiet", "simple", "still", "warm")
_HOLDER_ADJECTIVES = ("heavy", "large", "massive", "modest", "plain", "simple", "small", "sturdy")
_STEPS: dict[str, Cell] = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}


class Grid(dict[Cell, dict[str, Cell]]):
    """A grid of rooms: exits (direction to neighbouring cell) by cell, in both directions."""

    def distances(self, start: Cell) -> dict[Cell, int]:
        """Return the number of moves from ``start`` to every cell, in breadth-first order."""
        return distances(start, self.__getitem__)


def make_grid(rng: random.Random, rooms: int, box: Sequence[int], openness: float) -> Grid:
    """Draw a connected map that grows from one cell, with each room joined to a neighbour.

    ``box`` has columns and rows; ``openness`` is the probability that other neighbours are joined.
    """
    width, height = box
    first = (rng.randrange(width), rng.randrange(height))
    grid = Grid({first: {}})
    while len(grid) < rooms:
        edge = [
            (cell, direction, beyond)
            for cell in grid
            for direction, beyond in _around(cell)
            if beyond not in grid and 0 <= beyond[0] < width and 0 <= beyond[1] < height
        ]
        cell, direction, beyond = rng.choice(edge)
        grid[beyond] = {}
        _join(grid, cell, direction, beyond)
    for cell in sorted(grid):
        for direction, beyond in _around(cell):
            new = direction in ("south", "east") and beyond in grid
            if new and direction not in grid[cell] and rng.random() < openness:
                _join(grid, cell, direction, beyond)
    return grid


def _around(cell: Cell) -> list[tuple[str, Cell]]:
    return [(d, (cell[0] + dx, cell[1] + dy)) for d, (dx, dy) in _STEPS.items()]


def _join(grid: Grid, cell: Cell, direction: str, beyond: Cell) -> None:
    grid[cell][direction] = beyond
    back = next(d for d, there in _around(beyond) if there == cell)
    grid[beyond][back] = cell


def route(grid: Grid, start: Cell, goal: Cell) -> list[str]:
    """Return the commands of a shortest way, e.g. ``["go north", "go east"]``."""
    to_goal = grid.distances(goal)
    commands = []
    here = start
    while here != goal:
        direction, here = next(
            (d, there) for d, there in grid[here].items() if to_goal[there] == to_goal[here] - 1
        )
        commands.append(f"go {direction}")
    return commands


def new_maker(rng: random.Random) -> GameMaker:
    """Build a TextWorld ``GameMaker`` whose wording is drawn from ``rng``."""
    textworld = require("textworld", "textworld")
    data = require("textworld.generator.data", "textworld")
    options = textworld.GameOptions()
    options.kb = data.KnowledgeBase.default()
    options.seeds = {key: rng.randrange(2**31) for key in ("map", "objects", "quest", "grammar")}
    return textworld.GameMaker(options)


def add_rooms(
    maker: GameMaker, rng: random.Random, grid: Grid, names: Mapping[Cell, str]
) -> dict[Cell, Any]:
    """Create the rooms of a grid and their connections, without doors."""
    rooms = {cell: maker.new_room(names[cell]) for cell in sorted(grid)}
    for cell, room in rooms.items():
        _characterize(room, rng.choice(_ROOM_ADJECTIVES))
        for direction in ("south", "east"):
            if direction in grid[cell]:
                opposite = {"south": "north", "east": "west"}[direction]
                beyond = rooms[grid[cell][direction]]
                maker.connect(room.exits[direction], beyond.exits[opposite])
    return rooms


def new_holder(maker: GameMaker, rng: random.Random, kind: str, name: str) -> Any:
    """Create a container (kind ``c``) or a supporter (``s``)."""
    holder = maker.new(kind, name)
    _characterize(holder, rng.choice(_HOLDER_ADJECTIVES))
    return holder


def _characterize(entity: Any, adjective: str) -> None:
    """Set the adjective that the grammar may use; the name stays without it.

    By default, the grammar draws one and writes "an usual kind of place".
    """
    entity.infos.noun, entity.infos.adj = entity.name, adjective


def held(maker: GameMaker, thing: Any, points: int) -> Quest:
    """Build a quest to have a thing in the inventory."""
    game = require("textworld.generator.game", "textworld")
    event = game.Event(conditions=[maker.new_fact("in", thing, maker.inventory)])
    return game.Quest(win_events=[event], reward=points)


def finish_game(
    maker: GameMaker,
    *,
    objective: str,
    walkthrough: Sequence[str],
    quests: Iterable[Quest] = (),
    **metadata: Any,
) -> Game:
    """Build the game, with texts from TextWorld's grammar.

    The engine scores ``quests``; ``metadata`` is for scoring and never in a text.
    """
    maker.quests = list(quests)
    game = maker.build(validate=False)  # tests check it; in 64 rooms it would take most of the time
    game.objective = objective
    game.metadata.update(metadata, walkthrough=list(walkthrough))
    # TextWorld orders these by a set, whose order differs between processes
    names = game.grammar.options.names_to_exclude
    names[:] = sorted(name for name in names if name)
    return game
