"""A memory that keeps what was seen, without repeating itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gym_memory.core.records import Cue, MemoryStats, Recall, Step, Task
from gym_memory.memory import Lifetime, Memory
from gym_memory.memory.base import CHARS_PER_TOKEN

__all__ = ["Template"]


class Template(Memory):
    """Keep each text whole when it is new, its first line when it comes again.

    Args:
        most: Entries to recall at most.
    """

    name = "Template"
    lifetimes: Mapping[str, Lifetime] = {"entries": "episode"}

    def __init__(self, most: int = 1000):
        self.most = most
        self.seen: set[str] = set()
        self.entries: list[str] = []

    def begin(self, task: Task, seed: int | None) -> None:
        """Start an episode: forget the last one."""
        self.seen, self.entries = set(), []

    def observe(self, step: Step) -> None:
        """Learn from one step; ``step`` is all that a memory may learn from."""
        text = step.text.strip()
        shown = text.partition("\n")[0] if text in self.seen else text
        self.seen.add(text)
        action = f" > {step.action}" if step.action else ""
        self.entries.append(f"[step {step.t}]{action}\n{shown}\n")

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Return the latest entries that fit into ``budget`` tokens; keep the state as it is."""
        kept: list[str] = []
        left = budget * CHARS_PER_TOKEN
        for entry in reversed(self.entries[-self.most :]):
            if len(entry) > left:
                break
            kept.insert(0, entry)
            left -= len(entry)
        return Recall(text="".join(kept), episodes=tuple(kept))

    def state(self) -> dict[str, Any]:
        """Return all that it knows as JSON values; snapshots, forks and files follow from it."""
        return {"seen": sorted(self.seen), "entries": self.entries}

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace all by what :meth:`state` returned."""
        self.seen, self.entries = set(state["seen"]), list(state["entries"])

    def stats(self) -> MemoryStats:
        """Return sizes, which ``info["memory_stats"]`` shows."""
        return MemoryStats(episodes=len(self.entries))
