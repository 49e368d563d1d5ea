"""Learnings that CLIN's rules infer from a trial, and their certainty."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_clin import DETOUR, TASK, lessons, play, scored, trial_of, wandering

from gym_memory.core.records import Outcome, Step
from gym_memory.memory.clin import Clin
from gym_memory.memory.lessons.abstractions import (
    ALIVE,
    PROGRESS,
    SCORING,
    abstract_causes,
)
from gym_memory.memory.lessons.causes import needed_acts, plan_of, read_acts, things_of
from gym_memory.memory.roles.base import CausalAbstraction


def test_needed_and_unneeded_actions_are_found() -> None:
    memory = Clin(places=False)
    play(memory, DETOUR)
    assert lessons(memory) == [
        '"open wooden door" in the hall MAY BE NECESSARY TO "go east".',
        '"go east" in the hall MAY BE NECESSARY TO reaching the pantry.',
        '"open fridge" in the pantry MAY BE NECESSARY TO "take apple from fridge".',
        '"take apple from fridge" in the pantry MAY BE NECESSARY TO scoring.',
        '"look" DOES NOT CONTRIBUTE TO getting anywhere.',
        '"close fridge" MAY NOT CONTRIBUTE TO getting anywhere.',
    ]
    assert memory.stats().lessons == 6


def test_losing_action_is_found() -> None:
    memory = Clin()
    play(memory, [*DETOUR[:-1], "eat apple"])
    assert f'"eat apple" in the pantry MAY NOT CONTRIBUTE TO {ALIVE}.' in lessons(memory)


def test_action_that_costs_points_is_found() -> None:
    steps = [Step(0, "A hall.", valid_actions=("a", "b"))]
    steps += [Step(t, "Ouch.", "hit wall", -1.0, valid_actions=("a", "b")) for t in (1, 2)]
    found = abstract_causes(steps, Outcome(-2.0), (), TASK)
    assert CausalAbstraction('"hit wall"', SCORING, False, True) in found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_plan_earns_the_same_points_in_fewer_steps(seed: int) -> None:
    """The backward slice of a random walk, played from the start, is worth what the walk was."""
    rng, worth = random.Random(seed), 0
    for _ in range(6):
        actions = wandering(rng, 150, seed)
        trace, outcome, task = trial_of(actions, seed)
        plan = plan_of(read_acts(trace, task))
        replay, again, _ = trial_of(plan, seed)
        assert again.score == outcome.score
        assert len(replay) <= len(trace)
        assert len(plan) <= 12
        worth += outcome.score > 0
    assert worth  # some walks did score


def test_thing_taken_again_after_put_away_is_omitted() -> None:
    fetch = ["open wooden door", "go east", "open fridge", "take apple from fridge"]
    fuss = ["drop apple", "take apple", "insert apple into fridge", "close fridge", "open fridge"]
    trace, _, task = trial_of(
        [*fetch, *fuss, "take apple from fridge", "go west", "go west", "drop apple", "take apple",
         "put apple on table"]
    )  # fmt: skip
    assert plan_of(read_acts(trace, task)) == [*fetch, "go west", "go west", "put apple on table"]


def test_needed_names_what_it_was_needed_for() -> None:
    trace, _, task = trial_of(DETOUR)
    found = {n.act.action: n.effect.action for n in needed_acts(read_acts(trace, task)) if n.effect}
    assert found["open fridge"] == "take apple from fridge"


def test_things() -> None:
    assert things_of("insert the red apple into fridge") == ["red apple", "fridge"]
    assert things_of("look") == []


# --- certainty ----------------------------------------------------------------------------------


def said(found: Sequence[CausalAbstraction], effect: str) -> list[str]:
    return [str(a).partition('" ')[2] for a in found if a.effect == effect]


def test_certainty_moves_with_evidence_and_back() -> None:
    cause, memory, seen = '"press button" in the hall', [], []
    for reward in (1.0, 1.0, 0.0, 0.0, 1.0):
        memory = abstract_causes(scored("press button", reward), Outcome(), [memory], TASK)
        seen.append(next(str(a) for a in memory if a.effect == SCORING).removeprefix(cause + " "))
    assert seen == [
        "MAY BE NECESSARY TO scoring.",
        "SHOULD BE NECESSARY TO scoring.",
        "MAY BE NECESSARY TO scoring.",
        "MAY NOT CONTRIBUTE TO scoring.",
        "MAY BE NECESSARY TO scoring.",
    ]


def test_doubt_becomes_certain_or_disappears() -> None:
    idle = CausalAbstraction('"press button"', PROGRESS, False)
    once = abstract_causes(scored("press button", 0.0), Outcome(), (), TASK)
    twice = abstract_causes(scored("press button", 0.0), Outcome(), [once], TASK)
    assert once == [idle]
    assert twice == [idle._replace(certain=True)]
    useful = abstract_causes(scored("press button", 1.0), Outcome(), [twice], TASK)
    assert idle in useful
    again = abstract_causes(scored("press button", 1.0), Outcome(), [useful], TASK)
    assert not any(a.effect == PROGRESS for a in again)


def test_learnings_without_new_evidence_stay() -> None:
    before = [
        CausalAbstraction('"open chest" in the attic', SCORING, certain=True),
        CausalAbstraction("Waiting for rain", "growing the plant"),
    ]
    after = abstract_causes(scored("press button", 1.0), Outcome(), [[], before], TASK)
    assert [a for a in after if a in before] == before


WORDS = st.sampled_from(["look", "go east", "go west", "take key", "drop key", "eat key", "x ..."])
STEPS = st.lists(
    st.tuples(WORDS, st.sampled_from([0.0, 0.0, 1.0, -1.0]), st.sampled_from("AB"), st.booleans()),
    max_size=12,
)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(st.tuples(STEPS, st.booleans()), min_size=1, max_size=4))
def test_any_traces(trials: list[tuple[list[tuple[str, float, str, bool]], bool]]) -> None:
    memory: list[CausalAbstraction] = []
    for moves, lost in trials:
        trace = [Step(0, "-= A =-\nA room.", valid_actions=("look",))]
        for t, (action, reward, room, key) in enumerate(moves, 1):
            held = "You are carrying a key." if key else "You are carrying nothing."
            trace.append(Step(t, f"-= {room} =-\nA room.", action, reward, held, ("look", action)))
        before = {(a.cause, a.effect): a for a in memory}
        memory = abstract_causes(trace, Outcome(lost=lost), [memory], TASK)
        assert memory == abstract_causes(trace, Outcome(lost=lost), [list(before.values())], TASK)
        assert len({(a.cause, a.effect) for a in memory}) == len(memory) <= 60
        for a in memory:
            assert CausalAbstraction.parse(str(a)) == a
            known = before.get((a.cause, a.effect))
            if known and known.necessary != a.necessary:  # only by way of doubt
                assert not known.certain
                assert not a.certain
