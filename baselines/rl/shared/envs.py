"""Environments that are stepped together, in this process; elsewhere under the same calls.

Each has a *slot*, a number from 0. What a slot is asked for is a method of :class:`Slot` by name,
so that whoever holds the slots somewhere else (:mod:`gym_memory.train.collect`) hands on
names and plain values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

__all__ = ["Envs", "LocalEnvs", "MakeEnv"]

MakeEnv = Callable[[str], Any]
"""Takes a split, gives a fresh environment with its memory."""


class Envs(Protocol):
    """Environments by split and slot; opened when they are first called."""

    def call(self, split: str, name: str, arguments: Mapping[int, tuple[Any, ...]]) -> list[Any]:
        """Call a method of :class:`Slot` in several slots; answers in the order of the slots."""
        ...

    def close(self, split: str) -> None:
        """Close the environments of a split; harmless where none is open."""
        ...


class Slot:
    """An environment with its memory, and what the training asks it for."""

    def __init__(self, env: Any):
        self._env = env

    def versions(self) -> dict[str, str]:
        """Versions of the backend."""
        return dict(self._env.get_wrapper_attr("versions")())

    def reset(self, seed: int) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        obs, info = self._env.reset(seed=seed)
        return obs, info

    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take a step."""
        obs, reward, terminated, truncated, info = self._env.step(action)
        return obs, float(reward), terminated, truncated, info

    def memory(self) -> dict[str, Any]:
        """State of the memory."""
        state: dict[str, Any] = self._env.get_wrapper_attr("memory").state()
        return state

    def remember(self, state: dict[str, Any]) -> None:
        """Replace the memory's state by what :meth:`memory` gave."""
        self._env.get_wrapper_attr("memory").load_state(state)

    def replay(
        self, seed: int, actions: list[str], memory: dict[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        """Bring an episode back to where it was; gives what was seen there."""
        self.reset(seed)
        for action in actions:
            self.step(action)
        # What a memory keeps over episodes is not in this episode's actions.
        self.remember(memory)
        obs, info = self._env.get_wrapper_attr("restore")(self._env.get_wrapper_attr("snapshot")())
        return obs, info

    def close(self) -> None:
        """Close the environment."""
        self._env.close()


class LocalEnvs:
    """Environments of this process.

    Args:
        make: Makes one.
    """

    def __init__(self, make: MakeEnv):
        self._make = make
        self._open: dict[tuple[str, int], Slot] = {}

    def call(self, split: str, name: str, arguments: Mapping[int, tuple[Any, ...]]) -> list[Any]:
        """Call a method in one slot after the other; see :class:`Envs`."""
        for slot in arguments:
            if (split, slot) not in self._open:
                self._open[split, slot] = Slot(self._make(split))
        return [getattr(self._open[split, slot], name)(*given) for slot, given in arguments.items()]

    def close(self, split: str) -> None:
        """Close the environments of a split."""
        for key in [key for key in self._open if key[0] == split]:
            self._open.pop(key).close()
