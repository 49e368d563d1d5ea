"""Treasure Hunt: the chain, names, scores, and a fair win."""

from __future__ import annotations

import itertools
import re
from collections import deque

import pytest

from gym_memory.core.errors import UnknownNameError
from gym_memory.games.textworld.games import SPLITS, entries
from gym_memory.games.textworld.treasure_hunt import TreasureHunt, plan_hunt

LEVELS = {  # rooms, keys, best score: the paper's, hardest's score is ours
    "easy": (12, 4, 7),
    "hard": (16, 5, 8),
    "hardest": (36, 7, 10),
}

OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}


def plan(level, seed):
    return plan_hunt(TreasureHunt.levels[level], seed)[0]


def seeds(level, split):
    return [entry.seed for entry in entries("treasure_hunt", TreasureHunt.generator, level, split)]


# ---------------------------------------------------------------- structure


@pytest.fixture(scope="module", params=LEVELS)
def hunts(request):
    return request.param, [plan(request.param, seed) for seed in range(60)]


def test_rooms_and_lockers(hunts):
    level, found = hunts
    rooms, _, _ = LEVELS[level]
    for hunt in found:
        assert len(hunt.grid) == len(hunt.grid.distances(hunt.start)) == rooms
        assert set(hunt.rooms) == set(hunt.lockers) == set(hunt.grid)
        assert len(set(hunt.rooms.values())) == len(set(hunt.lockers.values())) == rooms
        assert all(re.fullmatch(r"Room [A-Z]2?", name) for name in hunt.rooms.values())
        assert [c for c, name in hunt.lockers.items() if name == "golden locker"] == [hunt.start]


def test_chain_leads_from_the_start_to_the_golden_locker(hunts):
    level, found = hunts
    for hunt in found:
        assert len(hunt.links) == LEVELS[level][1]
        cells = [link.cell for link in hunt.links]
        assert len(set(cells)) == len(cells)
        assert cells[-1] == hunt.start
        assert hunt.links[-1].key == "golden key"
        assert len({link.key for link in hunt.links}) == len({k.note for k in hunt.links})
        for i, link in enumerate(hunt.links):
            assert link.locker == hunt.lockers[link.cell]
            assert f"the {link.key}" in link.text.lower()
            assert f"the {link.locker}" in link.text.lower()
            named = hunt.rooms[link.cell] in re.findall(r"Room [A-Z]2?", link.text)
            assert named != (level == "hard" and i == 0)


def test_the_second_key_of_hard_is_far_away():
    for seed in range(60):
        hunt = plan("hard", seed)
        distances = hunt.grid.distances(hunt.start)
        nearer = sum(d < distances[hunt.links[0].cell] for d in distances.values())
        assert nearer >= 16 // 2


def test_distractors_in_every_room_of_hardest_only(hunts):
    level, found = hunts
    for hunt in found:
        things = [*hunt.floor.values(), *(things for _, things in hunt.furniture.values())]
        assert len(things) == (36 if level == "hardest" else 0)
        assert all(1 <= len(found) <= 2 for found in things)
        assert not set(hunt.floor) & set(hunt.furniture)


def test_no_name_is_ambiguous(hunts):
    """The parser keeps nine letters of a word and takes any words of a name for it."""
    _, found = hunts
    for hunt in found:
        names = [
            *hunt.lockers.values(),
            *itertools.chain(*((link.key, link.note) for link in hunt.links)),
            *itertools.chain(*hunt.floor.values()),
            *itertools.chain(*((piece, *things) for piece, things in hunt.furniture.values())),
            "treasure",
        ]
        words = [frozenset(word[:9] for word in name.split()) for name in names]
        assert len(set(words)) == len(words)
        assert not any(a < b for a, b in itertools.permutations(words, 2))


def test_every_seed_gives_another_world(hunts):
    _, found = hunts
    for aspect in ("rooms", "lockers", "links", "grid"):
        assert len({repr(getattr(hunt, aspect)) for hunt in found}) == len(found)
    assert len({hunt.links[0].key for hunt in found}) > 5


@pytest.mark.parametrize("level", LEVELS)
def test_splits_are_disjoint(level):
    worlds = {split: {repr(plan(level, seed)) for seed in seeds(level, split)} for split in SPLITS}
    for split, found in worlds.items():
        assert len(found) == len(seeds(level, split))
    assert not any(a & b for a, b in itertools.combinations(worlds.values(), 2))


def test_walkthroughs_leave_room_for_exploring(hunts):
    level, found = hunts
    longest = max(len(hunt.walkthrough()) for hunt in found)
    assert longest <= {"easy": 50, "hard": 60, "hardest": 90}[level]


# ---------------------------------------------------------------- playing without cheating


class PlannedWorld:
    """A player of a plan without the engine, which counts its moves."""

    def __init__(self, hunt):
        self.hunt, self.here, self.moves = hunt, hunt.start, 0

    def look(self):
        exits = tuple(sorted(self.hunt.grid[self.here]))
        return self.hunt.rooms[self.here], exits, self.hunt.lockers[self.here]

    def go(self, direction):
        self.moves += 1
        self.here = self.hunt.grid[self.here][direction]

    def pick_up(self, i):
        self.moves += 2
        return self.hunt.links[i].key, self.hunt.links[i].text

    def unlock(self, locker, key):
        self.moves += 2
        assert (self.hunt.lockers[self.here], key) == (locker, self._key_of(locker))

    def _key_of(self, locker):
        return next(link.key for link in self.hunt.links if link.locker == locker)


class PlayedWorld:
    """The environment, read as an agent reads it: text and valid actions, no engine facts."""

    def __init__(self, env, seed):
        self.env = env
        self.obs, _ = env.reset(seed=seed)
        self.moves, self.text = 0, self.obs["text"]

    def step(self, action):
        assert action in self.obs["valid_actions"]
        self.obs, _, self.won, truncated, self.info = self.env.step(action)
        assert not truncated
        self.moves += 1
        if "-= " in self.obs["text"]:
            self.text = self.obs["text"]

    def look(self):
        room = re.search(r"-= (.+) =-", self.text)[1]
        exits = [a.split()[1] for a in self.obs["valid_actions"] if a.startswith("go ")]
        return room, tuple(sorted(exits)), re.search(r"(\w+ locker)", self.text)[1]

    def go(self, direction):
        self.step(f"go {direction}")

    def pick_up(self, i):
        key, note = (
            next(a for a in self.obs["valid_actions"] if re.search(pattern, a))
            for pattern in (r"^take \w+ key", r"^examine \w+ note")
        )
        self.step(note)
        text = self.obs["text"]
        self.step(key)
        return re.search(r"\w+ key", key)[0], text

    def unlock(self, locker, key):
        self.step(f"unlock {locker} with {key}")
        self.step(f"open {locker}")


def explore(world, keys):
    """Win with perfect memory and no foresight: go to the locker, or to the nearest unknown exit.

    Returns the number of moves, all counted, the taking of the treasure not included.
    """
    ways, lockers = {}, {}  # room to {direction: room or None}, locker to room

    def look():
        room, exits, locker = world.look()
        lockers[locker] = room
        ways.setdefault(room, dict.fromkeys(exits))
        return room

    here = look()
    for i in range(keys):
        key, text = world.pick_up(i)
        target = re.search(r"(\w+ locker)", text)[1]
        while lockers.get(target) != here:
            for direction in shortest(ways, here, lockers.get(target)):
                before = here
                world.go(direction)
                here = look()
                ways[before][direction], ways[here][OPPOSITE[direction]] = here, before
        world.unlock(target, key)
    return world.moves


def shortest(ways, here, goal):
    """Return directions to a known room or, without one, through the nearest exit not yet taken."""
    queue, reached = deque([(here, ())]), {here}
    while queue:
        room, path = queue.popleft()
        if room == goal:
            return path
        for direction, beyond in ways[room].items():
            if beyond is None and goal is None:
                return (*path, direction)
            if beyond is not None and beyond not in reached:
                reached.add(beyond)
                queue.append((beyond, (*path, direction)))
    raise AssertionError(f"no way to {goal}")


@pytest.mark.parametrize("level", LEVELS)
def test_a_planner_with_perfect_memory_wins_in_time(level):
    """At least 98 of 100 games, every move counted, by the plan of the game."""
    keys = LEVELS[level][1]
    moves = [1 + explore(PlannedWorld(plan(level, s)), keys) for s in seeds(level, "train")]
    assert sum(n <= 150 for n in moves) >= 0.98 * len(moves)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_texts_are_sufficient_to_win(level):
    """The same planner on the real engine, reading the texts, needs the same moves."""
    env = TreasureHunt(level, "test")
    world = PlayedWorld(env, seed=0)
    moves = explore(world, LEVELS[level][1])
    assert moves == explore(PlannedWorld(plan(level, seeds(level, "test")[0])), LEVELS[level][1])
    world.step("take treasure from golden locker")
    assert world.won
    assert world.info["score"] == world.info["max_score"] == LEVELS[level][2]
    env.close()


# ---------------------------------------------------------------- the engine


@pytest.mark.parametrize("level", LEVELS)
def test_walkthrough_scores_one_point_key_and_three_for_treasure(level):
    env = TreasureHunt(level, "test")
    env.reset(seed=1)
    rewards = {}
    for action in env.oracle().walkthrough:
        assert action in env.valid_actions()
        _, reward, terminated, truncated, info = env.step(action)
        if reward:
            rewards[action] = reward
    *keys, treasure = rewards
    assert terminated
    assert not truncated
    assert info["success"]
    assert info["normalized_score"] == 1.0
    assert info["score"] == LEVELS[level][2]
    assert len(keys) == LEVELS[level][1]
    assert all(re.match(r"take \w+ key", key) and rewards[key] == 1 for key in keys)
    assert treasure == "take treasure from golden locker"
    assert rewards[treasure] == 3
    env.close()


@pytest.fixture
def easy():
    env = TreasureHunt("easy", "test")
    env.reset(seed=0)
    yield env
    env.close()


def test_a_key_scores_once(easy):
    key = easy.oracle().objects["chain"][0][2]
    rewards = [easy.step(a)[1] for a in (f"take {key}", f"drop {key}", f"take {key}")]
    assert rewards == [1, 0, 0]


def test_lockers_are_locked_and_take_only_their_key(easy):
    key = easy.oracle().objects["chain"][0][2]
    facts = easy.oracle().facts
    assert sum(f.relation == "is" and f.object == "locked" for f in facts) == 12
    easy.step(f"take {key}")
    for action in ("open golden locker", f"unlock golden locker with {key}"):
        assert action not in easy.valid_actions()
        *_, info = easy.step(action)
        assert not info["is_action_valid"]
    assert ("golden locker", "is", "locked") in easy.oracle().facts


def test_goal_is_stated_and_texts_hide_the_chain(easy):
    chain = easy.oracle().objects["chain"]
    obs, _ = easy.reset(seed=0)
    assert "golden locker" in obs["task"]
    assert obs["text"].startswith(obs["task"])
    first_key = chain[0][2]
    assert first_key in obs["text"]
    assert not any(key in obs["text"] for _, _, key in chain[1:-1])
    note = next(a for a in obs["valid_actions"] if a.startswith("examine") and "note" in a)
    obs, *_ = easy.step(note)
    room, locker, _ = chain[0]
    assert all(word in obs["text"] for word in (room, locker, first_key))


def test_rooms_are_named_without_an_article():
    for level in LEVELS:
        game = TreasureHunt.make_game(TreasureHunt.levels[level], "train", 5)
        texts = [game.infos[room.id].desc for room in game.world.rooms]
        assert all(re.search(r"Room [A-Z]", text) for text in texts)
        assert not any(re.search(r"\b([Aa]n?|[Tt]he) Room [A-Z]", text) for text in texts)


def test_unknown_level_is_refused():
    with pytest.raises(UnknownNameError, match="hardest"):
        TreasureHunt("harder")
