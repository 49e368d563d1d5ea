"""Games in many voices: disjoint splits, enough forms, games that can be won."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest

from gym_memory.games.textworld.cleaning import Cleaning
from gym_memory.games.textworld.cooking import Cooking
from gym_memory.games.textworld.games import game_sha256, generate
from gym_memory.games.textworld.treasure_hunt import TreasureHunt
from gym_memory.games.textworld.voices import SHARED, expanded, load_voices
from gym_memory.games.textworld.voices.hunts import plan_voiced_hunt

LEVELS = [
    (TreasureHunt, "voices-easy"),
    (TreasureHunt, "voices-hard"),
    (Cleaning, "voices-room"),
    (Cleaning, "voices-house"),
    (Cooking, "voices"),
]
SPLITS = ("train", "valid", "test")
"""Those with words of their own; ``held_out`` speaks the words of ``test``."""
TOLD = ("opens", "room", "holder", "go")
SPOKEN = "{a} {b} {c} {d} {e}"


@cache
def forms(split):
    """Return a map from relation to its forms, all choices made, without case and full stops."""
    data = load_voices(split)["forms"]
    found = {}
    for relation, kept in data.items():
        parts = {relation: kept} if isinstance(kept, list) else {
            f"{relation}, {form}": one for form, one in kept.items()
        }  # fmt: skip
        for name, templates in parts.items():
            found[name] = {plain(f) for t in templates for f in expanded(t)} - {""}
    return found


def plain(form):
    return " ".join(re.findall(r"[\w{}']+", form.lower()))


@cache
def words(split):
    """Return all words of names that a game of the split can have."""
    data = load_voices(split)
    names = [name for group in data["words"].values() for name in group]
    names += [name for group in data["rooms"].values() for name in group]
    names += [name for group in data["kitchen"].values() for name in group]
    for home in data["homes"]:
        names += [*home["names"], *home["one"], *home["some"], *home["pair"]]
    found = {word.lower() for name in names for word in name.split()}
    return {word for word in found if not word.isdigit()}


def pairs(form):
    words_of = ["^", *form.split(), "$"]
    return {tuple(words_of[i : i + 2]) for i in range(len(words_of) - 1)}


# ---------------------------------------------------------------- forms and words


@pytest.mark.parametrize("relation", TOLD)
def test_every_relation_has_many_forms(relation):
    counts = {split: len(forms(split)[relation]) for split in SPLITS}
    assert counts["train"] >= 40
    assert counts["valid"] >= 20
    assert counts["test"] >= 20


def test_no_form_is_in_two_splits():
    for one, other in combinations(SPLITS, 2):
        assert forms(one).keys() == forms(other).keys()
        for relation in forms(one):
            assert not forms(one)[relation] & forms(other)[relation], relation


@pytest.mark.parametrize("split", ["valid", "test"])
def test_held_out_forms_are_new_constructions(split):
    """None is a form of train with another name in it: each has a pair of words that is new."""
    for relation in (*TOLD, "needs", "used for"):
        old = set().union(*map(pairs, forms("train")[relation]))
        for form in forms(split)[relation]:
            assert pairs(form) - old, form


def test_no_word_of_a_name_is_in_two_splits():
    for one, other in combinations(SPLITS, 2):
        assert not (words(one) & words(other)) - SHARED


@pytest.mark.parametrize("split", SPLITS)
def test_voices_are_plain_text_for_inform(split):
    text = json.dumps(load_voices(split))
    assert text.isascii()
    assert "\\" not in text
    assert "[" not in "".join(f for found in forms(split).values() for f in found)


# ---------------------------------------------------------------- games


@pytest.mark.slow
@pytest.mark.parametrize(("family", "level"), LEVELS)
@pytest.mark.parametrize("split", SPLITS)
def test_the_walkthrough_wins(family, level, split):
    env = family(level, split)
    for seed in (0, 1) if split == "test" else (0,):
        obs, info = env.reset(seed=seed)
        for action in env.oracle().walkthrough:
            assert action in obs["valid_actions"], (info["task_id"], action)
            obs, _, terminated, _, info = env.step(action)
        assert (terminated, info["success"]) == (True, True), info["task_id"]
        assert info["score"] == info["max_score"] > 0
        assert info["moves"] <= env.default_steps(level)
    env.close()


@pytest.mark.parametrize(("family", "level"), LEVELS)
@pytest.mark.parametrize("split", SPLITS)
def test_games_speak_words_of_their_split_only(family, level, split):
    others = set().union(*(words(s) for s in SPLITS if s != split)) - SHARED - words(split)
    for seed in (500_000, 500_007):
        game = generate(family, family.levels[level], split, seed)
        names = [info.name for info in game.infos.values() if info.name and info.name != "meal"]
        assert len(names) > 3
        assert not {word for name in names for word in name.lower().split()} & others
        lowered = [set(name.lower().split()) for name in names]
        for one, other in combinations(lowered, 2):  # the parser never has to ask which is meant
            assert not one <= other
            assert not other <= one


CODE = """
from gym_memory.games.textworld.games import game_sha256, generate
from test_voices import LEVELS
for family, level in LEVELS:
    game = generate(family, family.levels[level], "valid", 7)
    print(game_sha256(game.serialize()), game.metadata.get("opening"))
"""


@pytest.mark.slow
def test_a_seed_makes_one_game_in_every_process(python):
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n{CODE}"
    printed = ""
    for family, level in LEVELS:
        game = generate(family, family.levels[level], "valid", 7)
        printed += f"{game_sha256(game.serialize())} {game.metadata.get('opening')}\n"
    assert python(code, hashseed=1) == printed


@pytest.mark.slow
def test_hunts_vary_in_their_hints():
    hunts = [
        plan_voiced_hunt(TreasureHunt.levels[level], "train", seed)[0]
        for seed in range(150)
        for level in ("voices-easy", "voices-hard")
    ]
    rooms = {len(hunt.grid) for hunt in hunts}
    assert min(rooms) == 1
    assert max(rooms) == 40
    assert any(link.apart for hunt in hunts for link in hunt.links)
    assert any(not hunt.goal for hunt in hunts)
    assert any(str(hunt.links[0].key) in hunt.goal for hunt in hunts)
    names = " ".join(link.key.name for hunt in hunts for link in hunt.links)
    assert re.search(r"[A-Z]\w+ \d", names)
    assert re.search(r"\b[a-z]+ key\b", names)
    notes = {link.text for hunt in hunts for link in hunt.links}
    assert len(notes) > 600


@pytest.mark.parametrize("level", ["voices-room", "voices-house"])
def test_tidying_scores_furniture_and_counts_once(level):
    env = Cleaning(level, "train")
    env.reset(seed=3)
    walkthrough = env.oracle().walkthrough
    rewards = [float(env.step(action)[1]) for action in walkthrough]
    gains = [a for a, r in zip(walkthrough, rewards, strict=True) if r > 0]
    assert {a.split()[0] for a in gains} <= {"take", "put", "insert"}
    assert sum(rewards) == 2 * len(env.oracle().objects["misplaced"])


@pytest.mark.slow
def test_some_houses_state_the_count():
    goals = set()
    for seed in range(30):
        game = generate(Cleaning, Cleaning.levels["voices-room"], "train", seed)
        count = str(len(game.metadata["misplaced"]))
        goals.add("counted" if count in game.objective.split() else bool(game.objective))
        indefinite = {info.indefinite for info in game.infos.values()}
        assert indefinite <= {None, "some", "a pair of"}
    assert goals == {"counted", True, False}
