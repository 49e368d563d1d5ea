"""The policy protocol, and the registry of policies."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from gym_memory.core import components
from gym_memory.core.errors import InvalidArgumentError, defined_at
from gym_memory.core.names import Registry, Spec
from gym_memory.core.records import Observation, PlanState, Substitute, Transition
from gym_memory.core.settings import check_known

__all__ = ["POLICIES", "Act", "Player", "Policy", "learner_classes", "make_policy"]


Act = Callable[[Observation, dict[str, Any]], str]
"""A policy: observation and info in, action out."""


class Policy(ABC):
    """A player of episodes: ``reset`` starts one, then ``act`` and ``update`` alternate.

    An action is a text, which need not be in ``obs["valid_actions"]``.
    """

    uses_oracle: ClassVar[bool] = False
    """True if the policy needs engine facts; the loop then sets ``oracle`` before ``reset``."""
    oracle: Any = None
    """A function that returns the environment's Oracle; set only if ``uses_oracle``."""
    keep_state: Any = None
    """A function that saves the present state; set only if the protocol can restore states."""
    substitute: Substitute | None = None
    """Reason if the policy's model did not decide the last action; else None."""
    focus: PlanState = PlanState()
    """Plan, which the loop passes to the memory; its aim guides the recall."""

    def reset(self, info: dict[str, Any], seed: int | None = None) -> None:  # noqa: B027
        """Start an episode; ``seed`` is the only source of randomness."""

    def back(self) -> Any:
        """Return a snapshot to restore before the next action; None to continue."""
        return None

    @abstractmethod
    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the next action."""

    def update(self, transition: Transition) -> None:  # noqa: B027
        """Learn from the last step."""

    def save(self, path: str | os.PathLike[str]) -> None:  # noqa: B027
        """Write the learned state, if any."""

    def load(self, path: str | os.PathLike[str]) -> None:  # noqa: B027
        """Read what :meth:`save` wrote."""


class Player(Policy):
    """A policy from a function ``act(obs, info)``, or from an object with that method.

    If an object has ``reset``, ``update``, ``counters`` or ``focus``, they are used.
    """

    def __init__(self, player: Any):
        self._player, self._act = player, getattr(player, "act", player)
        if not callable(self._act):
            raise InvalidArgumentError(
                "expected a policy: act(obs, info) -> str or an object with that method, got "
                f"{player!r:.80}"
            )
        _check_takes_step(self._act)
        for name in ("reset", "update", "counters"):
            if hasattr(player, name):
                setattr(self, name, getattr(player, name))

    def act(self, obs: Observation, info: dict[str, Any]) -> str:
        """Return the player's answer."""
        action: str = self._act(obs, info)
        if not isinstance(action, str | int | np.generic | np.ndarray):  # numbers: IndexActions
            place = defined_at("act", self._act)
            raise InvalidArgumentError(
                f"expected act to return an action, got {action!r:.60}{place}"
            )
        self.focus = getattr(self._player, "focus", self.focus)
        return action


def _check_takes_step(act: Any) -> None:
    """Refuse a function that cannot be called with an observation and an info."""
    try:
        signature = inspect.signature(act)
    except (TypeError, ValueError):  # objects from C have no signature
        return
    try:
        signature.bind(None, None)
    except TypeError as error:
        raise InvalidArgumentError(
            f"expected a policy that is called as act(obs, info), got act{signature}: {error}"
            f"{defined_at('act', act)}"
        ) from error


# ------------------------------------------------------------ the table

POLICIES = Registry("policy", "gym_memory.policies", components.POLICIES)
"""Registry of policies; other packages add theirs by the entry point ``gym_memory.policies``."""


def make_policy(spec: str | Policy | Act) -> Policy:
    """Build a policy from a name with parameters, or from a function ``act(obs, info)``.

    A policy is returned unchanged. A name may also refer to such a function, whose further
    arguments are the parameters.
    """
    player: Any = spec
    if isinstance(spec, str):
        parsed = Spec(spec)
        target = POLICIES.get(parsed.name)
        if _acts(target):
            settings = functools.partial(target, None, None)  # without obs and info
            check_known(f"policy {parsed.name!r}", settings, parsed.kwargs)
            player = functools.partial(target, **parsed.kwargs)
        else:
            player = POLICIES.make(parsed)
    return player if isinstance(player, Policy) else Player(player)


def _acts(target: Any) -> bool:
    """True for ``act(obs, info)``; classes and factories need no argument."""
    parameters = inspect.signature(target).parameters.values()
    needed = [p for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    return not isinstance(target, type) and len(needed) == 2


def learner_classes() -> dict[str, Any]:
    """Return the learners for ``gym-memory train`` whose packages are installed."""
    found = {}
    for name in POLICIES.names():
        with contextlib.suppress(ImportError):
            found[name] = getattr(POLICIES.get(name), "learner_class", None)
    return {name: learner for name, learner in found.items() if learner is not None}
