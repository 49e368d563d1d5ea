"""The compiled logic gives TextWorld's own answers, and follows the real game."""

from __future__ import annotations

import json
import random

import pytest
import textworld
from hypothesis import given, settings
from hypothesis import strategies as st
from textworld.generator.data import KnowledgeBase

from gym_memory.games.textworld.challenges import make_textworld
from gym_memory.games.textworld.cooking import Cooking
from gym_memory.games.textworld.knowledge import FactPattern, load_knowledge
from gym_memory.games.textworld.logic import Index, Rule, State
from gym_memory.games.textworld.zmachine import clean_text

pytestmark = pytest.mark.filterwarnings("ignore:.*not fully supported")

GAMES = {
    "rl-2": lambda: Cooking("rl-2", "train"),
    "hard": lambda: Cooking("hard", "train"),
    "hardest": lambda: Cooking("hardest", "train"),
    "coin": lambda: make_textworld(challenge="coin_collector", level=105, split="train"),
    "treasure": lambda: make_textworld(challenge="treasure_hunter", level=21, split="train"),
    "simple": lambda: make_textworld(challenge="simple", split="train"),
}


@pytest.fixture(scope="module", params=GAMES)
def env(request):
    env = GAMES[request.param]()
    yield env
    env.close()


def ids(facts):
    return {(f.name, *(v.name for v in f.arguments)) for f in facts}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_commands_and_facts_are_textworlds_own_at_every_step(env, seed):
    obs, info = env.reset(seed=seed)
    bare = textworld.start(
        str(env.story(info["task_id"])),
        textworld.EnvInfos(admissible_commands=True, facts=True, inventory=True),
    )
    state = bare.reset()
    rng = random.Random(seed)
    best = list(env.oracle().walkthrough)
    for step in range(45):
        assert list(obs["valid_actions"]) == state["admissible_commands"]
        assert env.engine.facts == ids(state["_facts"])
        assert obs["inventory"] == clean_text(state["inventory"])[0]
        follow = best and (seed == 0 or rng.random() < 0.6)
        action = best.pop(0) if follow else rng.choice(obs["valid_actions"])
        obs, _, terminated, truncated, info = env.step(action)
        state, _, done = bare.step(action)
        assert obs["text"] == clean_text(state.feedback)[0], action
        assert info["moves"] == step + 1
        assert terminated == done
        if terminated or truncated:
            break
    assert info["won"] == state["won"]
    assert info["lost"] == state["lost"]
    bare.close()


PHRASES = (
    "get {}", "take {}", "take {} and {}", "drop {} and {}", "put {} in {}", "put {} on {}",
    "take all", "drop all", "take all from {}", "put all in {}", "open {}", "close {}",
    "enter {}", "go through {}", "unlock {} with {}", "lock {} with {}", "remove {} from {}",
    "pick up {}", "put down {}", "throw {} at {}", "push {} to {}", "give {} to me", "wear {}",
    "drop {} into {}", "get all except {}", "drop everything", "{}", "go in", "n", "south",
    "e", "w", "g", "wait", "chop {} with {}", "turn {}", "{} {}", "look under {}",
)  # fmt: skip


@pytest.mark.slow
def test_logic_follows_free_text(env):
    """Compare with the game: it takes what the logic allows, and holds what the logic holds."""
    env.max_steps = 10_000
    engine = env.engine
    checked = 0
    for seed in range(2):
        rng = random.Random(f"free text {seed}")
        obs, _ = env.reset(seed=seed)
        names = sorted(env.oracle().objects["types"])
        for _ in range(30):
            near = [n for n in names if n in (obs["text"] + obs["inventory"]).lower()] or names
            phrase = rng.choice(PHRASES)
            text = phrase.format(*[rng.choice(near) for _ in range(phrase.count("{}"))])
            action = text if rng.random() < 0.5 else rng.choice(obs["valid_actions"])
            if action.startswith(("eat", "drink", "cook", "prepare")):  # would end the game
                continue
            obs, _, terminated, _, _ = env.step(action)
            if terminated:
                break
            here = engine.save()
            for command in obs["valid_actions"]:
                if command == "prepare meal":  # the game also wants it cooked; the logic does not
                    continue
                assert engine.send(command).accepted, (action, command)
                engine.load(here)
                checked += 1
            held = [f.subject for f in env.oracle().facts if f.object == "inventory"]
            for thing in held:
                assert thing in obs["inventory"].lower(), action
            listed = obs["inventory"].replace(" and ", ", ").split(", ")
            assert len(held) == (0 if obs["inventory"].endswith("nothing.") else len(listed)), (
                action
            )
    assert checked > 200


def test_walking_through_a_door_by_name_is_noticed():
    env = Cooking("hard", "train")
    for seed in range(5):
        env.reset(seed=seed)
        for action in env.oracle().walkthrough:
            world, facts = env.game.world, env.engine.facts
            here = next(f[2] for f in facts if f[:2] == ("at", "P"))
            door = next((f for f in facts if f[0] == "link" and f[1] == here), None)
            if door and ("open", door[2]) in facts:
                *_, info = env.step(f"enter {world.names[door[2]]}")
                assert info["is_action_valid"]
                assert ("at", "P", door[3]) in env.engine.facts
                assert f"you, is in, {world.names[door[3]]}" in map(str, env.oracle().facts)
                return
            env.step(action)
    pytest.fail("no open door was met")


# ---------------------------------------------------------------- the indexed state

FACTS = st.tuples(st.sampled_from(["at", "in"]), st.sampled_from("abc"), st.sampled_from("xyz"))


@pytest.mark.slow
@settings(max_examples=60)
@given(
    st.frozensets(FACTS), st.lists(st.tuples(st.booleans(), FACTS), max_size=20), st.integers(0, 20)
)
def test_state_equals_a_plain_set_whatever_happens(start, changes, kept):
    state, model = State(Index(start)), set(start)
    saved = state.changes, frozenset(model), dict(state.keys)
    for i, (add, fact) in enumerate(changes):
        state.change([fact] if add else [], [] if add else [fact])
        (model.add if add else model.discard)(fact)
        if i == kept:
            saved = state.changes, frozenset(model), dict(state.keys)
    assert state.facts == model
    assert all((fact in state) == (fact in model) for _, fact in changes)
    for predicate in ("at", "in"):
        for entity in "abc":
            found = state.matching(FactPattern(predicate, (0, 1)), [entity, None])
            assert set(found) == {f for f in model if f[:2] == (predicate, entity)}
    state.become(saved[0])
    assert state.facts == saved[1]
    assert {p: k for p, k in state.keys.items() if k} == {p: k for p, k in saved[2].items() if k}


def test_same_changes_in_another_order_give_the_same_keys():
    one, two = State(Index([("at", "a", "x")])), State(Index([("at", "a", "x")]))
    one.change([("in", "b", "y"), ("in", "c", "y")], [("at", "a", "x")])
    two.change([("in", "c", "y")], [])
    two.change([("in", "d", "y")], [("at", "a", "x")])
    assert one.keys != two.keys
    two.change([("in", "b", "y")], [("in", "d", "y")])
    assert one.keys == two.keys


def test_kept_commands_are_those_of_a_fresh_match():
    env = Cooking("hardest", "train")
    obs, _ = env.reset(seed=1)
    rng = random.Random(1)
    seen = []
    for _ in range(30):
        seen.append((env.engine.facts, obs["valid_actions"]))
        obs, _, terminated, *_ = env.step(rng.choice(obs["valid_actions"]))
        if terminated:
            break
    world = env.game.world
    for facts, kept in seen:
        world.forget()
        assert world.admissible_commands(State(Index(facts))) == kept
    world.forget()


def test_every_rule_of_the_challenges_is_compiled():
    env = Cooking("hardest", "train")
    env.reset(seed=0)
    logic = env.game.world.logic
    assert {"take/c", "go/north", "make/recipe/5", "cook/oven/burned"} <= set(logic.rules)
    assert all(isinstance(rule, Rule) for rule in logic.rules.values())
    assert {rule.name for rule in logic.walks} == {
        f"go/{d}" for d in ("north", "south", "east", "west")
    }


# ---------------------------------------------------------------- rules in the cache


RESET = """
import sys
from work import calls
from gym_memory.games.textworld.cooking import Cooking
env, texts = Cooking("rl-1", "train"), []
made = calls(lambda: texts.append(env.reset(seed=0)[0]["text"]))
print(made, "textworld" in sys.modules, repr(texts), env.valid_actions())
"""


@pytest.mark.slow
def test_new_process_neither_imports_textworld_nor_parses_its_rules(python, tmp_path, monkeypatch):
    monkeypatch.setenv("GYM_MEMORY_CACHE", str(tmp_path))
    first, second = (python(RESET).split(" ", 2) for _ in range(2))
    assert second[2] == first[2]
    assert (first[1], second[1]) == ("True", "False")
    assert 100 * int(second[0]) < int(first[0])


@pytest.mark.parametrize(
    "damage",
    [
        b"", b"{", b"[]", b"{}", b"\xff", b"[" * 100_000, b'{"subtypes": {}, "rules": [[]]}',
        b'{"subtypes": {}, "rules": [{"name": "x"}]}', "slots", "types", "command",
    ],
)  # fmt: skip
def test_rules_from_the_cache_are_the_parsed_ones(damage, tmp_path, monkeypatch):
    """Replace a damaged file."""
    monkeypatch.setenv("GYM_MEMORY_CACHE", str(tmp_path))
    kb = json.dumps(KnowledgeBase.default().serialize(), sort_keys=True)
    parsed = load_knowledge(kb)
    (path,) = (tmp_path / "textworld" / "rules").iterdir()
    whole = path.read_bytes()
    assert load_knowledge(kb) == parsed
    record = json.loads(whole)
    rule = next(rule for rule in record["rules"] if rule["preconditions"])
    if damage == "slots":
        rule["preconditions"][0][1][0] = 99
    elif damage == "types":
        rule["slots"][0][1] = "nothing"
    elif damage == "command":
        rule["command"] = None
    path.write_bytes(damage if isinstance(damage, bytes) else json.dumps(record).encode())
    assert load_knowledge(kb) == parsed
    assert path.read_bytes() == whole
