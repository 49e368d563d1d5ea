"""The memory of examples/memory_service.py in this process, as a reference for the service."""

from __future__ import annotations

from typing import Any, ClassVar

from benchmark import ROOT, load

from gym_memory.core.records import Cue, Recall, Step, Task
from gym_memory.memory import Memory

SERVICE = ROOT / "examples" / "memory_service.py"
service = load("examples/memory_service.py")


class Twin(Memory):
    """A memory that recalls the newest lines that fit."""

    name: ClassVar[str] = "twin"

    def __init__(self) -> None:
        self.kept = service.Latest()
        self.kept.begin(None, None)

    def begin(self, task: Task, seed: int | None) -> None:
        self.kept.begin(task._asdict(), seed)

    def observe(self, step: Step) -> None:
        self.kept.observe(step._asdict())

    def recall(self, cue: Cue, budget: int) -> Recall:
        found = self.kept.recall(cue._asdict(), budget)
        return Recall(found["text"], episodes=tuple(found["episodes"]))

    def state(self) -> dict[str, Any]:
        return {"lines": list(self.kept.lines)}

    def load_state(self, state: dict[str, Any]) -> None:
        self.kept = service.Latest()
        self.kept.lines = dict.fromkeys(state["lines"])
