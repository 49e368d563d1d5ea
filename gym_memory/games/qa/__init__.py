"""Multi-hop question answering: official formats and metrics, a corpus of our own, the adapter."""

from gym_memory.games.qa.adapter import MultiHopQA

__all__ = ["MultiHopQA"]
