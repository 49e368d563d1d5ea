"""The entry point behind every registered id: a raw environment with a memory around it."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from gym_memory.envs.registry import ENVIRONMENTS
from gym_memory.specs import check_parameters, format_spec, parse_spec
from gym_memory.wrappers.memory import DEFAULT_BUDGET, DEFAULT_MEMORY, MemoryObservation

__all__ = ["make_env"]


def make_env(
    name: str,
    *,
    memory: str = DEFAULT_MEMORY,
    budget: int = DEFAULT_BUDGET,
    recall: str | None = None,
    **kwargs: Any,
) -> gym.Env[dict[str, Any], str]:
    """Build the environment ``name`` with a memory in its observation.

    Args:
        name: A name of :data:`gym_memory.envs.registry.ENVIRONMENTS`.
        memory: A memory with optional parameters, e.g. ``"arigraph?episodic=false"``.
        budget: Tokens that the recalled memory may take.
        recall: Shorthand for the memory's ``recall`` parameter (``"structural"``,
            ``"semantic"``).
        **kwargs: Arguments of the raw environment.

    Raises:
        UnknownNameError: Unknown name, parameter or value.
    """
    factory = ENVIRONMENTS.get(name)
    check_parameters("environment", name, factory, kwargs)
    if recall is not None:
        parsed = parse_spec(memory)
        memory = format_spec(parsed.name, {**parsed.kwargs, "recall": recall})
    return MemoryObservation(factory(**kwargs), memory=memory, budget=budget)
