"""Foresight of commands in a listing of a story's valid actions."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jericho")

from gym_memory.games.jericho.clock import Clock
from gym_memory.games.jericho.outcomes import Outcomes, Twins
from gym_memory.games.jericho.vocabulary import HELD, NOUN
from gym_memory.games.jericho.words import fillings


def outcomes_of(things: list[str], answer) -> set[tuple[str, ...]]:
    """Return the pairs of things that are tried; ``answer`` gives the text and effect of each."""
    outcomes = Outcomes({thing: frozenset(thing.split()) for thing in things}, Twins({}))
    tried: set[tuple[str, ...]] = set()
    for names in fillings(("put", HELD, "in", NOUN), things, things):
        if not outcomes.foreseen(names):
            tried.add(names)
            outcomes.note(names, *answer(*names))
    return tried


def test_ordinary_things_are_not_tried_in_all_pairs():
    things = [f"thing{letter}" for letter in "abcdefgh"]
    tried = outcomes_of(things, lambda first, second: (f"No {first} in {second}.", b""))
    assert len(tried) < 20


def test_special_thing_is_tried_with_every_other():
    things = ["coin", "slot", *(f"thing{letter}" for letter in "abcdefgh")]

    def answer(first: str, second: str) -> tuple[str, bytes]:
        if second != "slot":
            return f"The {second} cannot hold things.", b""
        return ("Clink!", b"coin") if first == "coin" else ("Too large.", b"")

    tried = outcomes_of(things[::-1], answer)
    assert {names for names in tried if names[1] == "slot"} == {
        (thing, "slot") for thing in things if thing != "slot"
    }
    assert len(tried) < 60


def test_words_for_a_guessed_thing_are_no_new_refusal():
    things = [f"thing{letter}" for letter in "abcdefgh"]

    def answer(first: str, second: str) -> tuple[str, bytes]:
        guess = f"(the {first})\n" if first < "thingd" else ""
        return f"{guess}The {first} is no key.", b""

    assert len(outcomes_of(things, answer)) < 20


def test_thing_that_cannot_be_taken_is_tried_once():
    things = ["fat statue", *(f"thing{letter}" for letter in "abcdefgh")]

    def answer(first: str, second: str) -> tuple[str, bytes]:
        if first == "fat statue":
            return f"(the statue in the {second})\n(first taking the statue)\nIt is heavy.", b""
        return "Done.", f"{first} {second}".encode()

    tried = outcomes_of(things, answer)
    assert sum(names[0] == "fat statue" for names in tried) == 1
    assert sum(names[1] == "fat statue" for names in tried) == 8


def test_template_is_dull_after_equal_refusals():
    outcomes = Outcomes({name: frozenset((name,)) for name in "abcd"}, Twins({}))
    said = []
    for name in "abcd":
        outcomes.note((name,), f"The {name} makes no sound.", b"")
        said.append(outcomes.dull)
    assert said == [False, False, True, False]  # the count starts again once it was dull
    outcomes.note(("a",), "The bell rings.", b"rung")
    assert not outcomes.dull


def test_second_wall_is_skipped_without_any_effect():
    walls = ["north wall", "south wall", "west wall"]
    words = {wall: frozenset(wall.split()) for wall in walls}
    twins = Twins(dict.fromkeys(walls, "wall"))

    def tried(verb: str, effect: bytes = b"") -> list[str]:
        outcomes, made = Outcomes(words, twins), []
        for wall in walls:
            if not outcomes.foreseen((wall,)):
                made.append(wall)
                special = effect if wall == "west wall" else b""
                outcomes.note((wall,), f"You cannot {verb} the {wall}.", special)
        return made

    assert tried("push", b"a secret door") == walls
    assert all(tried(verb) == walls for verb in ("turn", "open", "cut", "eat", "rub"))
    assert tried("climb") == ["north wall", "west wall"]


def test_clock_runs_only_when_time_passes():
    before, later, refused = (np.array(m, np.uint8) for m in ([1, 5, 0], [2, 5, 7], [1, 5, 7]))
    clock = Clock(before, [later, later], [refused])
    assert clock.runs(later)
    assert not clock.runs(refused)
    assert not Clock(before, [before, before], [refused]).runs(later)


def test_effect_of_one_thing_is_tried_once():
    things = [f"thing{letter}" for letter in "abcdefgh"]
    tried = outcomes_of(things, lambda first, second: ("Dropped.", first.encode()))
    assert len(tried) < 40
