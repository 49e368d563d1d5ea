"""Temporal knowledge graph: facts, the times when they were true, and their sources."""

from gym_memory.graph.facts import Fact, GraphSnapshot, Source
from gym_memory.graph.temporal import Direction, EdgeArrays, TemporalGraph

__all__ = ["Direction", "EdgeArrays", "Fact", "GraphSnapshot", "Source", "TemporalGraph"]
