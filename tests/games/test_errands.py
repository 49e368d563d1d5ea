"""Errands: the house, its days, what is asked for, what is scored, and a planner that remembers."""

from __future__ import annotations

import itertools

import gymnasium as gym
import pytest

from gym_memory.baselines.base import make_policy
from gym_memory.core.records import Step, Task
from gym_memory.games.textworld.errands import Errands, plan_life
from gym_memory.games.textworld.games import SPLITS, entries, generate
from gym_memory.run.loop import rollout

LEVELS = ("short", "long")


@pytest.fixture(scope="module", params=LEVELS)
def lives(request):
    settings = Errands.levels[request.param]
    return settings, [plan_life(settings, seed)[0] for seed in range(40)]


@pytest.mark.slow
def test_house_has_the_stated_size(lives):
    settings, found = lives
    for life in found:
        assert len(life.rooms) == len(life.grid.distances(life.start)) == settings["rooms"]
        assert len(set(life.rooms.values())) == settings["rooms"]
        assert len(set(life.furniture.values())) == settings["furniture"]
        assert len(life.days) == settings["days"]
        for day in life.days:
            assert len(day.places) == settings["things"]
            assert set(day.places.values()) <= set(life.furniture.values())


def test_long_is_longer_than_a_transcript_that_fits():
    level = Errands.levels["long"]
    assert level["rooms"] >= 60
    assert level["steps"] >= 1000
    for split in SPLITS:
        assert len(entries("errands", Errands.generator, "long", split)) == Errands.sizes[split]


def test_no_name_is_ambiguous(lives):
    """The parser keeps nine letters of a word and takes any words of a name for it."""
    _, found = lives
    for life in found:
        names = [*life.furniture.values(), *life.days[0].places]
        words = [frozenset(word[:9] for word in name.split()) for name in names]
        assert not any(a <= b for a, b in itertools.permutations(words, 2))


def test_night_restores_completes_and_moves_to_neighbours(lives):
    settings, found = lives
    moved = 0
    for life in found:
        where = {piece: cell for cell, piece in life.furniture.items()}
        for day, following in itertools.pairwise(life.days):
            evening = {**day.places, **{errand.thing: errand.holder for errand in day.errands}}
            changed = [thing for thing in evening if evening[thing] != following.places[thing]]
            moved += len(changed)
            assert len(changed) <= settings["moved"]
            for thing in changed:
                near = life.grid[where[evening[thing]]].values()
                assert where[following.places[thing]] in near
    assert moved > len(found)


def test_errands_have_all_three_forms(lives):
    settings, found = lives
    back = what = 0
    for life in found:
        first = life.days[0].places
        for number, day in enumerate(life.days):
            things = [errand.thing for errand in day.errands]
            assert len(set(things)) == len(things) == settings["errands"]
            for text, thing, holder in day.errands:
                assert day.places[thing] != holder or " back to " in text
                assert number or text == f"Bring the {thing} to the {holder}."
                if " back to " in text:
                    back += 1
                    assert text == f"Bring the {thing} back to where it stood on the first day."
                    assert holder == first[thing]
                elif "what stood" in text:
                    what += 1
                    assert thing not in text
                    assert [t for t in first if f"on the {first[t]} on" in text] == [thing]
    assert back > len(found)
    assert what > len(found)


@pytest.mark.slow
def test_walkthroughs_leave_room_for_looking_around():
    lengths = [len(plan_life(Errands.levels["long"], seed)[0].walkthrough()) for seed in range(40)]
    assert sorted(lengths)[20] < 800


@pytest.mark.slow
def test_games_respect_the_constraints_of_textworld():
    from textworld.generator.maker import get_failing_constraints

    game = generate(Errands, Errands.levels["short"], "train", 0)
    assert not get_failing_constraints(game.world.state, game.kb)


@pytest.fixture
def env():
    env = Errands("short", "train")
    yield env
    env.close()


def test_seeds_of_tables_are_kept_out_of_the_tests():
    with pytest.raises(AssertionError, match="for tables only"):
        Errands("short", "test").reset(seed=1000)
    with pytest.raises(AssertionError, match="for tables only"):
        Errands("short", "held_out").reset(seed=0)


def test_the_walkthrough_does_every_errand_once(env):
    obs, info = env.reset(seed=0)
    days, rewards = 1, []
    for action in env.oracle().walkthrough:
        asked = obs["task"]
        obs, reward, terminated, truncated, info = env.step(action)
        days += f"Day {days + 1} begins." in obs["text"]
        rewards.append(reward)
        assert (reward == 1) == ("Your errand is done." in obs["text"])
        assert reward == 0 or terminated or obs["task"] != asked
    assert (terminated, truncated, info["success"]) == (True, False, True)
    assert days == 3
    assert sorted(set(rewards)) == [0, 1]
    assert sum(rewards) == info["score"] == info["max_score"] == 9
    assert info["normalized_score"] == 1


def test_an_errand_that_takes_too_long_is_taken_away(env):
    obs, _ = env.reset(seed=0)
    patience, errands = env.levels["short"]["patience"], 3 * 3
    for number in range(1, errands + 1):
        asked = obs["task"]
        for _ in range(patience):
            assert obs["task"] == asked
            obs, reward, terminated, truncated, info = env.step("look")
            assert reward == 0
            if terminated or truncated:
                break
        if truncated:
            break
        assert "Your errand took too long." in obs["text"], number
    assert (truncated, info["score"], info["moves"]) == (True, 0, env.max_steps)


def test_day_is_independent_of_earlier_actions(env):
    """Begin each day with empty hands, too."""
    _, info = env.reset(seed=0)
    walkthrough = env.oracle().walkthrough
    snapshot = None
    while env.tally.day == 0:
        obs, *_ = env.step(walkthrough[info["moves"]])
        info["moves"] += 1
    done = env.oracle().facts
    env.reset(seed=0)
    while env.tally.day == 0:
        takes = [action for action in env.valid_actions() if action.startswith("take ")]
        if env.tally == (0, 1, 5, 0):
            snapshot = env.snapshot()
        obs, *_ = env.step(takes[0] if takes else "look")
    assert env.oracle().facts == done
    assert obs["inventory"] == "You are carrying nothing."
    again, _ = env.restore(snapshot)  # into the day before
    assert env.tally == (0, 1, 5, 0)
    assert again["task"] != obs["task"]
    assert env.oracle().facts != done


def test_text_of_errands_gives_no_fact_of_the_house(env):
    from gym_memory.games.textworld.rules import TextWorldRules
    from gym_memory.graph import TemporalGraph

    obs, _ = env.reset(seed=0)
    task, opening = Task("t", obs["task"], "textworld"), env.opening()
    facts = [
        TextWorldRules().extract(Step(0, text, inventory=obs["inventory"]), TemporalGraph(), task)
        for text in (obs["text"], obs["text"].replace(opening, ""))
    ]
    assert opening in obs["text"]
    assert [m.triple for m in facts[0].mentions] == [m.triple for m in facts[1].mentions]
    assert all("errand" not in " ".join(m.triple) for m in facts[0].mentions)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("memory", "least", "most"),
    [("arigraph", 8, 9), ("history?full=true", 8, 9), ("none", 0, 2), ("summary", 3, 7)],
)
def test_planner_runs_errands_from_memory(memory, least, most):
    env = gym.make("gym_memory/Errands-v0", level="short", split="train", memory=memory)
    with env:
        result = rollout(env, make_policy("planner"), 0)
    assert least <= result.score <= most
