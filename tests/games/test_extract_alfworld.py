"""Extraction from ALFWorld's text: single sentences, what follows from them, and whole episodes."""

from __future__ import annotations

import random
from typing import Any

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.core.errors import MissingDependencyError
from gym_memory.core.records import Step, Task, Triple
from gym_memory.evaluate.quality.observer import IdealObserver
from gym_memory.extract.draft import apply
from gym_memory.games.alfworld.rules import (
    ALFWorldRules,
    HouseholdTask,
    goal_in,
    read_goal,
)
from gym_memory.graph import TemporalGraph
from gym_memory.memory.ldm2.formation import evaluate

RULES = ALFWorldRules()
TASK = Task("t", "", "alfworld")


def learn(*steps: tuple[str, str], inventory: str = "") -> TemporalGraph:
    graph = TemporalGraph()
    for t, (action, text) in enumerate(steps):
        step = Step(t, text, action, inventory=inventory)
        apply(RULES.extract(step, graph, TASK), graph, t)
    return graph


def facts(*steps: tuple[str, str], inventory: str = "") -> set[str]:
    return {str(fact) for fact in learn(*steps, inventory=inventory).live()}


START = (
    "You are in the middle of a room. Looking quickly around you, you see a bed 1, a desk 2, "
    "and a desk 1.\n\nYour task is to: put two cd in safe."
)


def test_the_room_and_the_task() -> None:
    assert facts(("", START)) == {
        "you, is in, room", "bed 1, is in, room", "desk 1, is in, room", "desk 2, is in, room",
        "task, requires, cd", "task, requires number, two", "cd, belongs in, safe",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "You arrive at desk 1. On the desk 1, you see a pen 2, and a cd 1.",
            {"you, is at, desk 1", "pen 2, is on, desk 1", "cd 1, is on, desk 1"},
        ),
        (
            "You arrive at desk 1. On the desk 1, you see nothing.",
            {"you, is at, desk 1", "desk 1, is, empty"},
        ),
        (
            "You arrive at drawer 3. The drawer 3 is closed.",
            {"you, is at, drawer 3", "drawer 3, is, closed"},
        ),
        (
            "You open the safe 1. The safe 1 is open. In it, you see a watch 2.",
            {"safe 1, is, open", "watch 2, is in, safe 1"},
        ),
        ("You close the safe 1.", {"safe 1, is, closed"}),
        ("You pick up the cd 3 from the desk 1.", {"cd 3, is in, inventory"}),
        ("You move the cd 3 to the desk 1.", {"cd 3, is on, desk 1"}),
        ("You put the cd 3 in/on the desk 1.", {"cd 3, is on, desk 1"}),
        ("You heat the egg 1 using the microwave 1.", {"egg 1, is, hot"}),
        ("You cool the egg 1 using the fridge 1.", {"egg 1, is, cool"}),
        ("You clean the cup 1 using the sinkbasin 1.", {"cup 1, is, clean"}),
        ("You sliced the bread 1 with the knife 2.", {"bread 1, is, sliced"}),
        ("You turn on the desklamp 1.", {"desklamp 1, is, on"}),
        ("This desklamp 1 is on.", {"desklamp 1, is, on"}),
        ("This is a hot and clean sliced apple 1.",
         {"apple 1, is, hot", "apple 1, is, clean", "apple 1, is, sliced"}),
        ("This is a cold pan 1.", {"pan 1, is, cool"}),
        ("This is a normal bowl 1. In it, you see a egg 2.", {"bowl 1, contains, egg 2"}),
        ("There's nothing special about cd 1.", set()),
        ("You are carrying: a cd 1.", {"cd 1, is in, inventory"}),
        ("You are facing the shelf 2. Next to it, you see nothing.", {"you, is at, shelf 2"}),
        ("Nothing happens.", set()),
    ],
)  # fmt: skip
def test_sentences(text: str, found: set[str]) -> None:
    assert facts(("do", text)) == found


def test_older_grammar_takes_place_from_command_or_view() -> None:
    text = "You arrive at loc 12. On the shelf 2, you see nothing."
    assert "you, is at, shelf 2" in facts(("go to shelf 2", text))
    assert "you, is at, shelf 2" in facts(("", text))


def test_thing_put_into_a_container_is_in_it() -> None:
    opened = ("open safe 1", "You open the safe 1. The safe 1 is open. In it, you see nothing.")
    put = ("move cd 1 to safe 1", "You move the cd 1 to the safe 1.")
    assert facts(opened, put) == {"safe 1, is, open", "cd 1, is in, safe 1"}


def test_the_last_thing_taken_leaves_it_empty() -> None:
    arrived = ("go to desk 1", "You arrive at desk 1. On the desk 1, you see a pen 2, and a cd 1.")
    first = ("take pen 2 from desk 1", "You pick up the pen 2 from the desk 1.")
    second = ("take cd 1 from desk 1", "You pick up the cd 1 from the desk 1.")
    assert "desk 1, is, empty" not in facts(arrived, first)
    assert "desk 1, is, empty" in facts(arrived, first, second)
    assert "desk 9, is, empty" not in facts(("", "You pick up the pen 2 from the desk 9."))


def test_unlisted_thing_is_gone() -> None:
    before = ("go to desk 1", "You arrive at desk 1. On the desk 1, you see a pen 2, and a cd 1.")
    after = ("go to desk 1", "You arrive at desk 1. On the desk 1, you see a cd 1.")
    assert facts(before, after) == {"you, is at, desk 1", "cd 1, is on, desk 1"}
    carried = facts(before, ("", ""), inventory="You are carrying: a pen 2.")
    assert "pen 2, is in, inventory" in carried
    graph = learn(before, inventory="You are carrying: a mug 1.")
    emptied = RULES.extract(
        Step(1, "", "", inventory="You are not carrying anything."), graph, TASK
    )
    apply(emptied, graph, 1)
    assert Triple("mug 1", "is in", "inventory") not in graph


def test_hot_gives_way_to_cool_but_not_to_clean() -> None:
    hot = ("", "You heat the egg 1 using the microwave 1.")
    cool = ("", "You cool the egg 1 using the fridge 1.")
    clean = ("", "You clean the egg 1 using the sinkbasin 1.")
    assert facts(hot, clean, cool) == {"egg 1, is, clean", "egg 1, is, cool"}


@pytest.mark.parametrize(
    ("words", "goal"),
    [
        ("put some book on sofa", HouseholdTask("book", place="sofa")),
        ("put a cd in safe.", HouseholdTask("cd", place="safe")),
        (
            "put a clean mug in coffeemachine",
            HouseholdTask("mug", state="clean", place="coffeemachine"),
        ),
        (
            "heat some egg and put it in diningtable",
            HouseholdTask("egg", state="hot", place="diningtable"),
        ),
        (
            "cool some pan and put it in stoveburner",
            HouseholdTask("pan", state="cool", place="stoveburner"),
        ),
        ("put a hot apple in fridge", HouseholdTask("apple", state="hot", place="fridge")),
        ("find two pen and put them in desk", HouseholdTask("pen", 2, place="desk")),
        ("put two soapbar in cabinet", HouseholdTask("soapbar", 2, place="cabinet")),
        ("look at bowl under the desklamp", HouseholdTask("bowl", lamp="desklamp")),
        ("examine the watch with the floorlamp", HouseholdTask("watch", lamp="floorlamp")),
        ("make yourself at home", None),
    ],
)
def test_goals(words: str, goal: HouseholdTask | None) -> None:
    assert goal_in(words) == goal
    assert bool(list(read_goal(f"Hello. Your task is to: {words}"))) == bool(goal)


def test_errands_are_judged_by_the_commands_that_do_them() -> None:
    assert RULES.subgoals("look at bowl under the desklamp") == (
        "take bowl",
        "use desklamp",
    )
    assert RULES.subgoals("make yourself at home") == ()
    task = Task("t", "put a clean mug in shelf", "alfworld")
    trace = [
        Step(0, START),
        Step(1, "You pick up the mug 2 from the desk 1.", "take mug 2 from desk 1"),
        Step(2, "Nothing happens.", "clean mug 2 with desk 1"),
    ]
    assert [(s.text, s.complete) for s in evaluate(trace, task)] == [
        ("take mug", True), ("clean mug", False), ("move mug to shelf", False),
    ]  # fmt: skip
    done = Step(3, "You clean the mug 2 using the sinkbasin 1.", "clean mug 2 with sinkbasin 1")
    moved = Step(4, "You move the mug 2 to the shelf 1.", "move mug 2 to shelf 1")
    assert all(s.complete for s in evaluate([*trace, done, moved], task))
    other = evaluate(trace, task._replace(dialect="textworld"))
    assert [s.text for s in other] == ["put a clean mug in shelf"]


def test_evidence_spans_are_correct() -> None:
    said = RULES.extract(Step(0, START), TemporalGraph(), TASK)
    spans = {str(m.triple): START[m.start : m.end] for m in said.mentions}
    assert spans["desk 2, is in, room"] == "desk 2"
    assert spans["task, requires, cd"] == "put two cd in safe."


@pytest.mark.parametrize("seed", range(6))
def test_random_play_is_remembered_like_an_ideal_observer(seed: int) -> None:
    try:
        env: Any = gym.make("gym_memory/ALFWorld-v0", memory="arigraph", path="generated")
    except MissingDependencyError as error:
        pytest.skip(str(error))
    observer, rng = IdealObserver(), random.Random(seed)
    obs, _ = env.reset(seed=seed)
    oracle, action, done = env.get_wrapper_attr("oracle"), "", False
    while not done:
        truth = oracle()
        observer.see(truth, obs["text"], action)
        live = set(env.get_wrapper_attr("memory").graph.live())
        assert live <= observer.true
        assert observer.known <= live
        handling = [a for a in obs["valid_actions"] if not a.startswith("go to ")]
        action = rng.choice(handling if rng.random() < 0.6 else obs["valid_actions"])
        obs, _, terminated, truncated, _ = env.step(action)
        done = terminated or truncated


PIECES = st.sampled_from([
    "You arrive at ", "On the ", "The ", "desk 1", "loc 3", "cd 2", " is closed", " is open",
    ". In it", ", you see ", "a ", ", and ", "nothing", ".", "\n", "You move the ", " to the ",
    "You pick up the ", " from the ", "Your task is to: ", "put ", "two ", "\N{SNOWMAN}",
])  # fmt: skip


@given(st.lists(PIECES, max_size=25).map("".join), st.lists(PIECES, max_size=8).map("".join))
@settings(max_examples=150)
def test_any_text_gives_its_facts(text: str, inventory: str) -> None:
    said = RULES.extract(Step(1, text, "go to desk 1", inventory=inventory), TemporalGraph(), TASK)
    for mention in said.mentions:
        assert -1 <= mention.start <= mention.end <= len(text)
        assert all(mention.triple)
