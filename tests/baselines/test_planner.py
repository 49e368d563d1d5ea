"""The planner: plays from the observation alone, and is as good as its memory."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from heirs import heirs_go_on_as_the_first_would
from shown import observation

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.baselines.rules.base import explore, follow, seek_new, step_towards
from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.baselines.rules.plan import Aim, Plan
from gym_memory.baselines.rules.textworld.errands import is_open_ended
from gym_memory.baselines.rules.textworld.places import misfits
from gym_memory.baselines.rules.textworld.planner import Planner
from gym_memory.core.errors import MissingDependencyError
from gym_memory.core.records import Task, Triple
from gym_memory.extract import get_extractor
from gym_memory.memory.encoders import HashEncoder
from gym_memory.run import rollout

pytestmark = pytest.mark.slow

pytest.importorskip("textworld")


def play(name: str, seed: int, memory: str, **kwargs: Any) -> Any:
    env = gym.make(f"gym_memory/{name}-v0", split="test", memory=memory, **kwargs)
    try:
        return rollout(env, Planner(), seed)
    finally:
        env.close()


@pytest.mark.parametrize(
    ("name", "level"),
    [
        ("Cooking", "stma-4"),
        ("Cooking", "stma-3"),
        ("Cooking", "hardest"),
        ("TreasureHunt", "easy"),
        ("TreasureHunt", "hard"),
    ],
)
def test_planner_wins_with_graph_and_not_without_memory(name: str, level: str) -> None:
    with_graph = play(name, 3, "arigraph", level=level)
    without = play(name, 3, "none", level=level)
    assert with_graph.success
    assert without.normalized < with_graph.normalized or without.steps > 2 * with_graph.steps


@pytest.mark.parametrize("control", ["shuffled", "adversarial", "noise"])
def test_random_facts_of_equal_size_do_not_replace_graph(control: str) -> None:
    def mean(memory: str) -> float:
        games = [play("TreasureHunt", seed, memory, level="hardest") for seed in (0, 1)]
        return sum(game.normalized for game in games) / len(games)

    assert mean("arigraph") == 1.0
    assert mean(control) < 0.5


def test_reads_a_transcript_as_well_as_a_graph() -> None:
    assert play("TreasureHunt", 1, "history", level="easy", budget=4000).success


def test_planner_needs_no_encoder_without_tidying() -> None:
    """Without a memory it starts tidying in this game, having no other aim."""
    env = gym.make("gym_memory/Cooking-v0", split="test", memory="none", level="medium")
    try:
        assert rollout(env, Planner("no-such-model"), 4).steps > 0
    finally:
        env.close()


def test_tidying_without_encoder_names_what_to_install() -> None:
    env = gym.make("gym_memory/Cleaning-v0", split="test", memory="arigraph", max_steps=60)
    try:
        with pytest.raises(MissingDependencyError, match=r"gym-memory\[offline\]"):
            rollout(env, Planner("no-such-model"), 0)
    finally:
        env.close()


@pytest.mark.parametrize("level", ["medium", "hardest"])
def test_planner_keeps_only_its_published_plan(level: str) -> None:
    env = gym.make("gym_memory/Cooking-v0", split="test", level=level, memory="arigraph")
    _, info = heirs_go_on_as_the_first_would(env, Planner)
    assert info["success"]


def beliefs(t: int | None = None, **known: Any) -> Beliefs:
    rules, task = get_extractor("textworld"), Task("t", "", "textworld")
    return Beliefs(observation(**known), rules, task, t=t)


MAP = (
    Triple("you", "is in", "hall"),
    Triple("hall", "has exit", "east"),
    Triple("hall", "has unexplored exit", "north"),
    Triple("kitchen", "is east of", "hall"),
    Triple("kitchen", "has exit", "west"),
    Triple("kitchen", "has exit", "south"),
    Triple("cellar", "is south of", "kitchen"),
    Triple("cellar", "has unexplored exit", "west"),
)


def test_way_known_in_one_direction_is_known_in_both() -> None:
    found = beliefs(triples=MAP)
    assert found.ways("kitchen") == {"west": "hall", "south": "cellar"}
    assert found.distances == {"hall": 0, "kitchen": 1, "cellar": 2}
    assert step_towards(found, "cellar") == "go east"


def test_explores_the_nearest_exit_unless_its_plan_says_otherwise() -> None:
    near = explore(beliefs(triples=MAP), Aim("look"))
    assert near is not None
    assert near.action == "go north"
    obs = observation(triples=MAP)
    planned = Beliefs(
        obs,
        get_extractor("textworld"),
        Task("t", ""),
        plan=Plan(Aim("look", exit=("cellar", "west")), "go east"),
    )
    far = explore(planned, Aim("look"))
    assert far is not None
    assert far.action == "go east"


def test_locked_door_is_not_a_way_out() -> None:
    door = (Triple("hall", "has north door", "gate"), Triple("gate", "is", "locked"))
    move = explore(beliefs(triples=MAP + door), Aim("look"))
    assert move is not None
    assert str(move.aim) == "look, west of cellar, by south west"


def test_facing_exits_are_one_way() -> None:
    square = (
        *MAP,
        Triple("pantry", "is south of", "hall"),
        Triple("pantry", "has unexplored exit", "east"),
    )
    assert beliefs(triples=square).ways("pantry") == {"north": "hall", "east": "cellar"}


def test_planned_way_is_followed_when_no_longer_recalled() -> None:
    here = observation(triples=(Triple("you", "is in", "kitchen"),))
    task = Task("t", "")
    lost = Beliefs(
        here,
        get_extractor("textworld"),
        task,
        plan=Plan(Aim("fetch key", route=("south", "west")), "go east"),
    )
    move = follow(lost)
    assert move is not None
    assert move == ("go south", Aim("fetch key", route=("west",)))


def test_examples_from_other_games_are_not_facts_here() -> None:
    lesson = "-= Attic =-\nYou see a box. The box contains a key."
    found = beliefs(memory=lesson, lessons=(lesson,))
    assert found.here == ""
    assert not found.holder("key")


def test_more_relevant_of_two_exclusive_facts_counts() -> None:
    found = beliefs(triples=(Triple("key", "is in", "box"), Triple("key", "is on", "table")))
    assert found.holder("key") == "box"


def test_recalled_text_is_read_in_order_of_its_steps() -> None:
    memory = (
        "[step 2] > take key\nYou take the key from the box.\n"
        "[step 1]\n-= Hall =-\nYou see a box. The box contains a key.\n"
        "There is an exit to the north."
    )
    found = beliefs(memory=memory)
    assert found.here == "hall"
    assert found.holds("key")


HALL = "[step 1]\n-= Hall =-\nYou see a box. There is an exit to the north."
CELLAR = "> go north\n-= Cellar =-\nYou see a rack. There is an exit to the south."


@pytest.mark.parametrize(("step", "known"), [(2, True), (9, False)])
def test_no_way_is_read_across_missing_steps(step: int, known: bool) -> None:
    found = beliefs(memory=f"{HALL}\n[step {step}] {CELLAR}")
    assert found.here == "cellar"
    assert ("hall" in found.ways("cellar").values()) is known


@pytest.mark.parametrize(("t", "here"), [(2, "hall"), (9, ""), (None, "hall")])
def test_the_place_is_unknown_after_missing_steps(t: int | None, here: str) -> None:
    assert beliefs(memory=HALL, text="You take the key.", t=t).here == here


OPEN = Task("t", "Explore, and score as many points as you can.", "fiction")


def sought(*triples: Triple, text: str = "A hall.", actions: tuple[str, ...], last: str) -> str:
    shown = observation(text=text, triples=triples, valid_actions=actions)
    found = Beliefs(shown, get_extractor("textworld"), OPEN, Plan(action=last))
    return next(seek_new(found, np.random.default_rng(0))).action


def test_new_things_come_first_in_an_open_world() -> None:
    here = Triple("you", "is in", "hall")
    known_ways = (Triple("den", "is north of", "hall"), Triple("shed", "is south of", "hall"))
    offered = ("go north", "go south", "take lamp", "put lamp in box", "pull lever")
    tried = [Triple("hall", "tried", action) for action in offered]
    order = []
    for known in ((), (2,), (2, 0), (2, 0, 1), (2, 0, 1, 4), (2, 0, 1, 3, 4)):
        facts = (here, *known_ways, *(tried[i] for i in known))
        order.append(sought(*facts, actions=offered, last="go north"))
    assert order[0] == "take lamp"
    assert order[1] == "go north"  # not back
    assert order[2:5] == ["go south", "pull lever", "insert lamp into box"]
    assert order[5] == "go north"


def test_open_world_shows_no_round_trip_between_two_rooms() -> None:
    here = Triple("you", "is in", "hall")
    often = (Triple("hall", "tried 3 times", "go north"), Triple("hall", "tried", "go south"))
    assert sought(here, *often, actions=("go north", "go south"), last="go north") == "go south"
    dark = sought(here, text="It is pitch black.", actions=("go up", "take lamp"), last="go down")
    assert dark == "go up"


@pytest.mark.parametrize(
    ("goal", "open_"),
    [(OPEN.goal, True), ("Find the treasure and take it to score.", False), ("", False)],
)
def test_world_without_a_request_is_open(goal: str, open_: bool) -> None:
    assert is_open_ended(goal) is open_


class Words:
    """Things are alike when they share words: meanings one can count by hand."""

    vocabulary = ("pan", "soup", "kitchen", "tooth", "bath", "rake", "garden")

    def encode(self, texts: list[str]) -> Any:
        rows = np.array(
            [[1.0 if word in text else 0.01 for word in self.vocabulary] for text in texts],
            np.float32,
        )
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_thing_belongs_with_similar_things() -> None:
    where = {
        "kitchen pan": "kitchen", "soup kitchen ladle": "kitchen", "kitchen soup pan": "bathroom",
        "bath towel": "bathroom", "tooth bath cup": "bathroom", "tooth bath brush": "garden",
        "garden rake": "garden", "garden hose": "garden",
    }  # fmt: skip
    furniture: dict[str, tuple[str, ...]] = {"kitchen": (), "bathroom": (), "garden": ()}
    found = misfits(where, furniture, Words(), most=2)  # type: ignore[arg-type]
    assert {(m.thing, m.room) for m in found} == {
        ("kitchen soup pan", "kitchen"),
        ("tooth bath brush", "bathroom"),
    }


def test_zero_or_one_room_has_nothing_out_of_place() -> None:
    assert misfits({"cup": "hall"}, {"hall": ()}, HashEncoder()) == []
    assert misfits({}, {}, HashEncoder()) == []
