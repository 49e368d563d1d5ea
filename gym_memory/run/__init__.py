"""One episode, and what describes many of them.

``loop.py`` is the one loop that every policy goes through; ``jobs.py`` says what is to be played
with what, ``protocols.py`` how the episodes of a job follow each other. Who plays many jobs, on
how many processes, lives in ``experiment/``; what they came to, in ``results/``.
"""

from gym_memory.run.loop import EpisodeResult, OnStep, rollout

__all__ = ["EpisodeResult", "OnStep", "rollout"]
