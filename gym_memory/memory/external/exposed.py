"""Show our memories to other programs: add/search, and EvoMemBench's inject and update."""

from __future__ import annotations

import os
from typing import Any

from gym_memory.core.records import Cue, Outcome, Step, Task
from gym_memory.core.tokens import count_tokens
from gym_memory.memory.base import make_memory

__all__ = ["AsAddSearch", "AsInjectUpdate"]


class AsAddSearch:
    """Offer a memory as :class:`~gym_memory.memory.external.base.Client`, in one open episode.

    Args:
        memory: A memory, a name with parameters.
        budget: Tokens that a search may return.

    >>> client = AsAddSearch("arigraph")
    >>> client.add("You are in the attic. You see a chest that is closed.")
    >>> client.search("chest", 2)
    ['you: is in attic', 'chest: is in attic; is closed']
    """

    def __init__(self, memory: str = "arigraph", budget: int = 1000, goal: str = ""):
        self.memory, self.budget, self._t = make_memory(memory), budget, 0
        self._goal = goal
        self.memory.begin(Task("", goal, "plain"), 0)

    def add(self, text: str, action: str = "") -> None:
        """Learn from a text, as the answer to an action."""
        self.memory.observe(self.memory.admit(Step(self._t, text, action), self._goal))
        self._t += 1

    def search(self, query: str, k: int = 10) -> list[str]:
        """Return the first ``k`` lines of what is recalled."""
        return self.memory.recall(Cue(query, focus=query), self.budget).text.splitlines()[:k]


class AsInjectUpdate:
    """Offer a memory as EvoMemBench's adapter (its commit aa4cea8).

    Args:
        memory: A memory that lasts over episodes, a name with parameters.
        budget: Tokens that may be injected.
        read_only: True if ``update`` changes nothing.
        dialect: Family of the environment's text, by whose rules it is read.
    """

    def __init__(
        self,
        memory: str = "memrl",
        budget: int = 1000,
        read_only: bool = False,
        dialect: str = "plain",
    ):
        self.memory, self.budget = make_memory(memory), budget
        self.read_only, self.dialect = read_only, dialect

    def inject(
        self, conversation: list[dict[str, str]]
    ) -> tuple[list[dict[str, str]], dict[str, int]]:
        """Return a copy with what is recalled for the first observation in the system message."""
        first = next(t["content"] for t in conversation if t["role"] == "user")
        before = self.memory.snapshot()
        self._begin(first)
        text = self.memory.recall(Cue(first, first), self.budget).text
        self.memory.restore(before)
        turns = [dict(turn) for turn in conversation]
        if text and turns[0]["role"] != "system":
            turns.insert(0, {"role": "system", "content": ""})
        if text:
            turns[0]["content"] = f"{turns[0]['content']}\n\n{text}".lstrip()
        return turns, _used(count_tokens(text))

    def update(
        self, conversation: list[dict[str, str]], data_idx: int, reward: float
    ) -> dict[str, int]:
        """Learn from an episode whose ``reward`` is in [0, 1]; 1 is a success."""
        if not self.read_only:
            turns = [turn for turn in conversation if turn["role"] != "system"]
            first = next(i for i, turn in enumerate(turns) if turn["role"] == "user")
            self._begin(turns[first]["content"], data_idx)
            action, t = "", 0
            for turn in turns[first + 1 :]:
                if turn["role"] == "assistant":
                    action = turn["content"]
                else:
                    t += 1
                    self._observe(Step(t, turn["content"], action))
            self.memory.end(Outcome(reward, 1.0, reward, reward >= 1, steps=t))
        return _used(0)

    def load_from_disk(self, path: str | os.PathLike[str]) -> None:
        """Load what ``memory.save`` wrote."""
        self.memory.load(path)

    def _begin(self, first: str, number: int = 0) -> None:
        self._goal = first.rpartition("Your task is to:")[2].strip().partition("\n")[0]
        self.memory.begin(Task(f"{self.dialect}/{number}", self._goal, self.dialect), 0)
        self._observe(Step(0, first))

    def _observe(self, step: Step) -> None:
        self.memory.observe(self.memory.admit(step, self._goal))


def _used(tokens: int) -> dict[str, int]:
    names: Any = ("output_tokens", "embedding_tokens", "cached_tokens", "latency")
    return {"input_tokens": tokens, **dict.fromkeys(names, 0)}
