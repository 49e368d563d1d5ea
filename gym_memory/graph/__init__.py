"""Temporal knowledge graph: facts, the times when they were true, and their sources."""

from gym_memory.graph.facts import Fact, GraphSnapshot, Source
from gym_memory.graph.temporal import Direction, TemporalGraph

__all__ = ["Direction", "Fact", "GraphSnapshot", "Source", "TemporalGraph"]
