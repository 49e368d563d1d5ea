"""The tracker's map: neighbours, flood fill and paths, areas that grow, merge and keep numbers."""

from __future__ import annotations

import itertools
from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("nle", reason="NLE is not installed")

from gym_memory.games.nethack.engine import Screen
from gym_memory.games.nethack.grid import (
    CELLS,
    CLOSED_DOOR,
    COLUMNS,
    CORRIDOR,
    DIRECTIONS,
    DOORWAY,
    FLOOR,
    HOSTILE,
    OBJECT,
    OPEN_DOOR,
    PET,
    UNDER,
    UNKNOWN,
    UNREACHED,
    WALL,
    AreaMap,
    Ways,
    dilated,
    direction_to,
    distance,
    glyph_tables,
    label_patches,
    neighbours,
    nle,
    offset_words,
)
from gym_memory.games.nethack.level import Level
from gym_memory.games.nethack.tracker import listing

CMAP = nle().GLYPH_CMAP_OFF
SIGNS = {
    " ": 0, "|": 1, "-": 2, "+": 12, "O": 13, "D": 15, ".": 19, "#": 21, "<": 23, ">": 24, "{": 31,
}  # fmt: skip
WORDS = {
    "+": "doorway", "O": "open door", "D": "closed door", "<": "staircase up",
    ">": "staircase down", "{": "fountain",
}  # fmt: skip


def screen(drawing: str, at: tuple[int, int]) -> Screen:
    """Return a screen with a drawing in its upper left corner; ``k`` is a kobold, ``)`` a thing."""
    glyphs = np.full(CELLS, CMAP, np.int16)
    words = np.zeros((CELLS, 80), np.uint8)
    for row, line in enumerate(drawing.strip("\n").split("\n")):
        for column, sign in enumerate(line):
            cell = row * COLUMNS + column
            said = WORDS.get(sign, "")
            if sign == "k":
                glyphs[cell], said = 0, "kobold"
            elif sign == "f":
                glyphs[cell], said = nle().GLYPH_PET_OFF, "tame kitten"
            elif sign == ")":
                glyphs[cell], said = nle().GLYPH_OBJ_OFF + 10, "a dagger"
            else:
                glyphs[cell] = CMAP + SIGNS[sign]
            words[cell, : len(said)] = list(said.encode())
    status = [0] * 27
    status[1], status[0], status[20] = *at, 1
    return Screen(glyphs, words, tuple(status), "", (), None, False)


masks = st.lists(st.booleans(), min_size=CELLS, max_size=CELLS).map(np.array)


def test_glyphs_are_classified():
    (table, boulder), game = glyph_tables(), nle()
    shown = {
        0: UNKNOWN, 1: WALL, 12: DOORWAY, 14: OPEN_DOOR, 16: CLOSED_DOOR, 19: FLOOR,
        22: CORRIDOR, 27: FLOOR,
    }  # fmt: skip
    for glyph, terrain in shown.items():
        assert max(table[CMAP + glyph].terrain, 0) == terrain
    for number in range(0, game.NUMMONS, 37):
        assert table[number].kind == HOSTILE
        assert table[game.GLYPH_PET_OFF + number].kind == PET
        assert table[game.GLYPH_BODY_OFF + number].kind == OBJECT
        assert game.glyph_is_monster(number)
        assert game.glyph_is_pet(game.GLYPH_PET_OFF + number)
        assert game.glyph_is_body(game.GLYPH_BODY_OFF + number)
    assert table[boulder].blocks
    assert game.glyph_is_object(boulder)


def test_offsets_and_directions_in_words():
    assert offset_words(0, 0) == "here"
    assert offset_words(2, -1) == "1 west, 2 south"
    for word, (down, right) in DIRECTIONS.items():
        other = 500 + down * COLUMNS + right
        assert direction_to(500, other) == word
        assert distance(500, other) == 1
    assert direction_to(500, 502) == ""


@pytest.mark.slow
@settings(max_examples=15)
@given(masks)
def test_dilation_is_that_of_every_neighbour(mask):
    grown = dilated(mask)
    for cell in range(0, CELLS, 7):
        near = mask.reshape(21, 79)[
            max(cell // 79 - 1, 0) : cell // 79 + 2, max(cell % 79 - 1, 0) : cell % 79 + 2
        ]
        assert grown[cell] == near.any()


def brute(passable, doors, start):
    """Search breadth first, cell by cell."""
    steps = {start: 0}
    queue = deque([start])
    while queue:
        cell = queue.popleft()
        for down, right in DIRECTIONS.values():
            row, column = cell // 79 + down, cell % 79 + right
            other = row * 79 + column
            if not (0 <= row < 21 and 0 <= column < 79) or not passable[other] or other in steps:
                continue
            if down and right and (doors[cell] or doors[other]):
                continue
            steps[other] = steps[cell] + 1
            queue.append(other)
    return steps


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.floats(0.4, 0.9))
def test_paths_are_the_shortest(seed, share):
    rng = np.random.default_rng(seed)
    passable, doors = rng.random(CELLS) < share, rng.random(CELLS) < 0.1
    start = int(rng.integers(CELLS))
    passable[start] = True
    ways = Ways(passable, doors)
    paths, wanted = ways.paths(start), brute(passable, doors, start)
    found = {c: int(n) for c, n in enumerate(paths.steps) if n < UNREACHED}
    assert found == wanted
    assert set(np.flatnonzero(ways.regions == ways.regions[start]).tolist()) == set(wanted)
    for cell in list(wanted)[:: max(len(wanted) // 20, 1)]:
        path = [start, *paths.to(cell)]
        assert len(path) == wanted[cell] + 1
        assert path[-1] == cell
        assert all(distance(a, b) == 1 for a, b in itertools.pairwise(path))
    nearest = paths.nearest(doors)
    reached = [wanted[c] for c in np.flatnonzero(doors).tolist() if c in wanted]
    assert (nearest is None) == (not reached)
    assert nearest is None or wanted[nearest] == min(reached)


def test_patches_join_over_corners():
    mask = np.zeros(CELLS, bool)
    mask[[0, 80, 400]] = True
    labels, count = label_patches(mask)
    assert count == 2
    assert labels[0] == labels[80] != labels[400]


ROOMS = """
------        ------
|....+####    |....|
|.<..|   #####+..{.|
|...).        |....|
------        ------
"""


def test_rooms_corridors_and_doors_are_distinguished():
    level = Level("level 1")
    news = level.update(screen(ROOMS, (2, 2)))
    assert set(news) == {"fountain", "a dagger"}
    assert level.areas() == (1, 2, -1)
    assert level.current == 1
    assert [e.name for e in listing(level, 1).features] == []  # the player stands on the stairs
    assert [e.name for e in listing(level, 1).items] == ["dagger"]
    assert [e.name for e in listing(level, 2).features] == ["fountain"]
    assert [(e.name, e.state) for e in listing(level, -1).exits] == [
        ("door 1", "doorway"),
        ("door 2", "doorway"),
    ]
    assert level.reachable().areas >= {1, 2, -1}
    door = level.exits[1][0]
    assert level.areas_of(door) == (1, -1)
    level.update(screen(ROOMS, (1, 5)))  # on the door
    assert level.here == door
    assert level.current == 1


def test_area_keeps_its_number_and_merging_is_reported():
    level = Level("level 1")
    level.update(screen("####   ...", (0, 0)))
    assert level.areas() == (1, -1)
    level.update(screen("#### ##...", (0, 0)))
    assert level.areas() == (1, -1, -2)
    assert level.take_merged() == []
    level.update(screen("#######...", (0, 1)))
    assert level.areas() == (1, -1)
    assert level.take_merged() == [(-2, -1)]
    level.update(screen("#######...     ##", (0, 2)))
    assert level.areas() == (1, -1, -3)  # a number is not used again


class Renumbered(AreaMap):
    """Numbers all patches after every change."""

    def _join(self, cells):
        return False


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_growing_list_is_numbered_like_a_fresh_one(seed):
    rng = np.random.default_rng(seed)
    kinds = rng.choice([WALL, FLOOR, FLOOR, CORRIDOR, UNDER, DOORWAY], CELLS)
    near = np.repeat(np.repeat(rng.choice(kinds, (7, 20)), 3, 0), 4, 1)[:, :COLUMNS].ravel()
    world = np.where(rng.random(CELLS) < 0.8, near, kinds)
    grown, renumbered = AreaMap(), Renumbered()
    here = 10 * COLUMNS + 40
    for _ in range(120):
        here = int(rng.choice(neighbours(here)))
        world[rng.choice(np.flatnonzero(world == UNDER))] = rng.choice([FLOOR, CORRIDOR])
        seen = np.array([here, *neighbours(here)])
        new = seen[grown.terrain[seen] != world[seen]].tolist()
        for areas in (grown, renumbered):
            areas.terrain[new] = world[new]
            for cell in new:
                if world[cell] == DOORWAY:
                    areas.doors.setdefault(cell, len(areas.doors) + 1)
        assert grown.relabel(new) == renumbered.relabel(new)
        assert grown.areas() == renumbered.areas()
        assert (grown.area == renumbered.area).all()
        assert grown.exits == renumbered.exits
        assert [*map(grown.areas_of, grown.doors)] == [*map(renumbered.areas_of, renumbered.doors)]


def test_things_and_creatures_come_and_go():
    level = Level("level 1")
    level.update(screen(".....\n..)k.", (0, 0)))
    assert list(level.items.values()) == ["dagger"]
    assert [being.label for being in level.creatures] == ["kobold"]
    assert level.sightings == {"kobold": 1}
    level.update(screen(".....\n..f..", (0, 0)))  # the kitten stands on the dagger
    assert list(level.items.values()) == ["dagger"]
    assert level.sightings == {"tame kitten": 1}
    level.update(screen(".....\n.f...", (0, 0)))
    assert level.items == {}


def test_doors_keep_their_known_state():
    level = Level("level 1")
    level.update(screen("...D..", (0, 2)))
    assert list(level.door_states.values()) == ["closed"]
    assert not level.reachable().cells[4]
    level.lock(3)
    level.update(screen("...D..", (0, 1)))
    assert list(level.door_states.values()) == ["locked"]
    level.update(screen("...O..", (0, 1)))
    assert list(level.door_states.values()) == ["open"]
    assert level.reachable().cells[4]
    assert level.doors == {3: 1}


def test_frontier_has_the_places_not_walked_to():
    level = Level("level 1")
    level.update(screen("-----\n|...|\n|...+##\n-----", (1, 1)))
    cells = np.flatnonzero(level.frontier()).tolist()
    assert 2 * COLUMNS + 6 in cells  # the end of the corridor
    assert 1 * COLUMNS + 2 not in cells  # walls are known all around
    level.update(screen("-----\n|...|\n|...+##\n-----", (2, 6)))
    assert 2 * COLUMNS + 6 not in np.flatnonzero(level.frontier()).tolist()
