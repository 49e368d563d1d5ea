"""The policy protocol of the one loop, for LLM, RL and scripted agents and for people."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Observation, PlanState, Transition

__all__ = ["Act", "Player", "Policy"]


Act = Callable[[Observation, dict[str, Any]], str]
"""The smallest policy: observation and info in, action out."""


class Policy(ABC):
    """Play by the observation: ``reset`` starts an episode, ``act`` and ``update`` follow a step.

    The action is a text, one of ``obs["valid_actions"]`` or another.
    """

    name: ClassVar[str] = ""
    uses_oracle: ClassVar[bool] = False
    """Whether the policy needs engine facts; the loop then sets ``oracle`` before ``reset``."""
    oracle: Any = None
    """A callable that returns the environment's Oracle; set only where ``uses_oracle``."""
    keep_state: Any = None
    """A callable that keeps the present state; set only where a protocol lets policies go back."""
    focus: PlanState = PlanState()
    """What the policy plans now; the loop hands it to the memory, which is steered by its aim."""

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:  # noqa: B027
        """Start an episode; ``seed`` is the only source of the policy's own chance."""

    def back(self) -> Any:
        """Return a snapshot to go back to before the next action; None plays on."""
        return None

    @abstractmethod
    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the next action."""

    def update(self, transition: Transition) -> None:  # noqa: B027
        """Learn from the step just made."""

    def save(self, path: str | os.PathLike[str]) -> None:  # noqa: B027
        """Write what was learnt; policies without anything to keep write nothing."""

    def load(self, path: str | os.PathLike[str]) -> None:  # noqa: B027
        """Read what :meth:`save` wrote."""


class Player(Policy):
    """Play by a function ``act(obs, info)``, or by an object with that method.

    Of an object, ``reset``, ``update``, ``counters`` and ``focus`` are used where it has them.
    """

    def __init__(self, player: Any):
        self._player, self._act = player, getattr(player, "act", player)
        if not callable(self._act):
            raise InvalidArgumentError(
                "expected a policy: act(obs, info) -> str or an object with that method, got "
                f"{player!r:.80}"
            )
        for name in ("reset", "update", "counters"):
            if hasattr(player, name):
                setattr(self, name, getattr(player, name))

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return what the player answers."""
        action: str = self._act(obs, info)
        self.focus = getattr(self._player, "focus", self.focus)
        return action
