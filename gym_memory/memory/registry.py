"""The table of memories; ``memory=`` everywhere takes one of these names."""

from __future__ import annotations

from gym_memory.core.registry import Registry
from gym_memory.core.specs import Spec
from gym_memory.memory.base import Memory

__all__ = ["MEMORIES", "make_memory"]

MEMORIES = Registry(
    "memory",
    "gym_memory.memories",
    {
        "arigraph": "gym_memory.memory.arigraph:AriGraph",
        "none": "gym_memory.memory.none:NoMemory",
        "history": "gym_memory.memory.history:History",
        "clin": "gym_memory.memory.clin:Clin",
        "reflexion": "gym_memory.memory.reflexion:Reflexion",
        "placebo": "gym_memory.memory.placebo:Placebo",
        "oracle": "gym_memory.memory.oracle:OracleGraph",
        "ldm2": "gym_memory.memory.ldm2.memory:LDM2",
        "shuffled": "gym_memory.memory.controls:Shuffled",
        "adversarial": "gym_memory.memory.controls:Adversarial",
        "noise": "gym_memory.memory.controls:Noise",
        "present": "gym_memory.memory.controls:Present",
        "summary": "gym_memory.memory.summary:Summary",
        "stma": "gym_memory.memory.stma:STMA",
        "rag": "gym_memory.memory.rag:RAG",
        "simulacra": "gym_memory.memory.simulacra:Simulacra",
    },
    packages={"belief": "pip install ./packages/belief"},
)
"""Names of memories; other packages add theirs by the group ``gym_memory.memories``."""


def make_memory(spec: str | Spec | Memory) -> Memory:
    """Build a memory from a name with parameters; a ready memory is returned as it is.

    >>> make_memory("history?window=5").window
    5
    """
    return spec if isinstance(spec, Memory) else MEMORIES.make(spec)
