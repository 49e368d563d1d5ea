"""Multi-hop question answering: official formats and metrics, a corpus of our own, the adapter."""

from gym_memory.games.qa.env import MultiHopQA

__all__ = ["MultiHopQA"]
