"""Play an episode (``loop.py``), a job of several (``protocols.py``), many jobs (``compare.py``).

``results/`` stores and summarizes the results.
"""

from gym_memory.run.loop import EpisodeResult, OnStep, rollout

__all__ = ["DEFAULT_STEP_TIMEOUT", "DEFAULT_TIMEOUT", "EpisodeResult", "OnStep", "rollout"]

DEFAULT_TIMEOUT = 1800.0
"""Seconds that a job may take."""
DEFAULT_STEP_TIMEOUT = 600.0
"""Seconds that a step may take, which may call a model several times or compile a game."""
