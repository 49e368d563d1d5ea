"""Call a foreign environment: old and new signatures, action names, global random generators."""

from __future__ import annotations

import contextlib
import enum
import inspect
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.random import mtrand

from gym_memory.core.errors import InvalidArgumentError, UnknownNameError, defined_at
from gym_memory.games.foreign.sources import as_flag, as_number

__all__ = ["Caller", "GlobalChance", "Result", "action_names", "first_action"]


class Result(NamedTuple):
    """A result of a foreign step, in Gymnasium's terms.

    Attributes:
        reward: Second value of the step: a reward, or the score so far in old text games.
        terminated: Also True for an old ``done`` without a time limit.
        old: True for an old 4-tuple, whose ``done`` gives no reason.
    """

    obs: Any
    reward: float
    terminated: bool
    truncated: bool
    info: Mapping[str, Any]
    old: bool


class Caller:
    """An adapter for any object with ``reset`` and ``step``.

    ``reset`` gets a seed and options if its signature has them; else the old ``env.seed(seed)`` is
    called first. The info that it returns is optional. ``step`` returns five values, or four with a
    ``done``, which is a truncation if the info has ``TimeLimit.truncated``.
    """

    def __init__(self, env: Any):
        if not callable(getattr(env, "reset", None)) or not callable(getattr(env, "step", None)):
            raise InvalidArgumentError(
                f"expected an environment with reset and step, got {type(env).__name__}: give it "
                "these two methods in a small class of yours"
            )
        self._env = env
        self._takes = {name for name in ("seed", "options") if _takes(env.reset, name)}

    def reset(self, seed: int, options: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
        """Start an episode; return the observation and the info, which may be empty."""
        if options and "options" not in self._takes:
            raise UnknownNameError("reset option", str(next(iter(options))), ["task_id"])
        given: dict[str, Any] = {"seed": seed} if "seed" in self._takes else {}
        if options:
            given["options"] = dict(options)
        if "seed" not in self._takes and callable(getattr(self._env, "seed", None)):
            self._env.seed(seed)
        answer = self._env.reset(**given)
        if isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], Mapping):
            return answer
        return answer, {}

    def step(self, action: Any) -> Result:
        """Play one action."""
        answer = self._env.step(action)
        with self.reading("step"):
            return self._result(answer)

    @contextlib.contextmanager
    def reading(self, method: str) -> Iterator[None]:
        """Add the place of ``method`` to errors about the value that it returned."""
        try:
            yield
        except InvalidArgumentError as error:
            function = getattr(getattr(self._env, "unwrapped", self._env), method, None)
            raise InvalidArgumentError(f"{error}{defined_at(method, function)}") from error

    def _result(self, answer: Any) -> Result:
        size = len(answer) if isinstance(answer, tuple) else 0
        if size not in (4, 5) or not isinstance(answer[-1], Mapping | None):
            got = [type(value).__name__ for value in answer] if size else type(answer).__name__
            raise InvalidArgumentError(
                "expected step to return (obs, reward, terminated, truncated, info) or (obs, "
                f"reward, done, info), got {got}: give it such a step in a small class of yours"
            )
        obs, reward, *ends, info = answer
        info = info or {}
        if size == 5:
            flags = as_flag("terminated", ends[0]), as_flag("truncated", ends[1])
            return Result(obs, as_number("reward", reward), *flags, info, False)
        cut = bool(info.get("TimeLimit.truncated", False))
        ended = as_flag("done", ends[0]) and not cut
        return Result(obs, as_number("reward", reward or 0), ended, cut, info, True)


def _takes(function: Any, name: str) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):  # objects from C or Java have no signature
        return False
    return name in parameters or any(
        parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()
    )


def action_names(env: Any, given: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of Discrete actions; empty for text actions.

    They come from ``given``, else from the environment's ``actions`` enumeration or
    ``get_action_meanings()``, else they are the numbers.
    """
    space: Any = getattr(env, "action_space", None)
    old = type(space).__name__ == "Discrete"  # of the package gym
    if not (old or isinstance(space, gym.spaces.Discrete)):
        if isinstance(space, gym.Space) and not isinstance(space, gym.spaces.Text):
            raise InvalidArgumentError(
                f"expected actions as text or Discrete, got {space}: wrap it so that they are"
            )
        if given is not None:
            raise InvalidArgumentError("actions names numbers, but this environment takes text")
        return ()
    names = _own_names(env) if given is None else tuple(given)
    if len(names) != space.n or len(set(names)) != space.n:
        if given is not None:
            raise InvalidArgumentError(
                f"expected actions as {space.n} different names, got {given!r}"
            )
        first = first_action(env)
        names = tuple(map(str, range(first, first + space.n)))
    return names


def first_action(env: Any) -> int:
    """Return the number of the first Discrete action."""
    return int(getattr(getattr(env, "action_space", None), "start", 0))


def _own_names(env: Any) -> tuple[str, ...]:
    bare = getattr(env, "unwrapped", env)
    kinds = getattr(bare, "actions", None)
    if isinstance(kinds, type) and issubclass(kinds, enum.Enum):
        return tuple(m.name.lower() for m in sorted(kinds, key=lambda member: member.value))
    meanings = getattr(bare, "get_action_meanings", None)
    return tuple(str(name).lower() for name in meanings()) if callable(meanings) else ()


class GlobalChance:
    """A private state of the global generators ``random`` and ``numpy.random``.

    Inside :meth:`own`, the environment continues its state; outside, the process keeps its own.
    """

    def __init__(self) -> None:
        self.seed(0)

    def seed(self, seed: int) -> None:
        """Seed the private state of both generators."""
        self._python: Any = random.Random(seed).getstate()
        self._numpy: Any = np.random.MT19937(seed)

    @contextlib.contextmanager
    def own(self) -> Iterator[None]:
        """Swap in the private state, and swap it out at the end."""
        python, numpy = random.getstate(), mtrand.get_bit_generator()
        random.setstate(self._python)
        mtrand.set_bit_generator(self._numpy)
        try:
            yield
        finally:
            self._python = random.getstate()
            random.setstate(python)
            mtrand.set_bit_generator(numpy)
