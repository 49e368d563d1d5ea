"""ALFWorld: our engine, our households, official folders, and their faults."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from work import guarded

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.core.errors import (
    CorruptGameError,
    InvalidArgumentError,
    MissingDependencyError,
    UnknownNameError,
)
from gym_memory.core.records import Triple
from gym_memory.games.alfworld import household
from gym_memory.games.alfworld.env import ALFWorld
from gym_memory.games.alfworld.household import SIZES, TASK_TYPES, make_household
from gym_memory.games.alfworld.pddl import parse_domain, parse_problem
from gym_memory.games.alfworld.world import (
    Game,
    Grammar,
    HouseholdPlay,
    Sentence,
    TextGenerator,
    entity_names,
    parse_grammar,
)
from gym_memory.games.textworld.logic import Index, State
from gym_memory.run.compare import compare
from gym_memory.run.config import RunConfig

try:
    HOUSEHOLD = make_household(TASK_TYPES[0], "train", 0)
except MissingDependencyError as error:
    pytest.skip(str(error), allow_module_level=True)

OFFICIAL = os.environ.get("ALFWORLD_DATA", "")


@pytest.fixture(autouse=True)
def own_households(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)


def play(env: Any, actions: tuple[str, ...], task_id: str) -> dict[str, Any]:
    _, info = env.reset(options={"task_id": task_id})
    for action in actions or env.oracle().walkthrough:
        *_, info = env.step(action)
    return info


def with_put(data: dict[str, Any]) -> dict[str, Any]:
    """Return a game in the grammar before ALFWorld 0.4."""
    grammar = data["grammar"]
    for new, old in (
        ("move {o} to {r}", "put {o} in/on {r}"),
        ("You move the {o.name} to the {r.name}.", "You put the {o.name} in/on the {r.name}."),
        ("You arrive at {r.name}.", "You arrive at {lend.name}."),
    ):
        assert new in grammar
        grammar = grammar.replace(new, old)
    walkthrough = [
        f"put {command[5:].replace(' to ', ' in/on ')}" if command[:5] == "move " else command
        for command in data["walkthrough"]
    ]
    return {**data, "grammar": grammar, "walkthrough": walkthrough}


def lay_out(root: Path, change: Callable[[dict[str, Any]], dict[str, Any]] = dict) -> Path:
    """Return households in the folders of the official data: one of each type."""
    for number, kind in enumerate(TASK_TYPES):
        folder = (
            root / "json_2.1.1" / "valid_seen" / f"{kind}-Thing-None-Place-{number}" / "trial_1"
        )
        folder.mkdir(parents=True)
        data = change(make_household(kind, "valid_seen", 0))
        (folder / "game.tw-pddl").write_text(json.dumps(data))
    return root


# ---------------------------------------------------------------- our households


@pytest.mark.slow
@pytest.mark.parametrize("kind", TASK_TYPES)
def test_walkthroughs_win_ten_households_of_each_type(kind: str) -> None:
    env = ALFWorld(task_type=kind, path="generated", inventory=False)
    for task_id in env.task_ids[:10]:
        info = play(env, (), task_id)
        assert info["success"]
        assert info["n_invalid"] == 0
        assert info["score"] == info["max_score"] == 1.0


def test_all_types_take_turns_and_the_splits_are_disjoint() -> None:
    ids: set[str] = set()
    for split, size in SIZES.items():
        env = ALFWorld(split, path="generated")
        assert len(env.task_ids) == size * len(TASK_TYPES)
        kinds = [task_id.split("/")[1] for task_id in env.task_ids[: len(TASK_TYPES)]]
        assert kinds == list(TASK_TYPES)
        assert ids.isdisjoint(env.task_ids)
        ids.update(env.task_ids)


@pytest.mark.slow
def test_tasks_begin_undone_and_households_differ() -> None:
    seen = set()
    for kind in TASK_TYPES:
        for number in range(8):
            game = Game(make_household(kind, "train", number))
            assert not HouseholdPlay(game).won()
            seen.add(game.intro + str(sorted(game.facts.facts)))
    assert len(seen) == 8 * len(TASK_TYPES)


@pytest.mark.slow
def test_unseen_rooms_have_floors_of_their_own() -> None:
    def floors(split: str) -> set[str]:
        found = set()
        for kind in TASK_TYPES:
            for number in range(12):
                problem = str(make_household(kind, split, number)["pddl_problem"])
                pieces = re.findall(r"\(receptacleType \S+ (\w+)\)", problem)
                found.add(str(sorted(Counter(pieces).items())))
        return found

    train = floors("train")
    assert train & floors("valid_seen")
    assert not train & floors("valid_unseen")


# ---------------------------------------------------------------- the engine


_PLAIN_HEATING = next(
    number
    for number in range(20)
    if len(make_household("pick_heat_then_place_in_recep", "valid_seen", number)["walkthrough"])
    == 6
)
"""A household whose task takes six commands: nothing needs to be opened."""


def test_play_agrees_with_the_text() -> None:
    env = ALFWorld(task_type="pick_heat_then_place_in_recep", path="generated")
    obs, _ = env.reset(options={"task_id": env.task_ids[_PLAIN_HEATING]})
    assert obs["text"].startswith("You are in the middle of a room. Looking quickly around you, ")
    assert obs["text"].endswith(f"\n\nYour task is to: {obs['task']}.")
    assert obs["inventory"] == "You are not carrying anything."
    go, take, to_oven, heat, away, put = env.oracle().walkthrough
    place, thing = go.removeprefix("go to "), take.split(" from ")[0].removeprefix("take ")
    assert env.step(go)[0]["text"].startswith(f"You arrive at {place}. On the {place}, you see a ")
    assert env.step(go)[0]["text"] == "Nothing happens."  # one is there
    assert env.step(take)[0]["inventory"] == f"You are carrying: a {thing}."
    assert env.step(to_oven)[0]["text"].endswith("The microwave 1 is closed.")
    assert env.step(f"examine {thing}")[0]["text"] == f"There's nothing special about {thing}."
    assert env.step(heat)[0]["text"] == f"You heat the {thing} using the microwave 1."
    assert env.step(f"examine {thing}")[0]["text"] == f"This is a hot {thing}."
    assert Triple(thing, "is", "hot") in env.oracle().facts
    env.step(away)
    assert f"move {thing} to {away.removeprefix('go to ')}" in env.valid_actions()
    _, reward, terminated, _, info = env.step(put)
    assert (reward, terminated, info["n_invalid"]) == (1.0, True, 1)


def test_the_older_grammar_is_played_in_its_own_words(tmp_path: Path) -> None:
    env = ALFWorld(path=lay_out(tmp_path, with_put), task_type="pick_and_place_simple")
    assert env.versions() == {"alfworld games": "json_2.1.1 (put)"}
    assert play(env, (), env.task_ids[0])["success"]
    put = env.oracle().walkthrough[-1]
    assert put.startswith("put ")
    assert " in/on " in put
    env.reset(seed=0)
    for action in env.oracle().walkthrough[:-1]:
        obs = env.step(action)[0]
    assert put in obs["valid_actions"]
    assert not [action for action in obs["valid_actions"] if action.startswith("move ")]


def test_two_places_of_one_name_look_like_two_things() -> None:
    """*Not equal* in a goal: one thing does not count twice."""
    env = ALFWorld(task_type="pick_two_obj_and_place", path="generated")
    env.reset(seed=0)
    walkthrough = env.oracle().walkthrough
    first = next(i for i, action in enumerate(walkthrough) if action.startswith("move "))
    info = play(env, walkthrough[: first + 1], env.task_ids[0])
    assert not info["won"]


def test_the_numbers_of_names_run_backwards_through_the_ids() -> None:
    ids = ["mug_bar__plus_01", "mug_bar__plus_02", "sink_bar__plus_01_bar_sinkbasin", "agent1"]
    assert entity_names(ids) == {
        "mug_bar__plus_01": "mug 2",
        "mug_bar__plus_02": "mug 1",
        "sink_bar__plus_01_bar_sinkbasin": "sinkbasin 1",
        "agent1": "agent1",
    }


_LISTING = "[{o.indefinite + ' ' + o.name | in(o:t, r:box)}]"


def test_grammar_has_lists_conditions_and_attributes() -> None:
    rules = {
        "list_empty": (("", "nothing"),),
        "list_separator": (("", ", "),),
        "list_last_separator": (("", ", and "),),
        "see": (("shut(r:box)", "{r.name} is shut"), ("", _LISTING)),
    }  # fmt: skip
    generator = TextGenerator(Grammar(rules, {"x": Sentence("", "")}), {"b": "pen 2", "c": "cup 1"})

    def generate(*facts: tuple[str, ...]) -> str:
        return generator.generate("#see#", State(Index(facts)), {"r": "a"})

    assert generate(("in", "z", "q")) == "nothing"
    assert generate(("in", "b", "a")) == "a pen 2"
    assert generate(("in", "c", "a"), ("in", "b", "a"), ("in", "a", "a")) == "a pen 2, and a cup 1"
    assert generate(("in", "b", "a"), ("shut", "a")) == "a is shut"
    with pytest.raises(CorruptGameError, match="no rule 'smell'"):
        generator.generate("#smell#", State(Index([])), {})


def test_truth_includes_the_last_view() -> None:
    env = ALFWorld(path="generated")
    env.reset(seed=3)
    for action in ("", "look", "xyzzy", *env.oracle().walkthrough):
        if action:
            env.step(action)
        oracle = env.oracle()
        assert oracle.objects["visible"] <= oracle.facts
        if action in ("look", "xyzzy"):
            assert {f.subject for f in oracle.objects["visible"]} == {"you"}


# ---------------------------------------------------------------- official folders


def test_opens_official_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = lay_out(tmp_path)
    split = root / "json_2.1.1" / "valid_seen"
    template = next(split.glob("pick_cool*/*/game.tw-pddl"))
    for name in ("pick_and_place_simple-AppleSliced-None-Bowl-9", "movable_recep-A-B-C-1"):
        (split / name / "trial_1").mkdir(parents=True)
        shutil.copy(template, split / name / "trial_1")
    unsolvable = split / "pick_and_place_simple-Pen-None-Desk-8" / "trial_2"
    unsolvable.mkdir(parents=True)
    (unsolvable / "game.tw-pddl").write_text(json.dumps({**HOUSEHOLD, "solvable": False}))
    monkeypatch.setenv("ALFWORLD_DATA", str(root))
    env = ALFWorld()
    assert [task_id.split("/")[1].split("-")[0] for task_id in env.task_ids] == list(TASK_TYPES)
    assert all(play(env, (), task_id)["success"] for task_id in env.task_ids)
    assert env.versions() == {"alfworld games": "json_2.1.1 (move)"}
    assert len(ALFWorld(task_type=TASK_TYPES[2]).task_ids) == 1
    assert ALFWorld(path=root / "json_2.1.1").task_ids == env.task_ids
    assert ALFWorld(path="generated").task_ids != env.task_ids


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"split": "test"}, UnknownNameError, "unknown split 'test'"),
        ({"task_type": "pick_and_place"}, UnknownNameError, "mean 'pick_and_place_simple'"),
        ({"path": "/no/such/folder"}, InvalidArgumentError, "alfworld-download"),
        ({"inventory": "yes"}, InvalidArgumentError, "inventory as True or False"),
    ],
)
def test_wrong_arguments_are_reported(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        gym.make("gym_memory/ALFWorld-v0", **arguments)


def test_official_games_need_no_package_and_ours_name_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = lay_out(tmp_path)
    household.alfworld_files.cache_clear()
    monkeypatch.setattr(household, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match=r"gym-memory\[alfworld\]"):
        gym.make("gym_memory/ALFWorld-v0")
    env = ALFWorld(path=root)
    assert play(env, (), env.task_ids[0])["success"]


def test_folder_without_such_games_is_named(tmp_path: Path) -> None:
    root = lay_out(tmp_path)
    shutil.rmtree(next((root / "json_2.1.1" / "valid_seen").glob("look_at*")))
    with pytest.raises(InvalidArgumentError, match="of type look_at_obj_in_light in"):
        ALFWorld(path=root, task_type="look_at_obj_in_light")
    with pytest.raises(InvalidArgumentError, match="valid_unseen/<task>"):
        ALFWorld("valid_unseen", path=root)


BROKEN: dict[str, Callable[[str], str]] = {
    "cut off": lambda text: text[: len(text) // 2],
    "no JSON": lambda text: "\x00\x01",
    "a list": lambda text: "[]",
    "parts missing": lambda text: json.dumps({**json.loads(text), "pddl_problem": None}),
    "brackets": lambda text: json.dumps({**json.loads(text), "pddl_problem": "(define (problem"}),
    "no goal": lambda text: text.replace("(:goal ", "(:coal "),
    "grammar": lambda text: text.replace("#examineReceptacle.feedback#", "#nothing.of.it#"),
    "domain": lambda text: json.dumps({**json.loads(text), "pddl_domain": "(define (domain a))"}),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_corrupt_file_costs_its_own_episodes_only(how: str, tmp_path: Path) -> None:
    env = ALFWorld(path=lay_out(tmp_path))
    ids = env.task_ids
    file = next((tmp_path / "json_2.1.1" / "valid_seen").glob(f"{ids[1].split('/')[1]}/*/*"))
    file.write_text(BROKEN[how](file.read_text()))
    with pytest.raises(CorruptGameError):
        play(env, ("go to countertop 1", "go to desk 1", "go to drawer 1"), ids[1])
    assert play(env, (), ids[0])["success"]
    assert play(env, (), ids[2])["success"]


@pytest.mark.slow
def test_run_continues_after_a_corrupt_file(tmp_path: Path) -> None:
    root = lay_out(tmp_path / "data")
    ids = ALFWorld(path=root).task_ids
    split = root / "json_2.1.1" / "valid_seen"
    next(split.glob(f"{ids[1].split('/')[1]}/*/*")).write_text("{")
    config = RunConfig(
        envs=(f"ALFWorld?path={root}",), memories=("none",), policies=("walkthrough",),
        seeds=tuple(range(len(ids))),
    )  # fmt: skip
    rows = compare(config, tmp_path / "run")
    failed = {row.job.seed: row.result.failed for row in rows if row.result.failed}
    assert list(failed) == [1]
    assert "is not an ALFWorld game" in failed[1]
    assert [row.job.seed for row in rows if row.result.success] == [0, 2, 3, 4, 5]


@pytest.mark.skipif(not OFFICIAL, reason="$ALFWORLD_DATA names no official games")
def test_walkthroughs_win_every_official_game_of_valid_seen() -> None:
    env = ALFWorld(path=OFFICIAL, inventory=False)
    assert all(play(env, (), task_id)["success"] for task_id in env.task_ids)


# ---------------------------------------------------------------- odd input


_WORDS = "define :action :init :goal ?x - object and not exists or = a when forall ; ( ) ( ) ( )"
PIECES = st.sampled_from([*_WORDS.split(), "\n"])


@pytest.mark.slow
@given(st.lists(PIECES, max_size=40).map(" ".join))
@settings(max_examples=150)
def test_any_planning_text_is_read_or_refused(text: str) -> None:
    for read in (parse_domain, parse_problem):
        for whole in (
            text,
            f"(define (problem p) {text})",
            f"(define (domain d) (:action a {text}))",
        ):
            with contextlib.suppress(CorruptGameError):
                read(whole)


@given(st.text("{}[]#|\"&(): abr.'", max_size=30))
@settings(max_examples=150)
def test_any_grammar_is_read_or_refused(text: str) -> None:
    grammar = Grammar({"a": (("", text),), "b": ((text, "b"), ("", "c"))}, {})
    for start in ("#a#", "#b#"):
        with contextlib.suppress(CorruptGameError):
            TextGenerator(grammar, {}).generate(start, State(Index([("b", "r")])), {"a": "r"})
    with pytest.raises(CorruptGameError):
        parse_grammar(text)


# ---------------------------------------------------------------- the stock engine


_WITHOUT_A_TRACE = """
import os, sys
import gymnasium as gym
import gym_memory
env = gym.make("gym_memory/ALFWorld-v0", memory="arigraph")
env.reset(seed=0)
env.step("look")
print("alfworld" in sys.modules, "textworld" in sys.modules, os.path.exists(os.environ["HOME"]))
"""


@pytest.mark.slow
def test_nothing_of_alfworld_is_imported_and_no_folder_made(
    python: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert python(_WITHOUT_A_TRACE).split() == ["False", "False", "False"]


DOMAIN = """
(define (domain d)
  (:action go :parameters (?a - room ?b - room) {} :effect (at ?b)))
"""


@pytest.mark.parametrize("field", [":precondtion", ":preconditions", ":when", ":cost"])
def test_misspelt_field_of_an_action_is_reported(field):
    with pytest.raises(CorruptGameError, match=f"action go: expected .* got '{field}'"):
        parse_domain(DOMAIN.format(f"{field} (at ?a)"))


def test_conditions_with_too_many_alternatives_are_refused_at_once():
    choice = "(or (at ?a) (near ?a))"

    def refuse():
        for condition in (f"(and {choice * 40})", f"(not (or {'(and (not (at ?a)) (b))' * 40}))"):
            with pytest.raises(CorruptGameError, match="at most 1000 alternatives"):
                parse_domain(DOMAIN.format(f":precondition {condition}"))

    guarded(refuse)
    (action,) = parse_domain(DOMAIN.format(f":precondition (and {choice * 9})"))
    assert len(action.query.cases) == 512


def test_empty_folder_of_the_package_is_ignored(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))  # as importing the package alfworld does
    env = ALFWorld(split="valid_seen")
    assert env.task_ids[0].startswith("household/")
    env.close()
    (tmp_path / "other").mkdir()
    with pytest.raises(InvalidArgumentError, match="expected a folder with ALFWorld's games"):
        ALFWorld(split="valid_seen")
