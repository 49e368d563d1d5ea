"""A foreign environment by its name, for names with parameters."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import load_env_creator

from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.settings import check_int, check_known, check_text
from gym_memory.games.foreign.env import ForeignEnv
from gym_memory.games.registry import ENVIRONMENTS

__all__ = ["make_foreign"]


@ENVIRONMENTS.register("Foreign")
def make_foreign(id: str = "", **kwargs: Any) -> ForeignEnv:
    """Any other text environment, by its Gymnasium id or by a function that makes it.

    For names with parameters, as the command line has them. ``gym.make`` has an ``id`` of its
    own, so in Python call :func:`gym_memory.wrap` instead.

    Args:
        id: A Gymnasium id, ``module:id`` for one that a module registers, or
            ``module:function`` for anything with ``reset`` and ``step``.
        **kwargs: Arguments of :class:`ForeignEnv`; ``max_steps`` takes the place of the limit
            that an id was registered with. All others are the environment's own.

    Raises:
        InvalidArgumentError: An argument is not of that kind, or the module cannot be imported.
        UnknownNameError: No such id, function or argument.
    """
    if not check_text("id", id):
        raise InvalidArgumentError(
            "expected id as a Gymnasium id, 'module:id' or 'module:function', as in "
            "'Foreign?id=module:function'; in Python call gym_memory.wrap(env)"
        )
    known = inspect.signature(ForeignEnv).parameters
    ours = {key: kwargs.pop(key) for key in list(kwargs) if key in known and key != "env"}
    env = _make(id, ours.get("max_steps"), kwargs)
    return ForeignEnv(env, **{"name": id, **ours})


def _make(id: str, max_steps: int | None, kwargs: Mapping[str, Any]) -> Any:
    module_name, colon, name = id.rpartition(":")
    if colon:
        try:
            module = importlib.import_module(module_name)
        except ImportError as error:
            raise InvalidArgumentError(
                f"expected id as 'module:name' with a module that can be imported: {error}"
            ) from error
        function = getattr(module, name, None)
        if callable(function):
            check_known(f"environment {id!r}", function, kwargs)
            return function(**kwargs)
    try:
        spec = gym.spec(name)
    except gym.error.Error as error:
        known = [i for i in gym.registry if i.split("/")[-1][:3] == name.split("/")[-1][:3]]
        raise UnknownNameError("Gymnasium id", id, known or ["module:id"]) from error
    if spec.entry_point is not None:
        entry = spec.entry_point
        creator: Callable[..., Any] = load_env_creator(entry) if isinstance(entry, str) else entry
        check_known(f"environment {id!r}", creator, kwargs)
    limit = {} if max_steps is None else {"max_episode_steps": check_int("max_steps", max_steps, 1)}
    return gym.make(name, disable_env_checker=True, **limit, **kwargs)
