"""Policies: one readable file each, by whatever means they choose an action.

A policy sees observations and returns actions as text. It knows the policy protocol, the ground,
how text is read and how a model is called; no wrapper, no loop, no engine. What belongs to one
game is a player (``players/<game>/``); what learners share lies in ``learning/``.
"""

from gym_memory.baselines.base import Policy
from gym_memory.baselines.registry import POLICIES, make_policy

__all__ = ["POLICIES", "Policy", "make_policy"]
