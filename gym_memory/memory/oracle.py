"""Oracle: AriGraph fed with the engine's facts, the upper bound of what a memory can know."""

from __future__ import annotations

from typing import ClassVar

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.records import Step, Triple
from gym_memory.memory.arigraph import AriGraph
from gym_memory.memory.base import MEMORIES

__all__ = ["OracleGraph"]


@MEMORIES.register("oracle")
class OracleGraph(AriGraph):
    """Holds exactly what is true now, seen or not; recalls and ranks as AriGraph does.

    For comparison only: the gap between it and ``arigraph`` is what exploring and remembering
    cost. An observation is tied to the facts that changed in its step. Takes the arguments of
    :class:`~gym_memory.memory.arigraph.AriGraph`.

    Raises:
        InvalidArgumentError: On ``observe``, when no wrapper has set ``oracle``.
    """

    name: ClassVar[str] = "oracle"
    uses_oracle: ClassVar[bool] = True

    def _learn(self, step: Step, t: int) -> list[Triple]:
        if self.oracle is None:
            raise InvalidArgumentError(
                "expected memory.oracle to be set to a callable that gives the engine's facts, "
                "got None: use the memory in an environment made by gym.make"
            )
        graph, facts = self.graph, self.oracle().facts
        gone = [fact for fact in graph.live() if fact not in facts]
        for fact in gone:
            graph.retire(fact, t, by="oracle")
        new = sorted(fact for fact in facts if fact not in graph)
        return gone + [graph.add(fact, t, episode=len(self.store)).triple for fact in new]
