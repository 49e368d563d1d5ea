"""The control: a memory that holds nothing."""

from __future__ import annotations

from typing import Any, ClassVar

from gym_memory.core.records import Cue, Outcome, Recall, Step, Task
from gym_memory.memory.base import MEMORIES, Memory

__all__ = ["NoMemory"]


@MEMORIES.register("none")
class NoMemory(Memory):
    """Remembers nothing; its recall is always empty."""

    name: ClassVar[str] = "none"

    def begin(self, task: Task, seed: int | None) -> None:
        """Nothing to clear."""

    def observe(self, step: Step) -> None:
        """Nothing is learnt."""

    def recall(self, cue: Cue, budget: int) -> Recall:
        """An empty recall."""
        return Recall()

    def end(self, outcome: Outcome) -> None:
        """Nothing is learnt."""

    def state(self) -> dict[str, Any]:
        """No state."""
        return {}

    def load_state(self, state: dict[str, Any]) -> None:
        """No state."""
