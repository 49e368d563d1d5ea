"""The temporal knowledge graph: what was true when, and where that was read.

It stores and answers; what to put in is extraction's to say, what matters now is recall's.
"""

from gym_memory.graph.edges import EdgeArrays
from gym_memory.graph.facts import Fact, Snapshot, Source
from gym_memory.graph.temporal import Direction, TemporalGraph

__all__ = ["Direction", "EdgeArrays", "Fact", "Snapshot", "Source", "TemporalGraph"]
