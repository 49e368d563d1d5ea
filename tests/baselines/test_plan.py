"""The published plan: how far a player got, what led nowhere, and errands in so many words."""

from __future__ import annotations

from typing import Any

from gym_memory.baselines.players.beliefs import Beliefs
from gym_memory.baselines.players.plan import Move, Notes
from gym_memory.baselines.players.textworld.errands import run_errands
from gym_memory.memory.extract import get_extractor
from gym_memory.types import Task, Triple


def beliefs(goal: str, actions: tuple[str, ...], plan: str = "", **known: Any) -> Beliefs:
    obs: Any = {
        **dict.fromkeys(("text", "task", "inventory", "memory"), ""),
        **dict.fromkeys(("triples", "episodes", "lessons"), ()), "valid_actions": actions, **known,
    }  # fmt: skip
    return Beliefs(obs, get_extractor("textworld"), Task("t", goal, "textworld"), plan=plan)


def test_an_aim_that_only_turns_round_is_given_up_and_the_plan_says_so() -> None:
    notes, last = Notes(), Move("go west", "fetch bowl")
    for _ in range(3):
        assert not notes.has_given_up("fetch bowl")
        move = Move("go east", "fetch bowl")
        notes, last = notes.after(last, move), Move("go west", "wander")
    assert notes.has_given_up("fetch bowl, by east")
    plan = notes.written_into(Move("look", "wander"))
    assert plan == "wander | stuck: fetch bowl x3 | last: look"
    assert Notes.read(plan).stuck == notes.stuck
    assert Move.read(plan) == ("look", "wander")


def test_exploring_may_turn_round() -> None:
    notes = Notes().after(Move("go west", "explore, west of hall"), Move("go east", "explore"))
    assert notes.stuck == ()
    back = Move("go east", "read the book, south of hall, by south")
    assert Notes().after(Move("go west", "read the book, west of hall"), back).stuck == ()
    far = Move("go west", "read the book, north of den, by north")
    assert Notes().after(far, back).stuck == (("read the book", 1),)


GOAL = "First, head east. Then, make sure that the chest is open. Now sit the teacup on the bowl."


def test_errands_are_done_in_their_order() -> None:
    first = next(iter(run_errands(beliefs(GOAL, ("go east", "go west", "look")))))
    assert first == ("go east", "do 1: head east")
    plan = Notes().after(Move("", ""), first).written_into(first)
    assert " | done: " in plan
    actions = ("put teacup on bowl", "put teacup on rack", "open chest", "go east")
    second = next(iter(run_errands(beliefs(GOAL, actions, plan))))
    assert second.action == "open chest"


def test_names_are_compared_without_case_and_said_as_the_game_spells_them() -> None:
    found = beliefs("", ("unlock White locker with Key 1",))
    assert found.can("unlock white locker with key 1")
    assert found.spelled("unlock white locker with key 1") == "unlock White locker with Key 1"


def test_what_was_tried_here_is_recalled_by_place() -> None:
    triples = (Triple("you", "is in", "hall"), Triple("hall", "tried 3 times", "open safe"))
    found = beliefs("", ("open safe", "look"), triples=triples)
    assert (found.tried("open safe"), found.tried("look")) == (3, 0)
