"""Environments and data for TRL's GRPO trainer; no TRL is imported."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.train.session import Session, task_names
from gym_memory.train.steps import MAX_ACTIONS, opening, turn_text
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY

__all__ = ["TextGame", "environment_factory", "rows"]

TOOL_INSTRUCTIONS = (
    "You are playing a text game. Work towards the task: play one command at a time by calling "
    "the tool `act`, until the game is over."
)


class TextGame:
    """Play one rollout's game; public methods but ``reset`` and ``get_reward`` are tools.

    A turn lists ``max_actions`` valid actions at most; 0 for none, None for all.
    """

    def __init__(
        self,
        env: str,
        memory: str = DEFAULT_MEMORY,
        budget: int = DEFAULT_BUDGET,
        max_actions: int | None = MAX_ACTIONS,
    ):
        self._session = Session(env, memory, budget)
        self._max_actions = max_actions
        self._gained = 0.0

    def reset(
        self,
        split: str = "",
        index: int | None = None,
        seed: int | None = None,
        **row: Any,
    ) -> str:
        """Begin the game of a row, see :func:`rows`; other columns are ignored.

        Args:
            split: Split of the games; empty for the environment's own.
            index: Number of the game in the split.
            seed: Seed of chance; the index by default.
            **row: Other columns.

        Returns:
            The first observation; the trainer adds it to the prompt.
        """
        turn = self._session.reset(split=split, index=index, seed=seed)
        self._gained = 0.0
        return opening(turn.obs, self._max_actions)

    def act(self, command: str) -> str:
        """Play one command of the game.

        Args:
            command: The command, written as the game lists it.

        Returns:
            What happens, and what can be done next.
        """
        if self._session.turn.done:
            raise ValueError("The game is over.")  # what the trainer shows to the model
        turn = self._session.step(command)
        self._gained += turn.reward
        shown = turn_text(turn.obs, self._max_actions)
        return f"{shown}\n\nThe game is over." if turn.done else shown

    def valid_actions(self) -> str:
        """List every command that the game takes now.

        Returns:
            One command a line.
        """
        return "\n".join(self._session.valid_actions())

    def recall(self, question: str) -> str:
        """Ask your memory of this game; it takes no step.

        Args:
            question: What you want to know, such as where a thing is.

        Returns:
            What the memory recalls.
        """
        return self._session.recall(question) or "Nothing is remembered of that."

    def get_reward(self) -> float:
        """Return the normalized score in [0, 1]; the points if the highest score is unknown."""
        info = self._session.turn.info
        return float(info["normalized_score"]) if info["max_score"] > 0 else self._gained


def environment_factory(
    env: str,
    memory: str = DEFAULT_MEMORY,
    budget: int = DEFAULT_BUDGET,
    max_actions: int | None = MAX_ACTIONS,
) -> Callable[[], TextGame]:
    """Return what ``GRPOTrainer(environment_factory=...)`` takes, a maker of :class:`TextGame`."""
    return functools.partial(TextGame, env, memory, budget, max_actions)


def rows(env: str, split: str = "", limit: int | None = None) -> list[dict[str, Any]]:
    """Return rows of a data set, one a task: ``prompt split index seed task_id``."""
    if limit is not None and limit < 1:
        raise InvalidArgumentError(f"expected limit as an int >= 1, got {limit!r}")
    return [
        {
            "prompt": [
                {"role": "system", "content": TOOL_INSTRUCTIONS},
                {"role": "user", "content": ""},
            ],
            "split": split,
            "index": index,
            "seed": index,
            "task_id": name,
        }
        for index, name in enumerate(task_names(env, split)[:limit])
    ]
