"""EXPLORER's rules: induced by hand, general over names, with exceptions; play and determinism."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from gym_memory.baselines.base import make_policy
from gym_memory.baselines.rl.symbolic import ActionRule, Symbolic, induce
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Observation, Transition, Triple
from gym_memory.run import rollout
from gym_memory.testing.fake_env import FAKE_ID


def literals(text: str) -> frozenset[str]:
    return frozenset(text.split())


def counts(*texts: str) -> Counter[frozenset[str]]:
    return Counter(map(literals, texts))


def kitchen(wanted: str, other: str, *held: str) -> Observation:
    facts = [Triple("you", "is in", "kitchen"), Triple("recipe", "requires", wanted)]
    facts += [Triple(x, "is in", "inventory" if x in held else "kitchen") for x in (wanted, other)]
    valid = tuple(f"take {x}" for x in (other, wanted) if x not in held)
    return Observation(
        text="A kitchen.", task="", inventory=" ".join(held), memory="", triples=tuple(facts),
        episodes=(), lessons=(), valid_actions=(*valid, "wait"),
    )  # fmt: skip


def test_rules_equal_hand_worked_ones() -> None:
    """What two examples share is a body, if few that did not pay have it; else it splits."""
    rules = induce(counts("here wanted red", "here wanted blue"), counts("here red", "here"))
    assert rules == [ActionRule(literals("here wanted"), frozenset(), 2, 0)]
    split = induce(counts("here wanted", "locked key"), counts("here", "here", "locked"))
    assert [(rule.body, rule.right, rule.wrong) for rule in split] == [
        (literals("key locked"), 1, 0),
        (literals("here wanted"), 1, 0),
    ]
    assert induce(counts(), counts("here")) == []


def test_condition_of_failures_alone_is_an_exception() -> None:
    (rule,) = induce(counts("here"), counts("here burnt red", "here burnt blue"))
    assert str(rule) == "here, not burnt"
    assert (rule.right, rule.wrong) == (1, 0)
    assert rule.covers(literals("here red"))
    assert not rule.covers(literals("here burnt"))
    assert str(ActionRule(frozenset(), frozenset(), 1, 0)) == "true"


def test_a_rule_learnt_with_one_food_holds_for_another() -> None:
    policy = Symbolic()
    policy.reset({}, 0)
    before = kitchen("leek", "plum")
    for thing, reward in (("leek", 1.0), ("plum", 0.0)):
        after = kitchen("leek", "plum", thing)
        info: dict[str, Any] = {"moves": 1}
        policy.update(Transition(before, f"take {thing}", reward, after, False, False, info))
    assert str(policy.rules["take <>"][0]) == "1 <requires, 1 @here"
    for seed in range(5):
        policy.reset({}, seed)
        assert policy.act(kitchen("dragon fruit", "zucchini"), {}) == "take dragon fruit"
    assert policy.focus.thought == "rule: 1 <requires, 1 @here"
    assert policy.counters() == {"by_rules": 5, "rules": 1}


def test_a_rule_is_not_followed_twice_in_one_state() -> None:
    policy = Symbolic()
    policy.reset({}, 0)
    here, held = kitchen("leek", "plum"), kitchen("leek", "plum", "leek")
    policy.update(Transition(here, "take leek", 1.0, held, False, False, {"moves": 1}))
    policy.reset({}, 0)
    assert policy.act(here, {}) == "take leek"
    policy.update(Transition(here, "take leek", 0.0, here, False, False, {"moves": 1}))
    policy.act(here, {})
    assert policy.focus.thought == "explore"


@pytest.mark.parametrize("memory", ["none", "arigraph"])
def test_same_seed_plays_the_same(memory: str) -> None:
    def play() -> Any:
        return rollout(gym.make(FAKE_ID, memory=memory), make_policy("symbolic"), 0, policy_seed=3)

    first, again = play(), play()
    assert first.failed == ""
    assert (first.steps, first.score, first.n_invalid) == (again.steps, again.score, 0)


def test_frozen_rules_are_kept_unchanged(tmp_path: Path) -> None:
    learner = Symbolic()
    env = gym.make(FAKE_ID, memory="arigraph")
    for episode in range(3):
        rollout(env, learner, 0, policy_seed=episode)
    assert learner.rules
    learner.save(tmp_path)
    player = make_policy(f"symbolic?checkpoint={tmp_path}")
    assert player.rules == learner.rules
    rollout(env, player, 1)
    assert player.rules == learner.rules
    with pytest.raises(InvalidArgumentError, match="of a trained symbolic"):
        make_policy(f"symbolic?checkpoint={tmp_path / 'none'}")
