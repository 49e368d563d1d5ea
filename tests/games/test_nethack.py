"""NetHack in words: views, skills and their interruptions, prompts, seeds, endings."""

from __future__ import annotations

import ctypes
import importlib.util
import itertools
import random
import re

import gymnasium as gym
import pytest

from gym_memory.baselines.rules.nethack import Descender
from gym_memory.core.errors import InvalidArgumentError, MissingDependencyError, UnknownNameError
from gym_memory.games.nethack.progression import progression

pytestmark = pytest.mark.slow

pytest.importorskip("nle", reason="NLE is not installed")

ID = "gym_memory/NetHack-v0"
STATUS = re.compile(r"^Status: .*$", re.MULTILINE)


@pytest.fixture(scope="module")
def env():
    made = gym.make(ID, memory="none", max_steps=1000)
    yield made
    made.close()


def descend(env, seed, steps):
    """Return a game of the descender: (action, observation, info) of every step."""
    policy = Descender()
    obs, info = env.reset(seed=seed)
    policy.reset(info, seed)
    seen = [("", obs, info)]
    for _ in range(steps):
        action = policy.act(obs, info)
        obs, _, terminated, truncated, info = env.step(action)
        seen.append((action, obs, info))
        if terminated or truncated:
            break
    return seen


@pytest.fixture(scope="module")
def game(env):
    return descend(env, 1, 90)


_PLAYED = """
import hashlib, sys
import gymnasium as gym
import gym_memory
from gym_memory.baselines.rules.nethack import Descender
for view in ("room", "level"):
    env = gym.make("gym_memory/NetHack-v0", view=view, memory="arigraph")
    policy = Descender()
    obs, info = env.reset(seed=5)
    policy.reset(info, 5)
    digest = hashlib.sha256()
    for _ in range(50):
        action = policy.act(obs, info)
        obs, reward, terminated, truncated, info = env.step(action)
        digest.update(repr((action, obs, reward)).encode())
        if terminated or truncated:
            break
    facts = env.get_wrapper_attr("oracle")().facts
    print(view, info["turn"], digest.hexdigest(), len(facts), hash(frozenset(facts)) != 0)
"""


def test_processes_see_the_same_text_and_remember_the_same(python):
    outputs = {python(_PLAYED, hashseed=hashseed) for hashseed in (1, 2)}
    assert len(outputs) == 1
    assert outputs.pop().count("\n") == 2


def test_the_hour_of_the_game_is_fixed():
    """NetHack names shopkeepers by it; NLE leaves it to the clock."""
    env = gym.make(ID, memory="none").unwrapped
    for _ in range(2):  # the library is loaded for each game
        env.reset(seed=0)
        library = ctypes.CDLL(env.engine.library)
        assert ctypes.c_long.in_dll(library, "ubirthday").value == 1_000_000_000
        importlib.import_module("_ctypes").dlclose(library._handle)
    env.close()


def test_both_views_describe_the_same_game(game):
    whole = gym.make(ID, view="level", memory="none")
    whole.reset(seed=1)
    for action, obs, info in game[1:]:
        same, _, over, _, same_info = whole.step(action)
        if over:
            assert same["text"] == obs["text"]
            break
        assert STATUS.search(same["text"])[0] == STATUS.search(obs["text"])[0]
        assert same_info["turn"] == info["turn"]
        map_of = same["text"].split("\nMap of ")
        assert len(map_of) == 2
        assert map_of[0] in obs["text"]
        assert len(same["text"]) > len(obs["text"])
    whole.close()


def test_room_view_describes_room_and_passed_areas(game):
    for _, obs, _ in game:
        text = obs["text"]
        here = re.search(r"^You are in ((?:room|corridor) \d+) of", text, re.MULTILINE)
        if here is None:
            continue
        passed = re.findall(r"^On the way, in ((?:room|corridor) \d+) of", text, re.MULTILINE)
        blocks = re.findall(r"^((?:Room|Corridor) \d+), ", text, re.MULTILINE)
        assert [block.lower() for block in blocks] == [here[1], *passed]


def test_skills_stop_when_something_comes_up(env):
    notes = set()
    for seed in (1, 3):
        for action, obs, _ in descend(env, seed, 110)[1:]:
            if action in ("explore level", "search 20") or action.startswith(("go to", "melee")):
                notes.update(re.findall(r"^You (?:stop|are on|searched)[^:\n]*", obs["text"], re.M))
    assert {"You stop, for you see", "You stop"} <= notes
    assert any(note.startswith("You are on level 2") for note in notes) or any(
        "searched" in note for note in notes
    )


def test_no_skill_outlasts_a_hundred_turns(game):
    turns = [info["turn"] for _, _, info in game]
    spent = [after - before for before, after in itertools.pairwise(turns)]
    assert max(spent) > 10
    assert max(spent) <= 110  # the last key may take several turns
    assert min(spent) >= 0


def test_valid_actions_can_begin(env):
    tried = set()
    for seed in (0, 4):
        obs, _ = env.reset(seed=seed)
        for _ in range(40):
            action = next(
                (a for a in obs["valid_actions"] if _head(a) not in tried), "explore level"
            )
            if _head(action) in ("pray", "drop"):  # angers gods, strips the player
                tried.add(_head(action))
                continue
            tried.add(_head(action))
            obs, _, terminated, _, info = env.step(action)
            assert info["is_action_valid"], action
            if terminated:
                break
            if "cancel" in obs["valid_actions"]:
                obs, *_, info = env.step("cancel")
    assert {"explore level", "go to", "wield", "take off", "eat", "search", "rest"} <= tried


def _head(action):
    known = ("explore level", "go to", "take off", "put on", "melee attack")
    return next((head for head in known if action.startswith(head)), action.split()[0])


def test_impossible_action_is_refused_with_its_reason(env):
    env.reset(seed=0)
    for action, reason in (
        ("go to fountain", "know of no fountain"),
        ("go to door 9", "know of no door 9"),
        ("go down", "no stairs down here"),
        ("melee attack dragon", "see no dragon"),
        ("wield excalibur", "carry no excalibur"),
        ("kick door 77", "know of no door 77"),
        ("open door 77", "know of no door 77"),
        ("move to 1 1", "no way to that place"),
        ("answer y", "asks nothing"),
        ("confirm", "asks nothing"),
        ("press key ctrl-c", "no such action"),
        ("press key S", "no such action"),
        ("type #quit", "no such action"),
        ("polish the sword", "no such action"),
    ):
        obs, _, terminated, _, info = env.step(action)
        assert not info["is_action_valid"], action
        assert reason in obs["text"], action
        assert not terminated
        assert info["turn"] == 1


def test_questions_wait_for_an_answer(env):
    obs, _ = env.reset(seed=0)
    obs, *_, info = env.step("press key e")
    assert info["is_action_valid"]
    assert "There is an egg here; eat it?" in obs["text"]
    assert {"answer y", "answer n", "answer q", "cancel"} == set(obs["valid_actions"])
    obs, *_ = env.step("answer no")
    assert "The game asks: What do you want to eat?" in obs["text"]
    assert "answer d" in obs["valid_actions"]
    assert "explore level" not in obs["valid_actions"]
    refused, *_, info = env.step("explore level")
    assert not info["is_action_valid"]
    assert "waits for an answer" in refused["text"]
    obs, *_ = env.step("cancel")
    assert "explore level" in obs["valid_actions"]
    obs, *_ = env.step("press key ctrl-d")  # kick
    assert "In what direction?" in obs["text"]
    assert "answer north" in obs["valid_actions"]
    obs, *_ = env.step("answer north")
    assert "explore level" in obs["valid_actions"]


def test_menus_are_read_out_and_chosen_from(env):
    env.reset(seed=0)
    obs, *_ = env.step("press key D")
    assert "A menu is open: Drop what type of items?" in obs["text"]
    assert "  c - Armor" in obs["text"]
    assert {"select b", "confirm", "cancel"} <= set(obs["valid_actions"])
    env.step("select b")
    obs, *_ = env.step("confirm")
    assert "+0 dagger" in obs["text"]
    env.step("select b")
    obs, *_ = env.step("confirm")
    assert "dagger" not in obs["inventory"]
    assert "explore level" in obs["valid_actions"]


def test_things_are_used_by_letter_or_name(env):
    for said in ("wield b", "wield +0 dagger", "wield +0 dagger (b)"):
        env.reset(seed=0)
        obs, *_, info = env.step(said)
        assert info["is_action_valid"]
        assert "b - a +0 dagger (weapon in hand)" in obs["inventory"]
    obs, *_ = env.step("take off c")
    assert "being worn" not in obs["inventory"]
    obs, *_ = env.step("wear small shield")
    assert "being worn" in obs["inventory"]
    for action in ("take off c", "drop a", "drop b", "drop c", "drop d"):
        obs, *_ = env.step(action)
    assert obs["inventory"] == "You carry nothing."
    obs, *_ = env.step("pick up")
    assert obs["inventory"].count("\n") >= 3


# Character, split and seed of a game; actions, each with what its answer says.
GAMES = {
    "cast": ("wiz-hum-neu-fem/test/0", (
        ("cast", "a - force bolt"), ("cancel", ""), ("cast a", "In what direction?"),
        ("answer east", "power 2 of 7"), ("cast a west", "don't have enough energy"),
        ("pray", "You begin praying to Thoth"))),
    "detect": ("wiz-hum-neu-fem/test/0", (
        ("read scroll of gold detection", "sense gold"), ("go north", "turn 3"),
        ("cast b south", "sense the presence of monsters"), ("go south", "on stairs up"))),
    "offer": ("val-hum-neu-fem/train/534", (
        ("melee attack newt", "for you see: a newt corpse"), ("go to newt corpse", "You reached"),
        ("pick up", ""), ("go to lawful altar", "You reached"), ("drop newt corpse", "lands on"),
        ("offer", "Your sacrifice is consumed"))),
    "loot": ("arc-hum-neu-fem/train/139", (
        ("go to chest", "You reached"), ("loot", "i - a food ration.  j - a granite ring."),
        ("go to stairs up", "You reached"), ("loot", "nothing to loot here"), ("rest 1", ""))),
    "tip": ("arc-hum-neu-fem/train/139", (
        ("tip sack", "It's empty"), ("apply sack", "Your sack is empty"), ("select s", "stash?"),
        ("answer d", "You put 5 uncursed food rations"), ("tip sack", "An object spills out"))),
    "engrave": ("arc-hum-neu-fem/train/139", (
        ("press key E", "write with?"), ("answer -", "write in the dust here?"),
        ("answer Élbereth", "Only plain letters"), ("answer Elbereth", "turn 2"),
        ("look", 'You read: "Elbereth".'), ("press key meta-q", "no such action"),
        ("press key meta-p", "Are you sure you want to pray?"), ("answer no", "turn 2"))),
    "fountain": ("pri-hum-neu-fem/train/201", (
        ("go to fountain", "You reached"), ("go to fountain", "You are at fountain already"),
        ("dip mace into potions of holy water", "Interesting"),
        ("quaff potions of holy water", "You feel full of awe"),
        ("quaff here", "The cool draught refreshes you"), ("kick north", "That hurts"))),
    "doors": ("pri-hum-neu-fem/test/0", (
        ("loot", "nothing to loot here"), ("close door 4", "This doorway has no door"),
        ("kick door 2", "The way is open"), ("kick door 2", "nothing to kick at door 2"),
        ("open door 2", "Door 2 is broken"), ("go to door 2", "You reached"),
        ("pay", "no shopkeeper"), ("eat here", "nothing to eat here"))),
    "pack": ("val-hum-neu-fem/test/0", (
        ("eat food ration", "having a hard time"), ("go up", "Still climb?"), ("answer n", ""),
        ("go south", "you see: an egg"), ("press key w", "wield? [- ab or ?*]"))),
}  # fmt: skip


@pytest.mark.parametrize("name", GAMES)
def test_skills_have_their_stated_effect(name):
    place, played = GAMES[name]
    character, split, seed = place.split("/")
    env = gym.make(ID, memory="none", character=character, split=split)
    env.reset(seed=int(seed))
    for action, says in played:
        obs, *_ = env.step(action)
        assert says in obs["text"], action
    if name == "pack":
        assert obs["valid_actions"] == ("answer -", "answer a", "answer b", "cancel")
    env.close()


def test_skill_restarts_after_raw_keys(env):
    env.reset(seed=0)
    env.step("press key ;")  # asks for a place on the map, without a question
    obs, *_, info = env.step("go south")
    assert info["turn"] == 2
    assert "stairs up (1 north)" in obs["text"]


def test_quitting_is_not_offered(env):
    env.reset(seed=0)
    for action in ("press key #", "type quit", "press key enter", "answer y", "look"):
        _, _, terminated, _, info = env.step(action)
        assert not terminated
    assert not info["lost"]


def test_reaching_the_depth_is_the_success():
    env = gym.make(ID, memory="none", depth=2)
    assert "level 2" in env.reset(seed=1)[0]["task"]
    seen = descend(env, 1, 200)
    info = seen[-1][2]
    assert info["success"]
    assert info["won"]
    assert info["max_depth"] == info["depth"] == 2
    assert info["score"] >= 50
    assert info["normalized_score"] == info["score"] / 1000
    assert not seen[-2][2]["success"]
    env.close()


def test_depth_is_success_only_if_set_and_death_loses():
    env = gym.make(ID, memory="none", max_steps=400, max_score=100)
    for seed in range(3, 12):
        obs, info = descend(env, seed, 400)[-1][1:]
        assert not info["success"]
        assert info["normalized_score"] == min(info["score"] / 100, 1)
        if info["lost"]:
            assert "You died on" in obs["text"]
            assert obs["inventory"]
            assert obs["valid_actions"] == ()
            return
    pytest.fail("nobody died")


def test_a_closed_environment_says_so_and_starts_again():
    env = gym.make(ID, memory="none").unwrapped
    first = env.reset(seed=2)[0]
    env.close()
    env.close()
    with pytest.raises(gym.error.ResetNeeded):
        env.step("look")
    assert env.reset(seed=2)[0] == first
    env.close()


def test_splits_are_different_games():
    ids = set()
    for split in ("train", "valid", "test"):
        env = gym.make(ID, memory="none", split=split)
        ids.add(env.reset(seed=0)[0]["text"])
        env.close()
    assert len(ids) == 3


@pytest.mark.parametrize(
    ("kwargs", "error", "match"),
    [
        ({"view": "map"}, UnknownNameError, "view"),
        ({"split": "dev"}, UnknownNameError, "split"),
        ({"depth": 1}, InvalidArgumentError, "depth"),
        ({"depth": True}, InvalidArgumentError, "depth"),
        ({"max_score": 0}, InvalidArgumentError, "max_score"),
        ({"character": "val-hum-fem-neu"}, InvalidArgumentError, "character"),
        ({"inventory": 1}, InvalidArgumentError, "inventory"),
        ({"task": "Sokoban"}, InvalidArgumentError, "task"),
    ],
)
def test_bad_arguments_are_named(kwargs, error, match):
    with pytest.raises(error, match=match):
        gym.make(ID, **kwargs)


@pytest.mark.skipif(importlib.util.find_spec("minihack") is not None, reason="MiniHack is there")
def test_minihack_names_its_package():
    env = gym.make(ID, task="MiniHack-Room-5x5-v0", memory="none")
    for ask in (env.get_wrapper_attr("versions"), env.reset):
        with pytest.raises(MissingDependencyError, match="pip install minihack"):
            ask()


@pytest.mark.skipif(importlib.util.find_spec("minihack") is None, reason="needs MiniHack")
def test_minihack_tasks_are_played_by_the_same_skills():
    env = gym.make(ID, task="MiniHack-Room-5x5-v0", memory="none", score="progression")
    obs, info = env.reset(seed=3)
    assert "MiniHack-Room-5x5" in obs["task"]
    over = False
    for action in ("explore level", "go to stairs down"):
        if not over:
            *_, over, _, info = env.step(action)
    assert info["success"]
    assert info["normalized_score"] == 1.0


@pytest.mark.skipif(importlib.util.find_spec("minihack") is None, reason="needs MiniHack")
def test_boxoban_level_depends_on_seed_alone():
    task = "MiniHack-Boxoban-Hard-v0"
    pytest.importorskip("minihack.envs.boxohack", reason="needs MiniHack")
    env = gym.make(ID, task=task, memory="none", score="progression")
    first = []
    for seed in (0, 1, 0):
        random.seed(seed + len(first))
        try:
            obs, info = env.reset(seed=seed)
        except ModuleNotFoundError as missing:
            pytest.skip(str(missing))
        first.append(obs["text"])
        assert info["score"] == 0
    assert first[0] == first[2] != first[1]


@pytest.mark.parametrize(("seed", "reached"), [(3, (2, 1)), (7, (1, 2))])
def test_progression_is_of_depth_or_experience(seed, reached):
    env = gym.make(ID, memory="none", score="progression", max_steps=20)
    (_, _, at_start), *_, (_, _, info) = descend(env, seed, 20)
    assert at_start["score"] == 0.0
    assert (info["max_depth"], env.unwrapped.play.tracker.most_experienced) == reached
    assert info["normalized_score"] == info["score"] == progression(*reached) > 0
    env.close()


def test_progression_is_the_larger_share():
    assert progression(3, 1) < progression(3, 2) == progression(1, 2)
    assert progression(60, 1) == progression(50, 30)
