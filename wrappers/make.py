"""Entry points: a registered id, or any environment, with a memory around it."""

from __future__ import annotations

from typing import Any, Literal

import gymnasium as gym

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.names import Spec
from gym_memory.core.records import Observation
from gym_memory.core.settings import check_flag, check_known, check_name
from gym_memory.games.base import ENVIRONMENTS, TextEnv
from gym_memory.games.foreign import ForeignEnv
from gym_memory.games.isolate import IsolatedEnv
from gym_memory.wrappers.actions import Navigate
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY, MemoryObservation

__all__ = ["make_env", "wrap"]

_OWN = ("memory", "budget", "recall", "navigate", "isolate")


def make_env(
    name: str,
    *,
    memory: str = DEFAULT_MEMORY,
    budget: int = DEFAULT_BUDGET,
    recall: str | None = None,
    navigate: bool = False,
    isolate: Literal["none", "process"] = "none",
    **kwargs: Any,
) -> gym.Env[Observation, str]:
    """Build the environment ``name`` with a memory in its observation.

    Args:
        name: A name of :data:`gym_memory.games.base.ENVIRONMENTS`. A class of a file that is none
            of ours plays as ``Foreign``.
        memory: A memory with optional parameters, e.g. ``"arigraph?episodic=false"``.
        budget: Tokens that the recalled memory may take.
        recall: Shorthand for the memory's ``recall``: ``"structural"`` or ``"semantic"``.
        navigate: True to offer ``go to <place>`` (:class:`gym_memory.wrappers.Navigate`) where
            the memory keeps a graph.
        isolate: ``"process"`` plays in a process with limits (:mod:`gym_memory.games.isolate`).
        **kwargs: Arguments of the raw environment.
    """
    factory = ENVIRONMENTS.get(name)
    if ":" in name and isinstance(factory, type) and not issubclass(factory, TextEnv):
        name, kwargs = "Foreign", {"entry": name, **kwargs}
        factory = ENVIRONMENTS.get(name)
    check_known(f"environment {name!r}", factory, kwargs, _OWN)
    if recall is not None:
        parsed = Spec(memory)
        memory = Spec.of(parsed.name, {**parsed.kwargs, "recall": recall})
    check_flag("navigate", navigate)
    if name == "Panel" and (navigate or recall is not None):
        raise InvalidArgumentError(
            "expected a panel without navigate, which adds actions to its list, and without recall,"
            ' which is a setting of the memory: "arigraph?recall=semantic"'
        )
    check_name("isolate", isolate, ("none", "process"))
    raw = IsolatedEnv(name, kwargs) if isolate == "process" else factory(**kwargs)
    env = MemoryObservation(raw, memory=memory, budget=budget)
    return Navigate(env) if navigate and env.memory.graph is not None else env


def wrap(
    env: Any, *, memory: str = DEFAULT_MEMORY, budget: int = DEFAULT_BUDGET, **kwargs: Any
) -> gym.Env[Observation, str]:
    """Put a memory into the observation of any text environment.

    Args:
        env: A ``gymnasium.Env`` or anything else with ``reset`` and ``step``.
        memory: A memory with optional parameters, e.g. ``"arigraph?episodic=false"``.
        budget: Tokens that the recalled memory may take.
        **kwargs: Where the environment keeps its text, task, valid actions, score and success, and
            its extraction rules: see :class:`~gym_memory.games.foreign.env.ForeignEnv`, which
            finds most by itself; ``info["sources"]`` of every reset says what it found.

    Example:
        >>> from gym_memory.testing.fake_env import FakeHouse
        >>> env = wrap(FakeHouse(), memory="arigraph")
        >>> obs, info = env.reset(seed=0)
        >>> info["sources"]["valid_actions"], info["sources"]["dialect"]
        ('obs.valid_actions', 'textworld (found)')
    """
    check_known(f"wrap {type(env).__name__!r}", ForeignEnv, kwargs)
    return MemoryObservation(ForeignEnv(env, **kwargs), memory=memory, budget=budget)
