"""An environment manager for verl-agent and its forks, with the memory in the prompt.

It has the methods of their ``EnvironmentManagerBase`` and imports nothing of theirs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from gym_memory.baselines.llm.answers import match_action
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.settings import check_int
from gym_memory.train.session import GameTurn, Session, task_names
from gym_memory.train.steps import MAX_ACTIONS, anchor, state_prompt
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY

__all__ = ["GameManager"]

_ACTION = re.compile(r"<action>(.*?)</action>", re.DOTALL | re.IGNORECASE)


class GameManager:
    """Games side by side, in groups that play the same one.

    Args:
        env: An environment, ``Cooking?level=rl-1``.
        memory: A memory with optional parameters.
        budget: Tokens that the recalled memory may take.
        groups: Games at once, >= 1.
        group_size: Players of each game, >= 1; their places follow each other.
        split: Split of the games; empty for the environment's own.
        seed: Seed of the draw of games.
        max_actions: Valid actions that a prompt lists, at most; None for all.
    """

    def __init__(
        self,
        env: str,
        memory: str = DEFAULT_MEMORY,
        budget: int = DEFAULT_BUDGET,
        *,
        groups: int = 1,
        group_size: int = 1,
        split: str = "",
        seed: int = 0,
        max_actions: int | None = MAX_ACTIONS,
    ):
        self._groups = check_int("groups", groups, 1)
        self._size = check_int("group_size", group_size, 1)
        self._split, self._max_actions = split, max_actions
        self._count = len(task_names(env, split))
        self._rng = np.random.default_rng(seed)
        places = self._groups * self._size
        self._sessions = [Session(env, memory, budget, isolate="process") for _ in range(places)]
        self._pool = ThreadPoolExecutor(places)

    def reset(self, kwargs: Any = None) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Begin new games; forks that pass data of their own to it are answered the same."""
        drawn = self._rng.integers(self._count, size=self._groups)
        games = np.repeat(drawn, self._size)

        def begin(session: Session, index: int) -> GameTurn:
            return session.reset(split=self._split, index=int(index))

        turns = list(self._pool.map(begin, self._sessions, games))
        return self._observations(turns), [dict(turn.info) for turn in turns]

    def step(
        self, text_actions: Sequence[str]
    ) -> tuple[dict[str, Any], np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Play a reply in each game; one that is over stays as it is, with reward 0."""
        if len(text_actions) != len(self._sessions):
            raise InvalidArgumentError(
                f"expected {len(self._sessions)} replies, got {len(text_actions)}"
            )
        commands, valid = self.projection(text_actions)

        def play(session: Session, command: str) -> GameTurn:
            if session.turn.done:
                return session.turn._replace(reward=0.0)
            return session.step(command)

        turns = list(self._pool.map(play, self._sessions, commands))
        infos = [
            {**turn.info, "is_action_valid": np.array(bool(ok))}
            for turn, ok in zip(turns, valid, strict=True)
        ]
        rewards = np.array([turn.reward for turn in turns], np.float32)
        return self._observations(turns), rewards, np.array([turn.done for turn in turns]), infos

    def projection(self, text_actions: Sequence[str]) -> tuple[list[str], list[int]]:
        """Return the command in each reply, and 1 where the game lists it."""
        commands, valid = [], []
        for reply, session in zip(text_actions, self._sessions, strict=True):
            found = _ACTION.findall(reply)
            lines = [line for line in reply.splitlines() if line.strip()]
            said = " ".join((found or lines or [""])[-1].split())
            known = match_action(said, session.turn.obs["valid_actions"])
            commands.append(known or said)
            valid.append(int(bool(known)))
        return commands, valid

    def build_text_obs(self, turns: Sequence[GameTurn]) -> list[str]:
        """Return the prompt of each state: task, memory, inventory, text, valid actions."""
        prompts = (state_prompt(turn.obs, self._max_actions) for turn in turns)
        return ["\n\n".join(message["content"] for message in prompt) for prompt in prompts]

    def success_evaluator(
        self,
        total_infos: Sequence[Sequence[Mapping[str, Any]]],
        total_batch_list: Sequence[Sequence[Mapping[str, Any]]],
        **others: Any,
    ) -> dict[str, np.ndarray]:
        """Return success and normalized score of each trajectory, at its last active step."""
        last = [
            next(i for i, item in reversed([*enumerate(batch)]) if item["active_masks"])
            for batch in total_batch_list
        ]
        infos = [total_infos[place][step] for place, step in enumerate(last)]
        return {
            "success_rate": np.array([float(bool(info["won"])) for info in infos]),
            "score": np.array([float(info["normalized_score"] or 0.0) for info in infos]),
        }

    def close(self) -> None:
        """Close the games."""
        for session in self._sessions:
            session.close()
        self._pool.shutdown()

    def _observations(self, turns: Sequence[GameTurn]) -> dict[str, Any]:
        anchors = [anchor(t.obs["task"], t.obs["text"], t.obs["inventory"]) for t in turns]
        return {"text": self.build_text_obs(turns), "image": None, "anchor": anchors}
