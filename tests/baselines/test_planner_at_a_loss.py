"""The planner after refusals, losses and forgotten facts, and its use of keys."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from typing import Any

import pytest
from shown import observation

from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.baselines.rules.plan import Aim, Kind, Plan, track_novelty
from gym_memory.baselines.rules.textworld.cooking import cook
from gym_memory.baselines.rules.textworld.hunting import try_keys, use_keys
from gym_memory.baselines.rules.textworld.planner import Planner
from gym_memory.baselines.rules.textworld.tidying import Tidier, Tidying
from gym_memory.core.records import Step, Task, Triple
from gym_memory.extract import get_extractor
from gym_memory.extract.draft import apply
from gym_memory.graph import TemporalGraph
from gym_memory.wrappers import wrap

HALL = "-= Hall =-\nYou see a shelf. On the shelf you can see a knife and a book."


def beliefs(goal: str = "", plan: Plan | None = None, **known: Any) -> Beliefs:
    rules = get_extractor("textworld")
    return Beliefs(observation(**known), rules, Task("t", goal, "textworld"), plan=plan)


def facts(*lines: str) -> tuple[Triple, ...]:
    return tuple(Triple(*line.split(", ")) for line in lines)


COOKING = facts(
    "you, is in, kitchen", "knife, is on, counter", "counter, is in, kitchen",
    "recipe, requires, leek", "leek, needs to be, chopped", "leek, is in, inventory",
    "coin, is in, inventory",
)  # fmt: skip


def test_full_hands_are_emptied_and_refused_actions_not_repeated() -> None:
    actions = ("take knife from counter", "drop coin", "drop leek", "look")
    obs = observation(
        text="You're carrying too many things already.",
        inventory="You are carrying: a leek and a coin.", valid_actions=actions, triples=COOKING,
    )  # fmt: skip
    player = Planner()
    player.reset({"dialect": "textworld"}, seed=0)
    assert player.act(obs, {}) == "take knife from counter"
    assert player.act(obs, {}) == "drop coin"


def test_food_to_grill_by_note_tries_each_appliance() -> None:
    known = facts(
        "you, is in, yard", "note, says, It's only missing a grilled leek.", "bbq, is in, yard",
        "bbq, is, empty", "leek, is in, inventory", "leek, needs to be, grilled",
    )  # fmt: skip
    at_hand = beliefs(triples=known, valid_actions=("put leek on bbq", "drop leek", "look"))
    assert "put leek on bbq" in [move.action for move in cook(at_hand)]


LOCKED = facts(
    "you, is in, hall", "den, is east of, hall", "chest, is in, den", "chest, is, locked",
    "brass key, is in, inventory",
)  # fmt: skip


def test_held_key_is_carried_to_lock_that_is_known() -> None:
    actions = ("go east", "look")
    informed = beliefs(
        triples=(*LOCKED, Triple("brass key", "opens", "chest")), valid_actions=actions
    )
    assert next(iter(use_keys(informed))) == ("go east", Aim("unlock chest with brass key"))
    unclear_appliances = beliefs(triples=LOCKED, valid_actions=actions)
    assert next(iter(try_keys(unclear_appliances))) == (
        "go east",
        Aim("try brass key on chest", Kind.TRY),
    )


def test_used_or_wrong_key_is_not_carried_further() -> None:
    door = facts(
        "brass key, opens, oak door", "oak door, is, open", "hall, has north door, oak door"
    )
    misfit = facts("brass key, does not open, chest")
    for known in (door, misfit):
        done = beliefs(triples=(*LOCKED, *known), valid_actions=("go east", "look"))
        assert not list(try_keys(done))


def test_forgetful_player_stops_looking_once_nothing_is_new() -> None:
    text, actions = HALL, ("examine book", "examine knife", "look", "take knife from shelf")
    plan = Plan(Aim("wander", Kind.WANDER), "look", given_up=((Aim("take knife"), 3),))
    for _ in range(5):
        idle, seen = track_novelty(plan, text, "")
        plan = dataclasses.replace(plan, idle=idle, seen=seen)

    def chosen(**memory: Any) -> str:
        player = Planner()
        player.reset({"dialect": "textworld"}, seed=0)
        player.focus = plan
        return player.act(observation(text=text, valid_actions=actions, **memory), {})

    assert chosen() == "take knife from shelf"
    assert chosen(memory="A hall.").startswith("examine ")


def test_a_plan_to_tidy_is_dropped_after_a_loss() -> None:
    """The point lost for taking a thing shows where it belongs: it is put back at once."""
    rules, graph = get_extractor("textworld"), TemporalGraph()
    task = Task("t", "Put everything where it belongs.", "textworld")
    room = "-= Hall =-\nYou see a rack. On the rack you can see a cap.\nYou see a shelf. "
    steps = [
        Step(0, room + "But there isn't a thing on it."),
        Step(1, "You take the cap from the rack.", "take cap from rack", -1.0, "You carry a cap."),
    ]
    for step in steps:
        apply(rules.extract(step, graph, task), graph, step.t)
    assert Triple("cap", "belongs on", "rack") in graph
    puts = ("put cap on rack", "put cap on shelf", "look")
    plan = Plan(Tidying.of([("cap", "shelf")]), "take cap from rack")
    after = beliefs(task.goal, plan, triples=tuple(graph.live()), valid_actions=puts)
    assert next(iter(Tidier("hash")(after))).action == "put cap on rack"


def test_recipe_is_read_again_once_its_names_are_known() -> None:
    rules, graph, task = get_extractor("textworld"), TemporalGraph(), Task("t", "", "textworld")
    steps = [
        Step(0, "-= Kitchen =-\nYou see a table. On the table you can see a note."),
        Step(1, "Dinner is almost ready! It only lacks a grilled pie of the day.", "examine note"),
        Step(2, "-= Pantry =-\nYou see a shelf. On it you can see a pie of the day.", "go east"),
    ]
    required = []
    for step in steps:
        apply(rules.extract(step, graph, task), graph, step.t)
        required.append([t.object for t in graph.live() if t[:2] == ("recipe", "requires")])
    assert required == [[], ["pie"], ["pie of the day"]]
    assert Triple("pie of the day", "needs to be", "grilled") in graph


def test_source_of_orders_is_read_again_if_task_repeats() -> None:
    known = facts("you, is in, hall", "book, is in, hall", "book, says, Take the plum.")
    actions = ("read book", "take plum", "take pear", "look")

    def acts(goal: str) -> list[str]:
        player = Planner()
        player.reset({"dialect": "plain"}, seed=0)
        obs = observation(task=goal, triples=known, valid_actions=actions)
        ordered = player.act(obs, {})
        carried = facts(
            "plum, is in, inventory", "hall, tried, take plum", "hall, tried, read book"
        )
        return [ordered, player.act(observation(**{**obs, "triples": known + carried}), {})]

    assert acts("Do what the book says. Repeat this.") == ["take plum", "read book"]
    assert acts("Do what the book says.")[1] != "read book"


@pytest.mark.parametrize("memory", ["arigraph", "history", "none"])
@pytest.mark.parametrize(
    "texts", [("It hums.",), ("It hums.", "It buzzes."), ("Hall\nA bare hall.",)]
)
def test_planner_does_not_repeat_actions_without_effect(
    texts: tuple[str, ...], memory: str
) -> None:
    actions = ["look", "north", "wait"]

    class Humming:
        def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
            self.t = 0
            return texts[0], {"valid_actions": actions}

        def step(self, action: str) -> tuple[Any, ...]:
            self.t += 1
            return texts[self.t % len(texts)], 0.0, False, False, {"valid_actions": actions}

    env, player, taken = wrap(Humming(), memory=memory), Planner(), []
    obs, info = env.reset(seed=0)
    player.reset(info, seed=0)
    for _ in range(30):
        taken.append(player.act(obs, info))
        obs, *_, info = env.step(taken[-1])
    assert max(map(taken.count, actions)) <= 12
    assert all(one != other for one, other in pairwise(taken[3:]))
