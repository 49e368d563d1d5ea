"""Your own memory in thirty lines, compared with others in one table.

pip install gym-memory
python examples/own_memory.py
"""

from __future__ import annotations

import argparse

from gym_memory.core.records import MemoryStats, Recall
from gym_memory.memory import MEMORIES, Memory
from gym_memory.memory.base import CHARS_PER_TOKEN
from gym_memory.run.compare import compare
from gym_memory.run.config import RunConfig
from gym_memory.run.results.score import table, units


class Brief(Memory):
    """A memory of all texts; a repeated text is recalled by its first line."""

    name = "brief"
    lifetimes = {"entries": "episode"}

    def __init__(self):
        self.seen, self.entries = set(), []

    def begin(self, task, seed):
        self.seen, self.entries = set(), []

    def observe(self, step):
        text = step.text.strip()
        shown = text.partition("\n")[0] if text in self.seen else text
        self.seen.add(text)
        action = f" > {step.action}" if step.action else ""
        self.entries.append(f"[step {step.t}]{action}\n{shown}\n")

    def recall(self, cue, budget):
        kept, left = [], budget * CHARS_PER_TOKEN
        for entry in reversed(self.entries):  # the newest first, as many as fit
            if len(entry) > left:
                break
            kept.append(entry)
            left -= len(entry)
        text = "".join(reversed(kept))
        return Recall(text=text)

    def state(self):
        return {"seen": sorted(self.seen), "entries": self.entries}

    def load_state(self, state):
        self.seen, self.entries = set(state["seen"]), list(state["entries"])

    def stats(self):
        return MemoryStats(episodes=len(self.entries))


MEMORIES.register("brief", Brief)  # workers also import this file, except the lines below

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--games", type=int, default=6)
    parser.add_argument("--out", default="results/own-memory")
    given = parser.parse_args()
    config = RunConfig(
        envs=("Fetch?level=hard&split=test",),
        memories=("none", "brief", "history", "arigraph"),
        policies=("planner",),
        seeds=tuple(range(given.games)),
    )
    for row in table(units(compare(config, given.out))):
        print(f"{row.memory}: score {row.score:.2f}, {row.tokens:.0f} tokens a step")
