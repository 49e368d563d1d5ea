"""Environments of a training in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["EnvSlot", "LocalEnvs", "MakeEnv"]

MakeEnv = Callable[[str], Any]
"""A function from a split to a fresh environment with its memory."""


class EnvSlot:
    """An environment with its memory for a training; arguments and results are plain values."""

    def __init__(self, env: Any):
        self.env = env

    def versions(self) -> dict[str, str]:
        """Return the versions of the backend."""
        return dict(self.env.get_wrapper_attr("versions")())

    def reset(self, seed: int) -> Any:
        """Start an episode."""
        return self.env.reset(seed=seed)

    def step(self, action: str | int) -> Any:
        """Take a step."""
        obs, reward, *rest = self.env.step(action)
        return obs, float(reward), *rest

    def memory(self) -> Any:
        """Return the state of the memory, as JSON has it."""
        return json.loads(self.env.get_wrapper_attr("memory").state_as_json())

    def remember(self, state: dict[str, Any]) -> None:
        """Replace the memory's state by what :meth:`memory` returned."""
        self.env.get_wrapper_attr("memory").load_state(state)

    def replay(self, seed: int, actions: Sequence[str | int], memory: dict[str, Any]) -> Any:
        """Replay an episode up to a step; return its observation and info."""
        self.reset(seed)
        for action in actions:
            self.step(action)
        # A memory may hold more than the results of this episode's actions.
        self.remember(memory)
        return self.env.get_wrapper_attr("restore")(self.env.get_wrapper_attr("snapshot")())


class LocalEnvs:
    """Environments of this process."""

    def __init__(self, make: MakeEnv):
        self.make = make
        self._open: dict[tuple[str, int], EnvSlot] = {}

    def call(self, split: str, name: str, arguments: Mapping[int, tuple[Any, ...]]) -> list[Any]:
        """Call a method in one slot after the other; see :class:`.Envs`."""
        for slot in arguments:
            if (split, slot) not in self._open:
                self._open[split, slot] = EnvSlot(self.make(split))
        return [getattr(self._open[split, slot], name)(*given) for slot, given in arguments.items()]

    def opened(self, split: str) -> list[Any]:
        """Return the open environments of a split, by slot."""
        return [slot.env for (name, _), slot in sorted(self._open.items()) if name == split]

    def close(self, split: str) -> None:
        """Close the environments of a split."""
        for key in [key for key in self._open if key[0] == split]:
            self._open.pop(key).env.close()
