"""Multi-hop question answering with official formats and metrics, and an included corpus."""

from gym_memory.games.qa.env import MultiHopQA

__all__ = ["MultiHopQA"]
