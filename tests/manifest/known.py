"""Known plays of an environment, for cells that repeat the same actions."""

from __future__ import annotations

import copy
import functools
from collections.abc import Hashable
from typing import Any

import gymnasium as gym

__all__ = ["Known", "KnownPlays"]

Known = dict[tuple[Hashable, ...], Any]
"""Name of an environment and everything done in it so far, to what the last of it gave."""


class KnownPlays(gym.Wrapper[dict[str, Any], str, dict[str, Any], str]):
    """An environment that answers from ``known`` as long as an episode is like an earlier one.

    Most memories do not change a player's way, and engines answer the same actions with the same
    bytes (``tests/games/test_env_contract.py``). The engine plays what is new. Before anything else
    of the environment is read, the engine catches up: its dialect may depend on the first text.

    Args:
        env: A raw environment.
        name: All that makes this environment unlike others that share ``known``.
        known: Answers of earlier environments; new ones are added.
    """

    def __init__(self, env: Any, name: Hashable, known: Known):
        super().__init__(env)
        self._name, self._known = name, known
        self._path: tuple[Hashable, ...] = (name,)
        self._behind: list[functools.partial[Any]] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None:  # what was before does not matter
            self._path, self._behind = (self._name,), []
        play = functools.partial(self.env.reset, seed=seed, options=options)
        return self._answer((seed, repr(options)), play)

    def step(self, action: str) -> Any:
        return self._answer(action, functools.partial(self.env.step, action))

    def _answer(self, done: Hashable, play: functools.partial[Any]) -> Any:
        self._path = (*self._path, done)
        if self._path not in self._known:
            self._catch_up()
            self._known[self._path] = play()
        else:
            self._behind.append(play)
        obs, *others = self._known[self._path]
        return dict(obs), *copy.deepcopy(others)  # what an observation holds cannot change

    def _catch_up(self) -> None:
        for play in self._behind:
            play()
        self._behind = []

    def get_wrapper_attr(self, name: str) -> Any:
        self._catch_up()
        found = self.env.get_wrapper_attr(name)
        if not callable(found):
            return found
        assert name != "restore", "a play that goes back is not known by its actions"

        def caught_up(*args: Any, **kwargs: Any) -> Any:
            self._catch_up()
            return found(*args, **kwargs)

        return caught_up

    @property
    def unwrapped(self) -> Any:
        self._catch_up()
        return self.env.unwrapped
