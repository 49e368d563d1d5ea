"""The manager for verl-agent: its collector's loop over ours, as published in a fork."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from twenty import BUDGET, ENV, MEMORY, Games, observation

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.train.steps import state_prompt
from gym_memory.train.verl import GameManager


def collect(envs: Any, policy: Any, max_steps: int) -> tuple[list[Any], np.ndarray, Any]:
    """Collect trajectories as ``vanilla_multi_turn_loop`` of verl-agent does."""
    obs, infos = envs.reset(kwargs=None)
    places = len(obs["text"])
    done, rewards = np.zeros(places, bool), np.zeros(places, np.float32)
    batches: list[list[Any]] = [[] for _ in range(places)]
    seen: list[list[Any]] = [[] for _ in range(places)]
    for _ in range(max_steps):
        active = np.logical_not(done)
        after, gained, over, infos = envs.step(policy(obs["text"]))
        assert [info["is_action_valid"].dtype for info in infos] == [np.dtype(bool)] * places
        rewards += gained * active
        for i in range(places):
            row = {"active_masks": active[i], "text": obs["text"][i], "anchor": obs["anchor"][i]}
            batches[i].append(row)
            seen[i].append(infos[i])
        done = np.logical_or(done, over)
        obs = after
        if done.all():
            break
    success = envs.success_evaluator(
        total_infos=seen, total_batch_list=batches, episode_rewards=rewards
    )
    return batches, rewards, success


def test_interface_is_that_of_the_published_base() -> None:
    for name in ("reset", "step", "build_text_obs", "projection", "success_evaluator", "close"):
        assert callable(getattr(GameManager, name))
    assert [*inspect.signature(GameManager.step).parameters] == ["self", "text_actions"]


@pytest.mark.slow
def test_players_of_a_group_share_game_and_anchor() -> None:
    envs = GameManager("Fetch?level=easy&max_steps=6", "arigraph", 100, groups=2, group_size=2)
    batches, _, success = collect(envs, lambda texts: ["<action>look</action>"] * 4, 10)
    first = [rows[0] for rows in batches]
    assert first[0] == first[1]
    assert first[2] == first[3]
    assert first[0]["anchor"] != first[2]["anchor"]
    assert [sum(row["active_masks"] for row in rows) for rows in batches] == [6] * 4
    assert success["success_rate"].tolist() == [0.0] * 4
    with pytest.raises(InvalidArgumentError, match="expected 4 replies, got 1"):
        envs.step(["look"])
    envs.close()


@pytest.mark.slow
def test_reply_becomes_the_command_in_its_tags() -> None:
    envs = GameManager("Fetch?level=easy", "none", groups=1)
    envs.reset()
    for reply, command, valid in (
        ("<think>go</think><action> Look </action>", "look", 1),
        ("I think.\nlook", "look", 1),
        ("<action>fly\nhome</action>", "fly home", 0),
        ("", "", 0),
    ):
        assert envs.projection([reply]) == ([command], [valid])
    envs.close()


@pytest.mark.slow
def test_twenty_games_are_those_of_a_run(games: Games) -> None:
    envs = GameManager(ENV, MEMORY, BUDGET, max_actions=None)
    for seed in range(20):
        envs._rng = _Fixed(seed)  # type: ignore[assignment]
        rows = games.recorded[seed].rows
        replies = iter([row["action"] for row in rows[1:]])
        batches, rewards, success = collect(envs, lambda _, left=replies: [next(left)], 10)
        shown = [state_prompt(observation(row), None) for row in rows[:-1]]  # type: ignore[arg-type]
        expected = ["\n\n".join(m["content"] for m in prompt) for prompt in shown]
        assert [row["text"] for row in batches[0]] == expected
        assert success["score"][0] == games.results[seed].result.normalized
        assert rewards[0] == sum(row["reward"] for row in rows)
    envs.close()


class _Fixed:
    """A draw of one game."""

    def __init__(self, index: int):
        self.index = index

    def integers(self, *_: Any, size: int) -> Any:
        return np.full(size, self.index)
