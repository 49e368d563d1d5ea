"""Fetch is played by its rules, and its texts are true."""

import gymnasium as gym
import pytest

from gym_memory.baselines import make_policy
from gym_memory.core.errors import UnknownNameError
from gym_memory.games.fetch import Fetch, build
from gym_memory.graph.schema import OPPOSITE
from gym_memory.run import rollout


def mean_score(memory, level="hard", policy="planner", games=6):
    env = gym.make("gym_memory/Fetch-v0", level=level, split="test", memory=memory)
    return sum(rollout(env, make_policy(policy), seed).normalized for seed in range(games)) / games


@pytest.mark.parametrize("level", Fetch.levels)
@pytest.mark.parametrize("split", Fetch.splits)
def test_each_game_can_be_won_within_its_limit(level, split):
    env = Fetch(level, split=split)
    for seed in range(len(env.task_ids)):
        env.reset(seed=seed)
        for action in env.oracle().walkthrough:
            *_, terminated, truncated, info = env.step(action)
        assert terminated
        assert not truncated
        assert info["success"]
        assert info["n_invalid"] == 0


@pytest.mark.slow
def test_memory_decides_the_score():
    assert mean_score("arigraph") == 1.0
    assert mean_score("none") < 0.5


def test_extracted_facts_are_true():
    env = gym.make("gym_memory/Fetch-v0", level="hard", memory="arigraph?lifetime=episode")
    env.reset(seed=3)
    for action in env.get_wrapper_attr("oracle")().walkthrough[:-1]:
        env.step(action)
    true = env.get_wrapper_attr("oracle")().facts
    found = {fact for fact in env.get_wrapper_attr("memory").graph.live() if fact.relation != "is"}
    ours = {fact for fact in found if fact.relation in ("is in", "is on", "has exit")}
    assert len(ours) > 30
    assert ours <= true


def test_houses_are_connected_and_differ():
    houses = [build(f"seed {number}", 20, 6) for number in range(50)]
    assert len(set(map(str, houses))) == 50
    for house in houses:
        seen, todo = set(), [house.start]
        while todo:
            room = todo.pop()
            seen.add(room)
            for way, to in house.exits[room].items():
                assert house.exits[to][OPPOSITE[way]] == room
                todo += [to] if to not in seen else []
        assert len(seen) == 20


def test_an_unknown_level_is_refused():
    with pytest.raises(UnknownNameError, match="expected one of easy, hard, medium"):
        Fetch("impossible")
