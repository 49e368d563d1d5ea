"""The loop: observations, counters, and ends."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

from gym_memory.baselines.base import Policy
from gym_memory.baselines.scripted import Random, Walkthrough
from gym_memory.core.records import Cue, Recall
from gym_memory.memory.history import History
from gym_memory.run import EpisodeResult, rollout
from gym_memory.testing.fake_env import FAKE_ID, RAW_ID
from gym_memory.wrappers.memory import MemoryObservation


class Script(Policy):
    """A policy that gives prepared actions and keeps its observations."""

    name = "script"

    def __init__(self, *lines: str):
        self.lines = lines
        self.seen: list[Any] = []
        self.transitions: list[Any] = []
        self.resets: list[Any] = []

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        self.resets.append((info["task_id"], seed))

    def act(self, obs: Any, info: dict[str, Any]) -> str:
        self.seen.append((obs["text"], info["moves"]))
        self.focus = f"plan {info['moves']}"
        return self.lines[info["moves"] % len(self.lines)]

    def update(self, transition: Any) -> None:
        self.transitions.append(transition)


def clockless(result: EpisodeResult) -> dict[str, Any]:
    return {k: v for k, v in vars(result).items() if k not in EpisodeResult.CLOCKS}


def test_walkthrough_wins_in_the_result() -> None:
    env = gym.make(FAKE_ID, memory="none")
    result = rollout(env, Walkthrough(), 0)
    assert (result.score, result.max_score, result.normalized) == (2, 2, 1)
    assert result.success
    assert not result.lost
    assert result.n_invalid == 0
    assert result.steps == len(env.get_wrapper_attr("oracle")().walkthrough)
    assert result.curve[0] == (0, 0.0)
    assert result.curve[-1] == (result.steps, 1.0)
    assert [score for _, score in result.curve] == [0.0, 0.5, 1.0]
    assert (result.task_id, result.split) == ("fakehouse/train/0", "train")
    assert result.backend_version == "fakehouse 1"
    assert result.failed == ""


def test_transitions_are_a_chain() -> None:
    policy = Script("look", "go north", "nonsense")
    result = rollout(gym.make(FAKE_ID, memory="history", max_steps=7), policy, 0)
    assert result.steps == len(policy.transitions) == 7
    assert result.n_invalid == sum(not t.info["is_action_valid"] for t in policy.transitions) > 0
    for before, after in zip(policy.transitions, policy.transitions[1:], strict=False):
        assert before.next_obs is after.obs
    assert [t.truncated for t in policy.transitions] == [False] * 6 + [True]
    assert [t.action for t in policy.transitions[:3]] == ["look", "go north", "nonsense"]
    assert policy.resets == [("fakehouse/train/0", 0)]


def test_the_focus_reaches_the_memory_before_the_step() -> None:
    env = gym.make(FAKE_ID, memory="none", max_steps=4)
    focuses = []
    memory = env.get_wrapper_attr("memory")
    recall = memory.recall
    memory.recall = lambda cue, budget: (focuses.append(cue.focus), recall(cue, budget))[1]
    rollout(env, Script("look"), 0)
    assert focuses == ["", "plan 0", "plan 1", "plan 2", "plan 3"]


def test_only_declared_memories_get_the_oracle() -> None:
    honest, cheat = Script("look"), Walkthrough()
    env = gym.make(FAKE_ID, memory="none", max_steps=3)
    rollout(env, honest, 0)
    rollout(env, cheat, 0)
    assert honest.oracle is None
    assert cheat.oracle().walkthrough


def test_an_environment_without_memory_plays_too() -> None:
    result = rollout(gym.make(RAW_ID), Walkthrough(), 3)
    assert result.success
    assert result.tokens == result.memory_ms == 0


def test_limit_truncates_the_episode_and_informs_the_policy() -> None:
    policy = Script("look")
    result = rollout(gym.make(FAKE_ID, memory="none"), policy, 0, limit=5)
    assert result.steps == 5
    assert policy.transitions[-1].truncated
    assert not policy.transitions[-2].truncated


def test_win_on_the_last_allowed_step_is_a_win() -> None:
    env = gym.make(FAKE_ID, memory="none")
    steps = rollout(env, Walkthrough(), 0).steps
    assert rollout(env, Walkthrough(), 0, limit=steps).success
    assert not rollout(env, Walkthrough(), 0, limit=steps - 1).success


def test_a_task_can_be_pinned() -> None:
    env = gym.make(FAKE_ID, memory="none", max_steps=2)
    for seed in (0, 1):
        result = rollout(env, Random(), seed, task_id="fakehouse/train/5")
        assert result.task_id == "fakehouse/train/5"


def test_same_seed_same_episode_and_another_policy_seed_another() -> None:
    def play(seed: int, policy_seed: int | None = None) -> dict[str, Any]:
        env = gym.make(FAKE_ID, memory="history")
        actions: list[str] = []
        policy = Random()
        policy.update = lambda t: actions.append(t.action)  # type: ignore[method-assign]
        result = rollout(env, policy, seed, policy_seed=policy_seed)
        return {**clockless(result), "actions": actions}

    assert play(4) == play(4)
    assert play(4)["actions"] != play(4, policy_seed=5)["actions"]


def test_counters_cover_only_the_episode() -> None:
    class Spender(Script):
        spent = 0.0

        def act(self, obs: Any, info: dict[str, Any]) -> str:
            self.spent += 0.5
            return super().act(obs, info)

        def counters(self) -> dict[str, float]:
            return {"cost_usd": self.spent, "calls": self.spent * 2}

    env, policy = gym.make(FAKE_ID, memory="none", max_steps=3), Spender("look")
    for _ in range(2):
        result = rollout(env, policy, 0)
        assert result.cost_usd == pytest.approx(1.5)
        assert result.counters == {"calls": 3.0}


def test_tokens_are_those_shown_on_average() -> None:
    env, shown = gym.make(FAKE_ID, memory="history", max_steps=10), []
    result = rollout(
        env, Script("look"), 0, on_step=lambda t, info: shown.append((t, info["memory_stats"]))
    )
    assert [t for t, _ in shown] == list(range(11))
    assert result.tokens == pytest.approx(sum(stats.tokens for _, stats in shown) / 11)
    assert result.tokens > 0


def test_recall_over_budget_is_noted() -> None:
    class Wide(History):
        def recall(self, cue: Cue, budget: int) -> Recall:
            return super().recall(cue, 1000)

    notes = []
    for budget in (5, 1000):
        env = MemoryObservation(gym.make(RAW_ID, max_steps=3), "none", budget)
        env.memory = Wide()
        notes.append(rollout(env, Script("look"), 0).notes)
    assert notes == [("Wide recalls more than its budget: such recalls are shown empty",), ()]


def test_errors_pass_through() -> None:
    with pytest.raises(Exception, match="fell down at move 2"):
        rollout(gym.make(FAKE_ID, memory="none", fail_at=2), Script("look"), 0)
