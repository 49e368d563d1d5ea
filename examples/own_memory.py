"""A memory of one's own in thirty lines, compared with others in one table.

pip install "gym-memory[textworld]"
python examples/own_memory.py
"""

from __future__ import annotations

import argparse

from gym_memory.core.records import Recall
from gym_memory.core.tokens import CHARS_PER_TOKEN
from gym_memory.memory import MEMORIES, Memory
from gym_memory.run.compare import compare
from gym_memory.run.jobs import RunConfig
from gym_memory.run.results.score import table, units


class Firsts(Memory):
    """The first time that each word was seen: what is rare is worth remembering."""

    name = "firsts"
    lifetimes = {"lines": "episode"}

    def __init__(self):
        self.words: set[str] = set()
        self.lines: list[str] = []

    def begin(self, task, seed):
        self.words, self.lines = set(), []

    def observe(self, step):
        for line in filter(None, map(str.strip, step.text.splitlines())):
            words = set(line.lower().split())
            if words - self.words:
                self.lines.append(line)
            self.words |= words

    def recall(self, cue, budget):
        kept, left = [], budget * CHARS_PER_TOKEN
        for line in reversed(self.lines):  # the newest first, as many as fit
            if len(line) + 1 <= left and line not in cue.text:
                kept.append(line)
                left -= len(line) + 1
        return Recall(text="\n".join(reversed(kept)))

    def state(self):
        return {"words": sorted(self.words), "lines": self.lines}

    def load_state(self, state):
        self.words, self.lines = set(state["words"]), list(state["lines"])


MEMORIES.register("firsts", Firsts)  # workers import this file too, but for what is below

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--games", type=int, default=2)
    parser.add_argument("--out", default="results/own-memory")
    given = parser.parse_args()
    config = RunConfig(
        envs=("TreasureHunt?level=hard&split=test",),
        memories=("none", "firsts", "history", "arigraph"),
        policies=("planner",),
        seeds=tuple(range(given.games)),
    )
    for row in table(units(compare(config, given.out))):
        print(f"{row.memory}: score {row.score:.2f}, {row.tokens:.0f} tokens a step")
