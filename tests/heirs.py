"""Check that scripted policies keep only their published plan, from which another one continues."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from gym_memory.baselines.rules.base import RulePolicy


def heirs_go_on_as_the_first_would(
    env: Any, make: Callable[[], RulePolicy], seed: int = 5, longest: int = 10_000
) -> tuple[list[str], dict[str, Any]]:
    """True if a player with only the plan and the same seed acts like the first at every step.

    Args:
        env: Any environment; it is closed.
        make: Makes a policy.
        seed: Of the environment and the policy.
        longest: Characters that a plan may have.

    Returns:
        The actions and the last info.
    """
    policy = make()
    obs, info = env.reset(seed=seed)
    policy.reset(info, seed)
    actions: list[str] = []
    done = False
    while not done:
        heir = make()
        heir.reset(info, seed)
        heir.focus, heir.rng = policy.focus, copy.deepcopy(policy.rng)
        actions.append(policy.act(obs, info))
        assert heir.act(obs, info) == actions[-1]
        assert heir.focus == policy.focus
        assert len(str(policy.focus)) <= longest
        env.get_wrapper_attr("set_focus")(policy.focus)
        obs, _, terminated, truncated, info = env.step(actions[-1])
        done = terminated or truncated
    env.close()
    return actions, info
