"""The table of policies; ``--policy`` takes one of these names."""

from __future__ import annotations

import contextlib
from typing import Any

from gym_memory.baselines.base import Policy
from gym_memory.core.names import Registry, Spec

__all__ = ["POLICIES", "learner_classes", "make_policy"]

POLICIES = Registry(
    "policy", "gym_memory.policies", "POLICIES", ["gym_memory.baselines", "gym_memory.train"]
)
"""Names of policies; other packages add theirs by the group ``gym_memory.policies``."""


def make_policy(spec: str | Spec | Policy) -> Policy:
    """Build a policy from a name with parameters; a ready policy is returned as it is."""
    return spec if isinstance(spec, Policy) else POLICIES.make(spec)


def learner_classes() -> dict[str, Any]:
    """The learners of the policies that ``gym-memory train`` trains, where packages allow it."""
    found = {}
    for name in POLICIES.names():
        with contextlib.suppress(ImportError):
            found[name] = getattr(POLICIES.get(name), "learner_class", None)
    return {name: learner for name, learner in found.items() if learner is not None}
