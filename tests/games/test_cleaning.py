"""Cleaning: the house, its names, and a score that cannot be farmed."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.baselines.base import make_policy
from gym_memory.core.records import Triple
from gym_memory.games.textworld.cleaning import (
    HOUSE,
    Cleaning,
    CleaningProgress,
    plan_house,
    room_of,
    tidy,
)
from gym_memory.games.textworld.games import SPLITS, entries
from gym_memory.run import rollout

STANDARD = Cleaning.levels["standard"]


def plan(seed):
    return plan_house(STANDARD, seed)[0]


def seeds(split):
    return [entry.seed for entry in entries("cleaning", Cleaning.generator, "standard", split)]


# ---------------------------------------------------------------- structure


@pytest.fixture(scope="module")
def houses():
    return [plan(seed) for seed in range(100)]


def test_nine_rooms_in_a_square(houses):
    for house in houses:
        assert sorted(house.grid) == [(x, y) for x in range(3) for y in range(3)]
        assert len(house.grid.distances(house.start)) == 9
        assert len(set(house.rooms.values())) == 9
        assert set(house.rooms.values()) <= set(HOUSE)


def test_exactly_11_of_57_things_are_out_of_place(houses):
    for house in houses:
        assert len(house.homes) == len(house.places) == 57
        away = {t for t, home in house.homes.items() if room_of(house.places[t]) != home}
        assert sorted(away) == list(house.misplaced)
        assert len(away) == 11
        assert {room_of(place) for place in house.places.values()} <= set(house.rooms.values())


def test_things_start_at_homes_that_show_their_kind(houses):
    for house in houses:
        assert all(thing in HOUSE[home].things for thing, home in house.homes.items())
        at_home = Counter(h for t, h in house.homes.items() if t not in house.misplaced)
        assert set(at_home) == set(house.rooms.values())
        assert min(at_home.values()) >= 3


def test_misplaced_things_are_in_the_open(houses):
    boxes = {box for kind in HOUSE.values() for box in kind.boxes}
    assert not any(house.places[t] in boxes for house in houses for t in house.misplaced)
    assert any(place in boxes for house in houses for place in house.places.values())


def test_pool_of_names_is_large_and_unambiguous():
    """The parser keeps nine letters of a word and takes any words of a name for it."""
    assert len(HOUSE) >= 12
    assert all(len(kind.things) >= 10 for kind in HOUSE.values())
    names = [name for kind in HOUSE.values() for group in kind for name in group]
    words = [frozenset(word[:9] for word in name.split()) for name in names]
    assert len(set(words)) == len(words)
    assert not any(a < b for a, b in itertools.permutations(words, 2))
    assert not {word for name in words for word in name} & {"in", "on", "and", "of", "with", "all"}


def test_every_seed_gives_another_house(houses):
    for aspect in ("rooms", "homes", "places", "misplaced"):
        assert len({repr(getattr(house, aspect)) for house in houses}) == len(houses)
    moved = Counter(thing for house in houses for thing in house.misplaced)
    assert len(moved) > 100
    assert len({house.start for house in houses}) == 9


def test_splits_are_disjoint():
    found = {split: {repr(plan(seed)) for seed in seeds(split)} for split in SPLITS}
    assert all(len(found[split]) == len(seeds(split)) for split in SPLITS)
    assert not any(a & b for a, b in itertools.combinations(found.values(), 2))


def test_walkthroughs_are_short(houses):
    lengths = [len(house.walkthrough()) for house in houses]
    assert max(lengths) <= 60
    assert all(
        sum(command.startswith(verb) for command in house.walkthrough()) == 11
        for house in houses
        for verb in ("take ", "put ")
    )


# ---------------------------------------------------------------- the score, without the engine


class Mover:
    """Carries things about and counts with :func:`tidy`."""

    def __init__(self, house):
        self.house, self.places = house, dict(house.places)
        self.tally = CleaningProgress(away=frozenset(house.misplaced))

    def move(self, thing, place):
        before, self.tally_before = self.places[thing], self.tally
        self.places[thing] = place
        self.tally = tidy(
            self.tally,
            self.house.homes,
            self.house.misplaced,
            [Triple(thing, "is in", place)],
            [Triple(thing, "is in", before)],
        )
        return self.tally.score - self.tally_before.score

    def carry(self, thing, place):
        return self.move(thing, "inventory"), self.move(thing, place)


@pytest.fixture
def mover(houses):
    return Mover(houses[0])


def other_room(house, *avoid):
    return next(name for name in house.rooms.values() if name not in avoid)


def test_a_misplaced_thing_is_worth_two(mover):
    thing = mover.house.misplaced[0]
    home = mover.house.homes[thing]
    wrong = other_room(mover.house, home)
    assert mover.carry(thing, wrong) == (1, 0)
    assert mover.carry(thing, wrong) == (0, 0)
    assert mover.carry(thing, HOUSE[home].boxes[0]) == (0, 1)
    assert thing not in mover.tally.away
    assert mover.carry(thing, home) == (-1, 0)
    assert mover.carry(thing, home) == (0, 0)


def test_taking_a_thing_from_its_room_costs_one_once(mover):
    thing = next(t for t in mover.house.homes if t not in mover.house.misplaced)
    home = mover.house.homes[thing]
    assert mover.carry(thing, home) == (-1, 0)
    assert mover.carry(thing, other_room(mover.house, home)) == (0, 0)
    assert thing in mover.tally.away
    assert mover.carry(thing, home) == (0, 0)
    assert thing not in mover.tally.away


def test_facts_about_other_entities_do_not_count(mover):
    facts = [Triple("you", "is in", "kitchen"), Triple("fridge", "is", "open")]
    assert tidy(mover.tally, mover.house.homes, mover.house.misplaced, facts, facts) == mover.tally


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 50), st.integers(1, 300))
def test_no_play_earns_more_than_tidying_up(rng, seed, moves):
    mover = Mover(plan(seed))
    house = mover.house
    places = ["inventory", *house.rooms.values()]
    places += [p for name in house.rooms.values() for p in HOUSE[name].surfaces]
    gains = Counter()
    for _ in range(moves):
        thing = rng.choice([*house.misplaced, *house.homes])
        gains[thing] += mover.move(thing, rng.choice(places))
    for thing, gain in gains.items():
        assert -1 <= gain <= (2 if thing in house.misplaced else 0)
    assert sum(gains.values()) == mover.tally.score <= 22
    away = {
        thing
        for thing, place in mover.places.items()
        if place == "inventory" or room_of(place) != house.homes[thing]
    }
    assert mover.tally.away == away


# ---------------------------------------------------------------- the engine


@pytest.fixture(scope="module")
def env():
    env = Cleaning(split="test")
    yield env
    env.close()


def homes_by_facts(env):
    """Return the place of everything from the engine's facts; None for what is carried."""
    places = {f.subject: f.object for f in env.oracle().facts if f.relation in ("is in", "is on")}
    homes = env.oracle().objects["homes"]
    rooms = {t: None if places[t] == "inventory" else room_of(places[t]) for t in homes}
    return homes, rooms


@pytest.mark.parametrize("seed", [0, 1])
def test_walkthrough_reaches_the_best_score(env, seed):
    env.reset(seed=seed)
    rewards = Counter()
    for action in env.oracle().walkthrough:
        assert action in env.valid_actions()
        _, reward, terminated, truncated, info = env.step(action)
        rewards[action.split()[0], reward] += 1
    assert terminated
    assert not truncated
    assert info["success"]
    assert (info["score"], info["max_score"], info["normalized_score"]) == (22, 22, 1)
    assert info["moves"] <= 60
    assert rewards["take", 1] == rewards["put", 1] == 11
    assert {verb for verb, reward in rewards if reward == 0} == {"go"}


def test_engine_scores_by_the_rules(env):
    """Misplaced: +1 for the first pick, 0 for any repeat; well placed: -1 once."""
    env.reset(seed=0)
    walkthrough = env.oracle().walkthrough
    first = next(i for i, action in enumerate(walkthrough) if action.startswith("take"))
    for action in walkthrough[:first]:
        env.step(action)
    take = walkthrough[first]
    thing = take.removeprefix("take ").split(" from ")[0]
    assert [env.step(a)[1] for a in (take, f"drop {thing}", f"take {thing}")] == [1, 0, 0]
    objects = env.oracle().objects
    right = [
        action
        for action in env.valid_actions()
        if action.startswith("take ")
        and action.removeprefix("take ").split(" from ")[0] not in objects["misplaced"]
    ]
    thing = right[0].removeprefix("take ").split(" from ")[0]
    rewards = [env.step(a)[1] for a in (right[0], f"drop {thing}", f"take {thing}")]
    assert rewards == [-1, 0, 0]


def test_several_things_at_once_score_the_same(env):
    """``drop all`` is one command to the engine and several facts to the score."""
    env.reset(seed=0)
    for action in env.oracle().walkthrough:
        if action.startswith("put"):
            env.step("drop all")
            break
        env.step(action)
    homes, rooms = homes_by_facts(env)
    here = next(f.object for f in env.oracle().facts if f.subject == "you")
    misplaced = env.oracle().objects["misplaced"]
    picked = [t for t in misplaced if rooms[t] == here]
    assert env.tally.score == len(picked) + sum(homes[t] == here for t in picked)
    assert env.tally.away == {t for t in homes if rooms[t] != homes[t]}


@pytest.mark.slow
def test_random_play_keeps_the_count_true(env):
    rng = random.Random(0)
    env.reset(seed=2)
    total = 0.0
    for step in range(150):
        verb = rng.choice(["go", "take", "put", "drop", "open"])
        actions = env.valid_actions()
        wanted = [a for a in actions if a.split()[0] == verb]
        _, reward, terminated, truncated, info = env.step(rng.choice(wanted or actions))
        total += reward
        assert info["score"] == total <= 22
        if step % 10 == 9:
            homes, rooms = homes_by_facts(env)
            assert env.tally.away == {t for t in homes if rooms[t] != homes[t]}
    assert truncated
    assert not terminated
    assert not info["success"]


def test_a_snapshot_holds_the_count(env):
    env.reset(seed=0)
    walkthrough = env.oracle().walkthrough
    middle = next(i for i, action in enumerate(walkthrough) if action.startswith("put"))
    for action in walkthrough[:middle]:
        env.step(action)
    saved, tally = env.snapshot(), env.tally
    assert env.step(walkthrough[middle])[1] == 1
    assert env.tally != tally
    _, info = env.restore(saved)
    assert env.tally == tally
    assert info["score"] == tally.score
    assert env.step(walkthrough[middle])[1] == 1


def test_a_reset_forgets_the_count(env):
    env.reset(seed=0)
    for action in env.oracle().walkthrough[:12]:
        env.step(action)
    assert env.tally.picked
    _, info = env.reset(seed=0)
    assert not env.tally.picked
    assert info["score"] == 0
    assert not info["success"]


@pytest.mark.slow
def test_only_the_score_knows_the_homes(env):
    """No text names the room of a thing, and neither info nor observation lists the mistakes."""
    obs, info = env.reset(seed=0)
    assert set(obs) == {"text", "task", "inventory", "valid_actions"}
    assert not {"homes", "misplaced"} & set(info)
    game = Cleaning.make_game(STANDARD, "test", seeds("test")[0])
    homes = game.metadata["homes"]
    descriptions = {
        i.name: i.desc.replace(i.name, "it") for i in game.infos.values() if i.name in homes
    }
    assert len(descriptions) == 57
    misplaced = set(game.metadata["misplaced"])
    assert {descriptions[t] for t in misplaced} <= {
        descriptions[t] for t in set(descriptions) - misplaced
    }
    assert not any(room in text.split() for text in descriptions.values() for room in HOUSE)
    assert "11" in obs["task"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 3])
def test_planner_with_oracle_takes_nothing_from_its_place(seed):
    env = gym.make("gym_memory/Cleaning-v0", level="voices-room", memory="oracle")
    try:
        assert rollout(env, make_policy("planner?encoder=hash"), seed).normalized == 1
    finally:
        env.close()
