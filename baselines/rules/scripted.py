"""Policies that read nothing: the floor (random) and the ceiling (the engine's own solution)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gym_memory.baselines.base import Policy
from gym_memory.baselines.registry import POLICIES
from gym_memory.core.records import Observation

__all__ = ["Random", "Walkthrough"]


@POLICIES.register("random")
class Random(Policy):
    """Pick one of the valid actions, each as likely as any other.

    Args:
        fallback: What to say where no valid action is shown; every text game takes ``look``.
    """

    name: ClassVar[str] = "random"

    def __init__(self, fallback: str = "look"):
        self.fallback = fallback
        self._rng = np.random.default_rng(0)

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Start the episode's own random numbers; without a seed, unpredictable ones."""
        self._rng = np.random.default_rng(seed)

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return a valid action."""
        actions = obs["valid_actions"]
        return actions[self._rng.integers(len(actions))] if actions else self.fallback


@POLICIES.register("walkthrough")
class Walkthrough(Policy):
    """Replay the engine's solution: the upper bound of every score.

    Where the engine has none, and after its end, it plays on at random and counts those steps
    as ``steps_without_walkthrough``, so that a table of such games cannot pass for solved ones.
    """

    name: ClassVar[str] = "walkthrough"
    uses_oracle: ClassVar[bool] = True

    def __init__(self) -> None:
        self._random = Random()
        self._actions: tuple[str, ...] = ()
        self._position = 0
        self._without = 0

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:
        """Get the engine's solution."""
        self._random.reset(info, seed)
        self._actions = self.oracle().walkthrough if self.oracle is not None else ()
        self._position = 0

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the solution's next action."""
        if self._position < len(self._actions):
            self._position += 1
            return self._actions[self._position - 1]
        self._without += 1
        return self._random.act(obs, info)

    def counters(self) -> dict[str, float]:
        """Count the steps played without a solution, over all episodes."""
        return {"steps_without_walkthrough": self._without}
