"""Find the kind of a user's component, and its checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import gymnasium as gym

from gym_memory.baselines.base import POLICIES
from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.names import Spec
from gym_memory.evaluate.contract.checks import Check, CheckResult, run_checks
from gym_memory.evaluate.contract.environment import environment_checks
from gym_memory.evaluate.contract.memory import memory_checks
from gym_memory.evaluate.contract.policy import policy_checks
from gym_memory.games.base import ENVIRONMENTS
from gym_memory.memory.base import MEMORIES, Memory

__all__ = ["check_own", "kind_of"]


def kind_of(spec: str) -> str:
    """Return the kind of a user's component: ``memory``, ``policy`` or ``environment``."""
    name = Spec(spec).name
    if ":" not in name:
        tables = {"memory": MEMORIES, "policy": POLICIES, "environment": ENVIRONMENTS}
        found = [kind for kind, table in tables.items() if name in table.names()]
        if len(found) != 1:
            raise InvalidArgumentError(
                f"expected ./FILE.py:NAME or the name of one memory, policy or environment, got "
                f"{name!r}, which is {' and '.join(found) or 'none of them'}"
            )
        return found[0]
    target = MEMORIES.get(name)
    if isinstance(target, type) and issubclass(target, Memory):
        return "memory"
    steps = hasattr(target, "step") and hasattr(target, "reset")
    if steps or (isinstance(target, type) and issubclass(target, gym.Env)):
        return "environment"
    return "policy"


def check_own(spec: str, kind: str = "") -> Iterator[CheckResult]:
    """Check a user's component; an empty ``kind`` is found."""
    makers: dict[str, Callable[[str], dict[str, tuple[str, Check]]]] = {
        "memory": memory_checks,
        "policy": policy_checks,
        "environment": environment_checks,
    }
    yield from run_checks(makers[kind or kind_of(spec)](spec))
