"""Which games the doors for trainers are tried with."""

from __future__ import annotations

from typing import Any, NamedTuple

from gym_memory.run.config import EpisodeRow
from gym_memory.train.steps import Played

ENV, MEMORY, BUDGET = "Cooking?level=rl-1&max_steps=10&split=train", "arigraph", 200


class Games(NamedTuple):
    """The recorded episodes and their results, by seed."""

    recorded: dict[int, Played]
    results: dict[int, EpisodeRow]


def observation(row: Any) -> dict[str, Any]:
    """What prompts show of a recorded step."""
    keys = ("text", "task", "inventory", "memory")
    valid = tuple(row.get("valid_actions", ()))
    return {k: row.get(k, "") for k in keys} | {"valid_actions": valid}
