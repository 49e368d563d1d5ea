"""The published plan: how far a player got, what led nowhere, and errands in so many words."""

from __future__ import annotations

from typing import Any

from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.baselines.rules.patience import Patience
from gym_memory.baselines.rules.plan import Move, Notes
from gym_memory.baselines.rules.textworld.errands import carry, run_errands
from gym_memory.core.records import Task, Triple
from gym_memory.extract import get_extractor


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


def test_patience_counts_steps_without_anything_new_and_is_published() -> None:
    patience = Patience()
    for text in ("a hall", "a den", "a hall", "a den"):
        patience = patience.after(text, "")
    assert patience.idle == 2
    published = patience.written_behind("explore | last: go east")
    assert Patience.read(published) == ("explore | last: go east", patience)
    assert patience.after("a cellar", "").idle == 0


def test_what_was_given_up_is_said_and_exploring_goes_on_when_something_new_is_seen() -> None:
    notes = Notes().give_up("fetch bowl, by east").give_up("explore, east of hall")
    assert notes.has_given_up("explore, west of den")
    assert "stuck: fetch bowl x3; explore x3" in notes.written_into(Move("look", "wander"))
    assert notes.take_up().stuck == (("fetch bowl", 3),)


def test_it_is_what_was_spoken_of_before() -> None:
    goal = "Locate the antidote and set it down on the med bay bed."
    known = (
        Triple("you", "is in", "hall"), Triple("antidote", "is in", "inventory"),
        Triple("med bay bed", "is in", "ward"), Triple("ward", "is east of", "hall"),
    )  # fmt: skip
    found = beliefs(goal, ("go east", "look"), triples=known)
    assert next(iter(carry(found))) == ("go east", "bring antidote to ward")
    at_bed = beliefs(goal, ("put antidote on med bay bed",), triples=known)
    assert next(iter(run_errands(at_bed))).action == "put antidote on med bay bed"


def test_a_thing_is_named_by_its_noun_where_no_other_is_called_so() -> None:
    idol = Triple("jade idol", "is in", "shrine")
    assert beliefs("", (), triples=(idol,)).is_named("jade idol", "take the idol")
    assert not beliefs("", (), triples=(idol,)).is_named("jade idol", "take the stone idol")
    two = (idol, Triple("stone idol", "is in", "cave"))
    assert not beliefs("", (), triples=two).is_named("jade idol", "take the idol")
