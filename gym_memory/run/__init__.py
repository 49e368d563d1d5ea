"""Play an episode (``loop.py``), a job of several (``protocols.py``), many jobs (``compare.py``).

Results are kept and summed up in ``results/``.
"""

from gym_memory.run.loop import EpisodeResult, OnStep, rollout

__all__ = ["EpisodeResult", "OnStep", "rollout"]
