"""Prompts of constant size, and the policy that plays with them."""

from __future__ import annotations

import numpy as np
import pytest

from gym_memory.baselines.base import make_policy
from gym_memory.llm import Message, Reply, Request
from gym_memory.memory.base import count_tokens
from gym_memory.train.session import Session
from gym_memory.train.steps import PromptedPolicy, opening, state_prompt, turn_text

pytestmark = pytest.mark.slow

pytest.importorskip("textworld")


def test_prompt_of_step_150_costs_like_step_10() -> None:
    session = Session("TreasureHunt?level=hard&max_steps=160", "arigraph", 200)
    rng = np.random.default_rng(0)
    turn = session.reset(seed=0)
    grown, state, appended = opening(turn.obs), [], []
    while len(state) < 153:
        state.append(sum(count_tokens(m["content"]) for m in state_prompt(turn.obs)))
        appended.append(count_tokens(grown))
        valid = turn.obs["valid_actions"]
        turn = session.step(valid[int(rng.integers(len(valid)))])
        grown += turn_text(turn.obs)
    assert np.mean(state[148:153]) <= 1.2 * np.mean(state[8:13])
    assert np.mean(appended[148:153]) > 5 * np.mean(appended[8:13])


class Echo:
    """Answers with the last valid action that the prompt lists, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[Message]] = []

    def complete(self, request: Request) -> Reply:
        self.asked.append(list(request.messages))
        return Reply(request.messages[-1]["content"].rpartition("- ")[2].upper())


def test_policy_uses_the_prompt_of_training() -> None:
    model = Echo()
    policy = PromptedPolicy(model, max_actions=5)
    session = Session("Cooking?level=rl-1", "history")
    turn = session.reset(seed=0)
    policy.reset(turn.info, 0)
    for _ in range(3):
        action = policy.act(turn.obs, turn.info)
        assert action in turn.obs["valid_actions"]
        assert model.asked[-1] == state_prompt(turn.obs, 5)
        turn = session.step(action)
    assert policy.counters() == {"fallbacks": 0, "invalid_actions": 0}
    assert isinstance(
        make_policy("prompted?model=x&base_url=http://127.0.0.1:9/v1"), PromptedPolicy
    )


def test_resets_without_seed_draw_different_tasks() -> None:
    session = Session("Cooking?level=rl-1", "none")
    drawn = {session.reset().info["task_id"] for _ in range(8)}
    assert len(drawn) > 1
    assert session.reset(index=3).info["task_id"].endswith("/3")
    session.env.close()
