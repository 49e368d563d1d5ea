"""The published plan: progress, failed aims, and literal errands."""

from __future__ import annotations

import dataclasses
import json
import pickle
from typing import Any

import pytest

from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.baselines.rules.plan import Aim, Kind, Move, Plan, track_novelty
from gym_memory.baselines.rules.textworld.errands import carry, run_errands
from gym_memory.baselines.rules.textworld.hunting import Round
from gym_memory.baselines.rules.textworld.plan_text import read_plan, write_plan
from gym_memory.core.records import Task, Triple
from gym_memory.extract import get_extractor


def beliefs(goal: str, actions: tuple[str, ...], plan: Plan | None = None, **known: Any) -> Beliefs:
    obs: Any = {
        **dict.fromkeys(("text", "task", "inventory", "memory"), ""),
        **dict.fromkeys(("triples", "episodes", "lessons"), ()), "valid_actions": actions, **known,
    }  # fmt: skip
    return Beliefs(obs, get_extractor("textworld"), Task("t", goal, "textworld"), plan=plan)


BOWL, WANDER = Aim("fetch bowl"), Aim("wander", Kind.WANDER)
READ = Aim("read the book", Kind.READ)


def test_circling_aim_is_given_up_and_noted_in_plan() -> None:
    plan = Plan(BOWL, "go west")
    for _ in range(3):
        assert not plan.has_given_up(BOWL)
        plan = plan.after(Move("go east", BOWL))
        plan = dataclasses.replace(plan, aim=WANDER, action="go west")
    assert plan.has_given_up(dataclasses.replace(BOWL, route=("east",)))
    assert plan.notes()["given up"] == "fetch bowl (3x)"
    assert str(plan) == "wander; last action: go west; given up: fetch bowl (3x)"


def test_exploring_may_turn_back() -> None:
    west, back = Plan(Aim("explore", Kind.EXPLORE, ("hall", "west")), "go west"), "go east"
    assert west.after(Move(back, Aim("explore", Kind.EXPLORE))).given_up == ()
    there = Move(back, dataclasses.replace(READ, exit=("hall", "south"), route=("south",)))
    through = dataclasses.replace(READ, exit=("hall", "west"))
    assert Plan(through, "go west").after(there).given_up == ()
    far = dataclasses.replace(READ, exit=("den", "north"), route=("north",))
    assert Plan(far, "go west").after(there).given_up == ((READ, 1),)


GOAL = "First, head east. Then, make sure that the chest is open. Now sit the teacup on the bowl."


def test_errands_are_done_in_their_order() -> None:
    first = next(iter(run_errands(beliefs(GOAL, ("go east", "go west", "look")))))
    assert (first.action, str(first.aim)) == ("go east", "do 1: head east")
    plan = Plan().after(first)
    assert plan.done == 1
    actions = ("put teacup on bowl", "put teacup on rack", "open chest", "go east")
    second = next(iter(run_errands(beliefs(GOAL, actions, plan))))
    assert second.action == "open chest"


def test_names_match_without_case_and_keep_their_spelling() -> None:
    found = beliefs("", ("unlock White locker with Key 1",))
    assert found.can("unlock white locker with key 1")
    assert found.spelled("unlock white locker with key 1") == "unlock White locker with Key 1"


def test_attempts_are_recalled_by_place() -> None:
    triples = (Triple("you", "is in", "hall"), Triple("hall", "tried 3 times", "open safe"))
    found = beliefs("", ("open safe", "look"), triples=triples)
    assert (found.tried("open safe"), found.tried("look")) == (3, 0)


def test_steps_without_anything_new_are_counted() -> None:
    plan = Plan()
    for text in ("a hall", "a den", "a hall", "a den"):
        idle, seen = track_novelty(plan, text, "")
        plan = dataclasses.replace(plan, idle=idle, seen=seen)
    assert plan.notes() == {"nothing new for": "2 steps"}
    assert track_novelty(plan, "a cellar", "")[0] == 0


def test_given_up_aims_are_noted_and_news_resumes_exploring() -> None:
    explore = Aim("explore", Kind.EXPLORE, ("hall", "east"))
    plan = Plan().give_up(dataclasses.replace(BOWL, route=("east",))).give_up(explore)
    assert plan.has_given_up(dataclasses.replace(explore, exit=("den", "west")))
    assert plan.notes()["given up"] == "fetch bowl (3x), explore (3x)"
    assert plan.resume_exploring().given_up == ((BOWL, 3),)


def test_a_plan_is_packed_and_unpacked() -> None:
    aim = Round.of("search all rooms", ["hall", "den"])
    plan = Plan(aim, "go east", given_up=((BOWL, 2),), idle=3, seen=(5, 7))
    assert Plan.unpack(json.loads(json.dumps(plan.pack()))) == plan
    assert pickle.loads(pickle.dumps(plan)) == plan


@pytest.mark.parametrize(
    "aim",
    [
        Aim("fetch bowl", exit=("hall", "east")),
        Aim("explore", Kind.EXPLORE, route=("north", "west")),
        Round.of("search all rooms", ["hall", "den"]),
    ],
    ids=str,
)
def test_plan_read_from_its_text_is_equal(aim: Aim) -> None:
    plan = Plan(aim, given_up=((BOWL, 2), (READ, 1)))
    assert read_plan(write_plan(plan)) == plan


def test_pronoun_means_the_thing_mentioned_before() -> None:
    goal = "Locate the antidote and set it down on the med bay bed."
    known = (
        Triple("you", "is in", "hall"), Triple("antidote", "is in", "inventory"),
        Triple("med bay bed", "is in", "ward"), Triple("ward", "is east of", "hall"),
    )  # fmt: skip
    found = beliefs(goal, ("go east", "look"), triples=known)
    assert next(iter(carry(found))) == ("go east", Aim("bring antidote to ward"))
    at_bed = beliefs(goal, ("put antidote on med bay bed",), triples=known)
    assert next(iter(run_errands(at_bed))).action == "put antidote on med bay bed"


def test_unique_noun_names_a_thing() -> None:
    idol = Triple("jade idol", "is in", "shrine")
    assert beliefs("", (), triples=(idol,)).is_named("jade idol", "take the idol")
    assert not beliefs("", (), triples=(idol,)).is_named("jade idol", "take the stone idol")
    two = (idol, Triple("stone idol", "is in", "cave"))
    assert not beliefs("", (), triples=two).is_named("jade idol", "take the idol")
