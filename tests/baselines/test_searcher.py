"""The searcher: does household errands from the observation alone, and is as good as its memory."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest
from heirs import heirs_go_on_as_the_first_would

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.baselines.base import make_policy
from gym_memory.baselines.rules.alfworld import Searcher, chance, kind_of
from gym_memory.core.errors import InvalidArgumentError, MissingDependencyError
from gym_memory.core.records import Observation, Triple
from gym_memory.run import EpisodeResult, rollout

TYPES = (
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
)


def household(memory: str, **kwargs: Any) -> Any:
    try:
        return gym.make("gym_memory/ALFWorld-v0", memory=memory, path="generated", **kwargs)
    except MissingDependencyError as error:
        pytest.skip(str(error))


def play(env: Any, policy: Searcher, seeds: range) -> list[EpisodeResult]:
    return [rollout(env, policy, seed) for seed in seeds]


def seen(text: str, actions: tuple[str, ...], *facts: str, task: str, held: str = "") -> Any:
    triples = tuple(Triple(*fact.split(", ")) for fact in facts)
    inventory = f"You are carrying: a {held}." if held else "You are not carrying anything."
    return Observation(
        text=text, task=task, inventory=inventory, valid_actions=actions, memory="",
        triples=triples, episodes=(), lessons=(),
    )  # fmt: skip


def asked(policy: Searcher, obs: Observation) -> str:
    policy.reset({"dialect": "alfworld"}, 0)
    return policy.act(obs, {})


@pytest.mark.slow
@pytest.mark.parametrize("task_type", TYPES)
def test_does_every_type_of_task(task_type: str) -> None:
    env = household("arigraph", task_type=task_type)
    results = play(env, Searcher(), range(4))
    assert [result.success for result in results] == [True] * 4
    assert not any(result.n_invalid for result in results)
    assert all(result.steps <= 40 for result in results)


@pytest.mark.slow
def test_memory_and_transcript_save_steps() -> None:
    steps = {}
    for memory in ("none", "history", "arigraph", "oracle"):
        results = play(household(memory), Searcher(), range(24))
        steps[memory] = sum(result.steps for result in results)
    assert steps["arigraph"] < 0.75 * steps["none"]
    assert steps["history"] < 0.75 * steps["none"]
    assert steps["oracle"] < steps["arigraph"]


@pytest.mark.slow
def test_habits_save_steps() -> None:
    env = household("arigraph")
    with_habits = sum(result.steps for result in play(env, Searcher(), range(18)))
    without = sum(result.steps for result in play(env, Searcher(habits=False), range(18)))
    assert with_habits < 0.8 * without
    with pytest.raises(InvalidArgumentError, match="habits as True or False"):
        make_policy("searcher?habits=3")


def test_searcher_keeps_only_its_published_plan() -> None:
    heirs_go_on_as_the_first_would(household("arigraph"), Searcher)


GOING = ("go to desk 1", "go to drawer 1", "go to drawer 2", "look")


def test_agent_visits_remembered_things_and_searches_unseen_places() -> None:
    task = "put some pen on desk"
    text = "You arrive at shelf 1. On the shelf 1, you see nothing."
    known = ("drawer 1, is, open", "drawer 1, is, empty", "desk 1, is, empty")
    assert asked(Searcher(), seen(text, GOING, *known, task=task)) == "go to drawer 2"
    found = (*known[:2], "pen 2, is on, desk 1")
    assert asked(Searcher(), seen(text, GOING, *found, task=task)) == "go to desk 1"


def test_takes_the_second_of_two_from_elsewhere() -> None:
    task = "find two pen and put them in desk"
    text = "You move the pen 1 to the desk 1."
    facts = ("you, is at, desk 1", "pen 1, is on, desk 1", "pen 3, is in, drawer 2")
    actions = ("go to drawer 1", "go to drawer 2", "take pen 1 from desk 1")
    assert asked(Searcher(), seen(text, actions, *facts, task=task)) == "go to drawer 2"


def test_treats_a_thing_once() -> None:
    task = "clean some cup and put it in shelf"
    at_sink = ("clean cup 1 with sinkbasin 1", "go to shelf 1", "move cup 1 to sinkbasin 1")
    dirty = seen(
        "You arrive at sinkbasin 1. On the sinkbasin 1, you see nothing.", at_sink,
        "you, is at, sinkbasin 1", task=task, held="cup 1",
    )  # fmt: skip
    clean = seen(
        "You clean the cup 1 using the sinkbasin 1.", at_sink,
        "you, is at, sinkbasin 1", task=task, held="cup 1",
    )  # fmt: skip
    policy = Searcher()
    assert asked(policy, dirty) == at_sink[0]
    assert policy.act(clean, {}) == "go to shelf 1"


def test_unwanted_things_are_put_down_in_both_grammars() -> None:
    text = "You arrive at desk 1. On the desk 1, you see a pen 1."
    for put in ("put cup 1 in/on desk 1", "move cup 1 to desk 1"):
        actions = ("go to drawer 1", put)
        task = "put some pen on drawer"
        assert asked(Searcher(), seen(text, actions, task=task, held="cup 1")) == put
        task = "put some cup on desk"
        assert asked(Searcher(), seen(text, actions, task=task, held="cup 1")) == put


def test_other_kind_of_task_is_not_an_error() -> None:
    action = asked(Searcher(), seen("A hall.", ("go to desk 1", "look"), task="Eat the meal."))
    assert action in ("go to desk 1", "look")


def test_facts_give_the_places_of_things() -> None:
    assert kind_of("desk 12") == "desk"
    assert chance("apple", "fridge 1") > chance("apple", "drawer 3") > 0
    assert chance("no such thing", "fridge 1") == chance("apple", "no such place")
