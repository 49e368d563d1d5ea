"""Policies: one readable file each. They know observations and actions, no particular game."""

from gym_memory.baselines.base import Policy
from gym_memory.baselines.registry import POLICIES, make_policy

__all__ = ["POLICIES", "Policy", "make_policy"]
