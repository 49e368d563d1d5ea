"""Plays of an environment that are known already, for cells in which the same is done again."""

from __future__ import annotations

import copy
import functools
from typing import Any

import gymnasium as gym

__all__ = ["KnownPlays"]


class KnownPlays(gym.Wrapper[dict[str, Any], str, dict[str, Any], str]):
    """An environment that answers from ``known`` as long as an episode is like an earlier one.

    Most memories leave a player's way as it is, and engines answer the same actions with the same
    bytes (``tests/games/test_env_contract.py``). The engine plays what is new, and catches up
    whenever it is needed for more than a step.

    Args:
        env: A raw environment.
        known: Seed, options and actions so far, to what the last one of them gave.
    """

    def __init__(self, env: Any, known: dict[tuple[Any, ...], Any]):
        super().__init__(env)
        self._known, self._made = known, (type(env).__name__, repr(env._made_with))
        self._path: tuple[Any, ...] = ()
        self._behind: list[functools.partial[Any]] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self._path, self._behind = (*self._made, seed, repr(options)), []
        return self._answer(functools.partial(self.env.reset, seed=seed, options=options))

    def step(self, action: str) -> Any:
        self._path = (*self._path, action)
        return self._answer(functools.partial(self.env.step, action))

    def _answer(self, play: functools.partial[Any]) -> Any:
        if self._path not in self._known:
            self._catch_up()
            self._known[self._path] = play()
        else:
            self._behind.append(play)
        return copy.deepcopy(self._known[self._path])

    def _catch_up(self) -> None:
        for play in self._behind:
            play()
        self._behind = []

    def get_wrapper_attr(self, name: str) -> Any:
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
