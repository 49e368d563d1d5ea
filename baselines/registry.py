"""The table of policies; ``--policy`` takes one of these names."""

from __future__ import annotations

import contextlib
import functools
import inspect
from typing import Any

from gym_memory.baselines.base import Act, Player, Policy
from gym_memory.core.names import Registry, Spec, parse_spec
from gym_memory.core.settings import check_known

__all__ = ["POLICIES", "learner_classes", "make_policy"]

POLICIES = Registry(
    "policy", "gym_memory.policies", "POLICIES", ["gym_memory.baselines", "gym_memory.train"]
)
"""Names of policies; other packages add theirs by the group ``gym_memory.policies``."""


def make_policy(spec: str | Spec | Policy | Act) -> Policy:
    """Build a policy from a name with parameters, or from a function ``act(obs, info)``.

    A ready policy is returned as it is. A name may also stand for such a function, whose further
    arguments are the parameters.
    """
    player: Any = spec
    if isinstance(spec, str | Spec):
        parsed = parse_spec(spec) if isinstance(spec, str) else spec
        target = POLICIES.get(parsed.name)
        if _acts(target):
            check_known(f"policy {parsed.name!r}", target, parsed.kwargs)
            player = functools.partial(target, **parsed.kwargs)
        else:
            player = POLICIES.make(parsed)
    return player if isinstance(player, Policy) else Player(player)


def _acts(target: Any) -> bool:
    """True for ``act(obs, info)``; classes and factories need no argument."""
    parameters = inspect.signature(target).parameters.values()
    needed = [p for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    return not isinstance(target, type) and len(needed) == 2


def learner_classes() -> dict[str, Any]:
    """Return the learners that ``gym-memory train`` can train with the packages installed."""
    found = {}
    for name in POLICIES.names():
        with contextlib.suppress(ImportError):
            found[name] = getattr(POLICIES.get(name), "learner_class", None)
    return {name: learner for name, learner in found.items() if learner is not None}
