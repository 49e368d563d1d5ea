"""Multi-hop question answering: official formats and metrics, and a corpus of our own."""

from gym_memory.games.qa.env import MultiHopQA

__all__ = ["MultiHopQA"]
