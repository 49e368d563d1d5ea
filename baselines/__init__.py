"""Policies: one readable file each, by whatever means they choose an action.

A policy sees observations and returns actions as text. It knows no wrapper, no loop and no engine.
``rules/`` has the players of one game each, ``llm/`` language agents, ``rl/`` learners;
``scripted.py`` those that read no game.
"""

from gym_memory.baselines.base import POLICIES, Policy, make_policy

__all__ = ["POLICIES", "Policy", "make_policy"]
