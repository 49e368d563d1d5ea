"""Policies, each in one readable file.

A policy sees observations and returns actions as text. It knows no wrapper, loop or engine.
``rules/`` has players of one game each, ``llm/`` language agents, ``rl/`` learners, and
``scripted.py`` players of any game.
"""

from gym_memory.baselines.base import POLICIES, Policy, make_policy

__all__ = ["POLICIES", "Policy", "make_policy"]
