"""The planner on games of TextWorld with wordings and layouts outside our generators."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from shown import observation

import gym_memory  # noqa: F401 - registers the environments
from gym_memory.baselines.rules.base import explore
from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.baselines.rules.plan import Aim, Kind, Move, Plan
from gym_memory.baselines.rules.textworld.planner import Planner
from gym_memory.core.records import Observation, Task, Triple
from gym_memory.extract import get_extractor
from gym_memory.games.textworld.games import compile_game, quiet_random_state
from gym_memory.run import EpisodeResult, rollout

pytestmark = pytest.mark.slow

textworld = pytest.importorskip("textworld")

Build = Callable[[Any, Callable[..., Any]], str]
"""Fills a world with ``thing(kind, name, place, state="", text="")``; returns the goal."""


def make(path: Path, build: Build, quests: Callable[[Any, dict[str, Any]], list[Any]]) -> Path:
    """Compile a game of a few rooms in a row, Room A to its east Room B, and so on."""
    options = textworld.GameOptions()
    options.seeds = 7
    maker = textworld.GameMaker(options)
    rooms = {name: maker.new_room(name) for name in ("Room A", "Room B", "Room C")}
    maker.connect(rooms["Room A"].east, rooms["Room B"].west)
    maker.connect(rooms["Room B"].east, rooms["Room C"].west)
    maker.set_player(rooms["Room A"])
    things: dict[str, Any] = dict(rooms)

    def thing(kind: str, name: str, place: str, state: str = "", text: str | None = None) -> Any:
        things[name] = maker.new(kind, name=name, desc=text)
        things[place].add(things[name])
        if state:
            things[name].add_property(state)
        return things[name]

    with quiet_random_state():
        goal = build(maker, thing)
        maker.quests = quests(maker, things)
        game = maker.build(validate=False)
        game.objective = goal
        story = path / "game.z8"
        compile_game(game, story)
    return story


def quest(maker: Any, *fact: Any) -> Any:
    generator = textworld.generator.game
    event = generator.Event(conditions=[maker.new_fact(*fact)])
    return generator.Quest(win_events=[event], reward=1)


def play(story: Path, steps: int, memory: str = "arigraph") -> tuple[EpisodeResult, list[str]]:
    env = gym.make("gym_memory/TextWorld-v0", path=str(story), memory=memory, max_steps=steps)
    actions: list[str] = []

    class Planning(Planner):
        def act(self, obs: Observation, info: dict[str, Any]) -> str:
            actions.append(super().act(obs, info))
            return actions[-1]

    try:
        return rollout(env, Planning(), 0), actions
    finally:
        env.close()


def test_keys_and_pages_may_have_any_name(tmp_path: Path) -> None:
    def build(maker: Any, thing: Callable[..., Any]) -> str:
        locker = thing("c", "Locker 4", "Room A", "locked")
        trunk = thing("c", "tin trunk", "Room C", "locked")
        thing("s", "pine bench", "Room B")
        key = thing("k", "token of Ra", "pine bench")
        maker.add_fact("match", key, locker)
        thing("o", "ship's log", "Locker 4", text="The swipe card fits the tin trunk. Good luck!")
        card = thing("k", "swipe card", "Locker 4")
        maker.add_fact("match", card, trunk)
        thing("o", "golden egg", "tin trunk")
        return "Get the golden egg."

    story = make(
        tmp_path,
        build,
        lambda maker, things: [quest(maker, "in", things["golden egg"], maker.inventory)],
    )
    result, _ = play(story, 60)
    assert result.success


def test_kinds_decide_where_things_of_a_room_belong(tmp_path: Path) -> None:
    homes = {
        "bar of soap": "washbasin",
        "soup spoon": "cutlery drawer",
        "woollen sock": "laundry basket",
    }

    def build(maker: Any, thing: Callable[..., Any]) -> str:
        thing("s", "washbasin", "Room A")
        thing("c", "cutlery drawer", "Room A", "closed")
        thing("c", "laundry basket", "Room A", "open")
        for name in homes:
            thing("o", name, "Room A")
        return "Put everything where it belongs."

    def quests(maker: Any, things: dict[str, Any]) -> list[Any]:
        how = {"washbasin": "on"}
        return [
            quest(maker, how.get(home, "in"), things[name], things[home])
            for name, home in homes.items()
        ]

    result, actions = play(make(tmp_path, build, quests), 40)
    assert result.success
    assert any(action.startswith("insert ") for action in actions)
    assert any(action.startswith("put ") for action in actions)


def test_thing_is_carried_to_the_place_in_task(tmp_path: Path) -> None:
    def build(maker: Any, thing: Callable[..., Any]) -> str:
        thing("s", "glass counter", "Room C")
        thing("c", "tea chest", "Room A", "closed")
        thing("o", "sealed dossier", "tea chest")
        return "The sealed dossier should end up on the glass counter."

    story = make(
        tmp_path,
        build,
        lambda maker, things: [
            quest(maker, "on", things["sealed dossier"], things["glass counter"])
        ],
    )
    result, _ = play(story, 15)
    assert result.success


def test_food_to_grill_tries_one_appliance_after_another() -> None:
    env = gym.make(
        "gym_memory/TextWorld-v0", challenge="simple", level="sparse-brief", split="train",
        memory="arigraph", max_steps=60,
    )  # fmt: skip
    results = [rollout(env, Planner(), seed=seed) for seed in range(3)]
    env.close()
    assert [result.success for result in results] == [True] * 3


@pytest.mark.parametrize("memory", ["arigraph", "none"])
def test_unwinnable_world_starts_no_endless_cycle(tmp_path: Path, memory: str) -> None:
    def build(maker: Any, thing: Callable[..., Any]) -> str:
        thing("o", "pebble", "Room B")
        thing("c", "wall safe", "Room A", "locked")
        thing("o", "golden egg", "wall safe")
        return ""

    story = make(
        tmp_path,
        build,
        lambda maker, things: [quest(maker, "in", things["golden egg"], maker.inventory)],
    )
    _, actions = play(story, 60, memory)
    assert len(actions) == 60
    longest = max(Counter(pairwise(actions)).values())
    assert longest < 20, "two actions in turn all the way"
    assert not any(len({*actions[i : i + 8]}) == 1 for i in range(len(actions) - 8))


EXPLORE = Aim("explore", Kind.EXPLORE)


def beliefs(plan: Plan | None = None, **known: Any) -> Beliefs:
    rules = get_extractor("textworld")
    return Beliefs(observation(**known), rules, Task("t", "", "textworld"), plan=plan)


def test_recalled_exit_without_way_is_looked_up() -> None:
    facts = (Triple("you", "is in", "hall"), Triple("attic", "has unexplored exit", "up"))
    asking = explore(beliefs(triples=facts), EXPLORE)
    assert asking == Move("look", dataclasses.replace(EXPLORE, exit=("attic", "up")))
    assert asking is not None
    assert explore(beliefs(Plan(asking.aim, asking.action), triples=facts), EXPLORE) is None


def test_shut_thing_in_view_that_stays_shut_is_locked() -> None:
    seen = "-= Hall =-\nYou see a closed white chest.\nThere is a closed gate leading north."
    at_hand = ("examine white chest", "examine gate", "open gate", "look")
    found = beliefs(text=seen, valid_actions=at_hand)
    assert found.openness("white chest") == "locked"
    assert found.openness("gate") == "closed"


def test_search_of_everything_is_noted_until_lock_gives_way() -> None:
    searching = Plan(Aim("search all rooms after hall", Kind.SEARCH), "go east")
    searched = searching.after(Move("look", Aim("wander", Kind.WANDER)))
    assert searched.searched
    opened = searched.after(Move("unlock safe with rod", Aim("unlock safe")))
    assert not opened.searched


@pytest.mark.parametrize(
    "goal",
    [
        "Take the lamp from the shelf, then drop it on the floor of Room C.",
        "Recover the lamp. Then put the lamp on the ground in Room C!",
    ],
)
def test_thing_of_a_floor_is_carried_there(tmp_path: Path, goal: str) -> None:
    def build(maker: Any, thing: Callable[..., Any]) -> str:
        thing("s", "shelf", "Room B")
        thing("o", "lamp", "shelf")
        thing("s", "bench", "Room C")
        return goal

    def dropped(maker: Any, things: dict[str, Any]) -> list[Any]:
        return [quest(maker, "at", things["lamp"], things["Room C"])]

    result, actions = play(make(tmp_path, build, dropped), 12)
    assert result.success, actions
    assert actions[-1] == "drop lamp"


@pytest.mark.parametrize("memory", ["arigraph", "history"])
def test_held_key_is_carried_directly_to_its_lock(tmp_path: Path, memory: str) -> None:
    def build(maker: Any, thing: Callable[..., Any]) -> str:
        chest = thing("c", "oak chest", "Room A", "locked")
        thing("o", "medal", "oak chest")
        thing("o", "note", "Room A", text="It reads: the rusty key opens the oak chest.")
        maker.add_fact("match", thing("k", "rusty key", "Room B"), chest)
        thing("s", "bench", "Room C")
        return "Find the medal."

    def found(maker: Any, things: dict[str, Any]) -> list[Any]:
        return [quest(maker, "in", things["medal"], maker.inventory)]

    result, actions = play(make(tmp_path, build, found), 40, memory)
    assert result.success, actions
    # Room C was never seen, and is not looked into before.
    taken = next(n for n, action in enumerate(actions) if action.startswith("take rusty key"))
    after = ["go west", "unlock oak chest with rusty key", "open oak chest"]
    assert [a for a in actions[taken + 1 :] if a != "examine rusty key"][:3] == after
