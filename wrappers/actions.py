"""Transforms of the action: numbers of valid actions (IndexActions), walks (Navigate)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex, TypeVar, get_args

import gymnasium as gym
import numpy as np

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Observation
from gym_memory.core.settings import check_flag, check_int, check_name, check_text
from gym_memory.games.spaces import check_keys
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import Leg, current_place, route, visited_places
from gym_memory.graph.schema import PLAYER, direction_of

__all__ = ["NO_OP", "IndexActions", "Navigate", "keep_evenly"]

Obs = dict[str, Any]
Item = TypeVar("Item")

Invalid = Literal["noop", "error", "mask"]
"""Possible effects of a number without a valid action."""

NO_OP = "look"
"""Only action offered in a state without valid actions."""
GO_TO = "go to "


def keep_evenly(items: Sequence[Item], limit: int) -> tuple[Item, ...]:
    """Return at most ``limit`` items, evenly spaced, so that commands of every kind remain.

    >>> keep_evenly(["drop a", "drop b", "go east", "go west", "take c", "take d"], 3)
    ('drop a', 'go east', 'take c')
    """
    n = len(items)
    return tuple(items) if n <= limit else tuple(items[i * n // limit] for i in range(limit))


class IndexActions(gym.Wrapper[Obs, np.int64, Obs, str], gym.utils.RecordConstructorArgs):
    """Actions by number: action ``i`` is the i-th entry of the observation's ``valid_actions``.

    If there are more than ``max_actions``, an evenly spaced selection in the environment's order is
    kept, also in the observation. If there are none, the only entry is ``no_op``, so a mask is
    never all false. ``invalid`` says what a number without an entry does.
    Info: ``action_mask``, int8 of shape (max_actions,), 1 where there is an entry; ``n_valid``,
    the valid actions of the state; ``n_valid_dropped``, those without a number; ``masked_action``,
    True if the number played had no entry. The first state with dropped actions is a warning of
    Gymnasium's logger. An environment made with ``valid_actions=False`` lists them all the same.

    Args:
        env: An environment with text actions and ``valid_actions`` in its observation.
        max_actions: Numbers to offer, >= 1. SB3 wants few: 256 is a sensible ceiling.
        no_op: The action offered where there is none.
        invalid: ``noop`` costs a step and counts as an invalid action; ``error`` raises;
            ``mask`` plays the entry at that number modulo the number of entries.
    """

    def __init__(
        self,
        env: gym.Env[Any, str],
        max_actions: int = 128,
        no_op: str = NO_OP,
        invalid: Invalid = "noop",
    ):
        check_keys("IndexActions", env, ("valid_actions",), "wrap a text environment")
        if not isinstance(env.action_space, gym.spaces.Text):
            raise InvalidArgumentError(
                f"IndexActions: expected text actions, got {env.action_space}: wrap it only once"
            )
        check_int("max_actions", max_actions, 1)
        check_text("no_op", no_op)
        check_name("invalid", invalid, get_args(Invalid))
        gym.utils.RecordConstructorArgs.__init__(
            self, max_actions=max_actions, no_op=no_op, invalid=invalid
        )
        gym.Wrapper.__init__(self, env)
        self._max_actions = max_actions
        self._no_op, self._invalid = no_op, invalid
        self._slots: tuple[str, ...] = (no_op,)
        self._warned = False
        self.action_space = gym.spaces.Discrete(max_actions)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Obs, dict[str, Any]]:
        """Reset and number the valid actions."""
        return self._numbered(*self.env.reset(seed=seed, options=options))

    def step(self, action: SupportsIndex) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        """Play the action with that number, in [0, max_actions)."""
        text, masked = self.action_text(action), int(action) >= len(self._slots)
        obs, reward, terminated, truncated, info = self.env.step(text)
        obs, info = self._numbered(obs, info)
        info["masked_action"] = masked
        return obs, float(reward), terminated, truncated, info

    def action_text(self, action: SupportsIndex) -> str:
        """Return the command of a number; if it has none, act as ``invalid`` says."""
        try:
            index = -1 if isinstance(action, bool | np.bool_) else action.__index__()
        except (AttributeError, TypeError):
            index = -1
        if not 0 <= index < self._max_actions:
            raise InvalidArgumentError(
                f"expected an action as an int in [0, {self._max_actions}), got {action!r}"
            )
        if index >= len(self._slots) and self._invalid == "error":
            raise InvalidArgumentError(
                f"expected one of the {len(self._slots)} valid actions of this state, got {index}: "
                'use info["action_mask"], or IndexActions(invalid="noop") or "mask"'
            )
        if self._invalid == "mask":
            index %= len(self._slots)
        return self._slots[index] if index < len(self._slots) else ""  # which no game understands

    def action_masks(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return a bool array of shape (max_actions,), never all false, for MaskablePPO."""
        return np.arange(self._max_actions) < len(self._slots)

    def restore(self, snapshot: Any) -> tuple[Obs, dict[str, Any]]:
        """Return to a snapshot of the environment below and number its valid actions."""
        return self._numbered(*self.env.get_wrapper_attr("restore")(snapshot))

    def _numbered(self, obs: Obs, info: dict[str, Any]) -> tuple[Obs, dict[str, Any]]:
        valid = obs["valid_actions"] or self.env.get_wrapper_attr("valid_actions")()
        self._slots = keep_evenly(valid, self._max_actions) or (self._no_op,)
        info["action_mask"] = self.action_masks().astype(np.int8)
        info["n_valid"] = len(valid)
        info["n_valid_dropped"] = max(len(valid) - self._max_actions, 0)
        info["masked_action"] = False
        if info["n_valid_dropped"] and not self._warned:
            self._warned = True
            gym.logger.warn(
                f"IndexActions: {len(valid)} valid actions, of which max_actions="
                f"{self._max_actions} leaves out {info['n_valid_dropped']}; info counts the others"
            )
        return {**obs, "valid_actions": self._slots}, info


class Navigate(gym.Wrapper[Observation, str, Observation, str], gym.utils.RecordConstructorArgs):
    """Actions extended by ``go to <place>`` for the visited places, except the present one.

    The way is the shortest in the memory's graph. Every move is a real step of the environment:
    counted, seen by the memory, and able to end the episode. The walk stops when a move does not
    lead where the memory expects. (The AriGraph authors' ``go to`` counts as one step, learns
    nothing on the way and runs on when it is blocked.) The observation is that of the last move
    with the texts of all; the reward is their sum. Info: ``navigate_moves``, the commands played.

    Args:
        env: An environment with a memory that keeps a graph (``arigraph``, ``oracle``, ...).
        stop_on_new: True to stop where something appears that the memory did not know.
    """

    def __init__(self, env: gym.Env[Any, str], stop_on_new: bool = True):
        check_keys("Navigate", env, ("memory", "triples"), "wrap it around MemoryObservation")
        check_flag("stop_on_new", stop_on_new)
        memory = env.get_wrapper_attr("memory")
        if memory.graph is None:
            raise InvalidArgumentError(
                f"Navigate: expected a memory with a graph such as 'arigraph', got {memory.name!r}"
            )
        gym.utils.RecordConstructorArgs.__init__(self, stop_on_new=stop_on_new)
        gym.Wrapper.__init__(self, env)
        self._memory = memory
        self._stop_on_new = stop_on_new

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Reset; only the present place counts as visited."""
        return self._offering((), *self.env.reset(seed=seed, options=options))

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play an action, or the moves of a ``go to``."""
        way = self._way(action)
        if not way:
            obs, reward, terminated, truncated, info = self.env.step(action)
            obs, info = self._offering((), obs, info)
            return obs, float(reward), terminated, truncated, info
        moves: list[str] = []
        texts: list[str] = []
        total = 0.0
        for direction, place in way:
            known = len(self._graph.events)
            moves.append(f"go {direction}")
            obs, reward, terminated, truncated, info = self.env.step(moves[-1])
            texts.append(obs["text"])
            total += float(reward)
            if terminated or truncated or current_place(self._graph) != place:
                break
            if self._stop_on_new and self._something_new(known):
                break
        obs, info = self._offering(tuple(moves), {**obs, "text": "\n".join(texts)}, info)
        return obs, total, terminated, truncated, info

    @property
    def _graph(self) -> TemporalGraph:
        assert self._memory.graph is not None  # checked by the constructor
        return self._memory.graph

    def _way(self, action: str) -> list[Leg]:
        """Return the moves of a ``go to`` that is offered now; empty for any other action."""
        if not isinstance(action, str) or not action.startswith(GO_TO):
            return []
        graph = self._graph
        target = graph.normalize(action.removeprefix(GO_TO))
        return (route(graph, target) or []) if target in visited_places(graph) else []

    def _something_new(self, known: int) -> bool:
        """True if the memory learned more from the last move than the agent's place."""
        return any(
            not ended and fact.subject != PLAYER and direction_of(fact.relation) is None
            for _, fact, ended, *_ in self._graph.events[known:]
        )

    def valid_actions(self) -> tuple[str, ...]:
        """Return the environment's valid actions and the places to go to."""
        return (*self.env.get_wrapper_attr("valid_actions")(), *self._offers())

    def restore(self, snapshot: Any) -> tuple[Observation, dict[str, Any]]:
        """Return to a snapshot of the environment below."""
        return self._offering((), *self.env.get_wrapper_attr("restore")(snapshot))

    def _offers(self) -> list[str]:
        return [GO_TO + place for place in visited_places(self._graph)]

    def _offering(
        self, moves: tuple[str, ...], obs: Observation, info: dict[str, Any]
    ) -> tuple[Observation, dict[str, Any]]:
        info["navigate_moves"] = moves
        if obs["valid_actions"]:
            obs = {**obs, "valid_actions": (*obs["valid_actions"], *self._offers())}
        return obs, info
