"""The meaning of each glyph of the map, by the glyph's number."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from gym_memory.core.optional import require

__all__ = [
    "CLOSED_DOOR", "CORRIDOR", "DOORWAY", "EFFECT", "FEATURE", "FLOOR", "HOSTILE", "NOTHING",
    "OBJECT", "OPEN_DOOR", "PET", "SHAPE", "TRAP", "UNDER", "UNKNOWN", "WALL", "WATER", "Glyph",
    "Glyphs", "glyph_tables", "nle",
]  # fmt: skip

SHAPE = (21, 79)
"""Rows and columns of the map."""

UNKNOWN, WALL, FLOOR, CORRIDOR, DOORWAY, OPEN_DOOR, CLOSED_DOOR, WATER, UNDER = range(9)
"""Kinds of terrain. ``UNDER``: something that can be walked on, hidden by what stands on it."""

NOTHING, TERRAIN, FEATURE, TRAP, OBJECT, HOSTILE, PET, EFFECT = range(8)
"""What a glyph shows. ``HOSTILE``: any creature that is no pet."""

_SILENT = -1  # the glyph says nothing about the terrain


class Glyph(NamedTuple):
    """Hold the meaning of a glyph.

    ``terrain`` is -1 where the glyph hides it; what ``hides`` can be walked under, what ``stays``
    does not move, what ``blocks`` cannot be walked over.
    """

    terrain: int
    kind: int
    alive: bool
    hides: bool
    stays: bool
    blocks: bool


class Glyphs(NamedTuple):
    """Hold all glyphs by number, and the number of a boulder."""

    shown: tuple[Glyph, ...]
    boulder: int


def nle() -> Any:
    """Return NLE's module of constants."""
    return require("nle.nethack", "nethack", "NetHack")


@functools.cache
def glyph_tables() -> Glyphs:
    """Build the table from NLE's numbering, once."""
    game = nle()
    size = game.MAX_GLYPH + 1
    terrain = np.full(size, _SILENT, np.int8)
    kind = np.full(size, EFFECT, np.int8)
    cmap = game.GLYPH_CMAP_OFF
    for numbers, here, shows in (
        ((0,), _SILENT, NOTHING),
        (range(1, 12), WALL, TERRAIN),
        ((12,), DOORWAY, TERRAIN),
        ((13, 14), OPEN_DOOR, TERRAIN),
        ((15, 16), CLOSED_DOOR, TERRAIN),
        ((17, 18, 37, 38), WALL, TERRAIN),  # iron bars, a tree, raised drawbridges
        ((19, 20, 33, 35, 36, 39, 40), FLOOR, TERRAIN),  # ice, lowered drawbridges, air too
        ((21, 22), CORRIDOR, TERRAIN),
        (range(23, 32), FLOOR, FEATURE),
        ((32, 34, 41), WATER, TERRAIN),
        (range(42, 65), _SILENT, TRAP),
    ):
        glyphs = cmap + np.asarray(numbers)
        terrain[glyphs], kind[glyphs] = here, shows
    kind[: game.GLYPH_BODY_OFF] = HOSTILE  # normal, pets, unseen, detected
    kind[game.GLYPH_PET_OFF : game.GLYPH_INVIS_OFF] = PET
    kind[game.GLYPH_RIDDEN_OFF : game.GLYPH_OBJ_OFF] = PET
    kind[game.GLYPH_BODY_OFF : game.GLYPH_RIDDEN_OFF] = OBJECT
    kind[game.GLYPH_OBJ_OFF : game.GLYPH_CMAP_OFF] = OBJECT
    kind[game.GLYPH_WARNING_OFF : game.GLYPH_STATUE_OFF] = HOSTILE
    kind[game.GLYPH_STATUE_OFF :] = OBJECT
    kind[game.NO_GLYPH :] = EFFECT
    blocks = np.zeros(size, np.bool_)
    boulder = next(
        game.GLYPH_OBJ_OFF + number
        for number in range(game.NUM_OBJECTS)
        if game.OBJ_NAME(game.objclass(number)) == "boulder"
    )
    blocks[boulder] = True
    blocks[game.GLYPH_STATUE_OFF : game.NO_GLYPH] = True
    alive = (kind == HOSTILE) | (kind == PET)
    stays = (kind == FEATURE) | (kind == TRAP) | (kind == OBJECT)
    hides = (alive | stays) & (terrain < 0)
    columns = (terrain, kind, alive, hides, stays, blocks)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return Glyphs(tuple(map(Glyph._make, rows)), boulder)
