"""The policy protocol: what the one loop asks of an agent, LLM or RL, script or person."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from gym_memory.core.records import Observation, PlanState, Transition

__all__ = ["Policy"]


class Policy(ABC):
    """Base of all policies.

    The loop calls ``reset`` once an episode, then ``act`` and ``update`` at every step. A policy
    returns an action as text; it may choose one of ``obs["valid_actions"]`` or write its own.
    """

    name: ClassVar[str] = ""
    uses_oracle: ClassVar[bool] = False
    """Whether the policy needs engine facts; the loop then sets ``oracle`` before ``reset``."""
    oracle: Any = None
    """A callable that returns the environment's Oracle; set only where ``uses_oracle``."""
    focus: PlanState = PlanState()
    """What the policy plans now; the loop hands it to the memory, which is steered by its aim."""

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:  # noqa: B027
        """Start an episode.

        Args:
            info: The info of the environment's reset.
            seed: Seed for the policy's own chance; no other source is used.
        """

    @abstractmethod
    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """The next action."""

    def update(self, transition: Transition) -> None:  # noqa: B027
        """Learn from the step just made; most policies do nothing."""

    def save(self, path: str | os.PathLike[str]) -> None:  # noqa: B027
        """Write what was learnt; policies without anything to keep write nothing."""

    def load(self, path: str | os.PathLike[str]) -> None:  # noqa: B027
        """Read what :meth:`save` wrote."""
