"""The reward of a step is a feature of every learner, unless hidden from the memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from manifest.train import LEARNERS

from gym_memory.core.records import playable
from gym_memory.testing.fake_env import FakeHouse
from gym_memory.wrappers import IndexActions, MemoryObservation

pytest.importorskip("torch", reason="needs the extra rl")
load_player = pytest.importorskip("gym_memory.baselines.rl.players").load_player

pytestmark = pytest.mark.slow

SHIPPED = {
    "drrn": "drrn:DrrnLearner",
    "gata": "gata:GataLearner",
    "ltl-gata": "ltl_gata:LtlGataLearner",
    "text": "text:TextLearner",
}


def paid(memory: str) -> tuple[Any, dict[str, Any]]:
    """Play a house up to the first reward; return the observation and info."""
    env = MemoryObservation(FakeHouse(), memory)
    env.reset(seed=1)
    for action in env.get_wrapper_attr("oracle")().walkthrough:
        obs, reward, terminated, _, info = env.step(action)
        if reward:
            break
    assert reward == 1
    assert not terminated
    return obs, info


def class_of(name: str) -> Any:
    module, _, kind = SHIPPED[name].partition(":")
    return getattr(pytest.importorskip(f"gym_memory.baselines.rl.{module}"), kind)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("memory", ["arigraph", "none"])
def test_learner_sees_the_reward_of_a_step(name: str, memory: str) -> None:
    learner = LEARNERS[name]()
    obs, info = paid(memory)
    bare = learner.pack(learner.see(obs, "game"))
    assert learner.pack(learner.see(playable(obs, info), "game")) != bare
    obs, info = paid(f"{memory}?rewards=hidden")
    bare = learner.pack(learner.see(obs, "game"))
    assert learner.pack(learner.see(playable(obs, info), "game")) == bare


def test_text_reader_learns_from_the_reward_of_step() -> None:
    learner = LEARNERS["text"]()
    obs, info = paid("none")
    learner.read([learner.see(playable(obs, info))]).max().backward()
    assert learner.network.earned.grad.abs().sum() > 0


def test_numbered_features_have_the_reward_of_a_step() -> None:
    sb3 = pytest.importorskip("gym_memory.baselines.rl.sb3", reason="needs the extra sb3")
    states = []
    for setting in ("", "?rewards=hidden"):
        env = sb3.RelationFeatures(
            IndexActions(MemoryObservation(FakeHouse(), f"arigraph{setting}"), 24), ()
        )
        _, info = env.reset(seed=1)
        reward = 0.0
        way = list(env.get_wrapper_attr("oracle")().walkthrough)
        while not reward:
            valid = env.get_wrapper_attr("valid_actions")()
            seen, reward, *_, info = env.step(np.int64(valid.index(way.pop(0))))
        assert info["earned"] == (0.0 if setting else 1.0)
        states.append(set(seen["state"].tolist()))
    shown, hidden = states
    assert hidden < shown
    assert len(shown - hidden) == 1


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_player_plays_as_it_was_trained(name: str) -> None:
    obs, info = paid("arigraph")
    learner = load_player("shipped", class_of(name))
    chosen = [learner.see(shown) for shown in (obs, playable(obs, info))]
    table = learner.read if name == "text" else learner.values
    one, other = (table([seen]) for seen in chosen)
    if name == "text":
        one, other = one.detach(), other.detach()
    assert np.array_equal(np.array(one), np.array(other))
