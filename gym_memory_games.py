"""The taskset for verifiers under a name of its own: ``vf-eval gym-memory-games``."""

from gym_memory.train.verifiers import *  # noqa: F403
from gym_memory.train.verifiers import __all__  # noqa: F401
