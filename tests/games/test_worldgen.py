"""Grids, routes, and games that are the same in every process."""

from __future__ import annotations

import hashlib
import json
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.games.textworld.cleaning import Cleaning
from gym_memory.games.textworld.treasure_hunt import TreasureHunt
from gym_memory.games.textworld.worldgen import make_grid, route

OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}
STEP = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}

boxes = st.tuples(st.integers(1, 7), st.integers(1, 7))


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.data(), boxes, st.floats(0, 1), st.integers(0, 10_000))
def test_grid_is_a_connected_map_of_neighbours(data, box, openness, seed):
    rooms = data.draw(st.integers(1, box[0] * box[1]))
    grid = make_grid(random.Random(seed), rooms, box, openness)
    assert len(grid) == rooms
    for (x, y), exits in grid.items():
        assert 0 <= x < box[0]
        assert 0 <= y < box[1]
        for direction, there in exits.items():
            assert there == (x + STEP[direction][0], y + STEP[direction][1])
            assert grid[there][OPPOSITE[direction]] == (x, y)
    assert set(grid.distances(next(iter(grid)))) == set(grid)


@pytest.mark.parametrize(("openness", "ways"), [(0.0, 35), (1.0, 60)])
def test_openness_runs_from_a_tree_to_all_neighbours(openness, ways):
    grid = make_grid(random.Random(1), 36, (6, 6), openness)
    assert sum(len(exits) for exits in grid.values()) == 2 * ways


@settings(derandomize=True, max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.data())
def test_route_is_walkable_and_shortest(seed, data):
    grid = make_grid(random.Random(seed), 16, (5, 4), 0.3)
    start, goal = (data.draw(st.sampled_from(sorted(grid))) for _ in range(2))
    commands = route(grid, start, goal)
    here = start
    for command in commands:
        here = grid[here][command.removeprefix("go ")]
    assert here == goal
    assert len(commands) == grid.distances(start)[goal]


def family_games():
    return [(cls, level) for cls in (TreasureHunt, Cleaning) for level in cls.levels]


def digest(cls, level, seed=7):
    """Return a digest of a game's files: TextWorld's JSON and the Inform 7 source."""
    from textworld.generator import generate_inform7_source

    game = cls.make_game(cls.levels[level], "train", seed)
    written = json.dumps(game.serialize()) + generate_inform7_source(game)
    return hashlib.sha256(written.encode()).hexdigest()


DIGESTS = """
import sys
sys.path.insert(0, sys.argv[1])
from test_worldgen import digest, family_games
for family, level in family_games():
    print(digest(family, level))
"""


@pytest.mark.slow
def test_same_seed_same_bytes_in_every_process(python, request):
    here = str(request.path.parent)
    first, second = (python(DIGESTS, here, hashseed=seed) for seed in (1, 4242))
    assert first == second
    assert len(set(first.split())) == len(family_games())


@pytest.mark.slow
@pytest.mark.parametrize(("cls", "level"), family_games())
def test_generating_leaves_the_global_random_state_alone(cls, level):
    from textworld import g_rng

    g_rng.set_seed(3)
    before = random.getstate(), str(np.random.get_state()), str(g_rng.next().get_state())
    g_rng.set_seed(3)
    first = digest(cls, level)
    after = random.getstate(), str(np.random.get_state()), str(g_rng.next().get_state())
    assert before == after
    random.seed(99), np.random.seed(99), g_rng.set_seed(99)
    assert digest(cls, level) == first
    assert digest(cls, level, seed=8) != first
