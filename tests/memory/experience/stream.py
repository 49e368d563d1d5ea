"""Episodes for a memory of experience, and its items."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from gym_memory.core.names import Spec
from gym_memory.core.records import Cue, Outcome, Step, Task
from gym_memory.memory import make_memory
from gym_memory.memory.encoders import CachedEncoder, unit
from gym_memory.memory.encoders.vectors import VectorCache
from gym_memory.memory.experience.base import ExperienceMemory
from gym_memory.memory.experience.items import Item

WON = Outcome(1.0, 1.0, 1.0, True, False, 3)
LOST = Outcome(0.0, 1.0, 0.0, False, False, 3)
WAY = ("go to fridge 1", "take potato 1 from fridge 1", "go to shelf 2", "move potato 1 to shelf 2")


class Words:
    """Encode words as axes of their own, so that cosines are simple fractions."""

    id, dim = "words-1021", 1021

    def encode(self, texts: Sequence[str]) -> Any:
        """Return unit vectors of the counted words."""
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.split():
                row[zlib.crc32(word.encode()) % self.dim] += 1
        return unit(rows)


WORDS = CachedEncoder(Words(), VectorCache.shared(disk=False))


def made(spec: str, **settings: Any) -> Any:
    """Build a memory that encodes words by themselves."""
    name, kwargs = Spec(spec).parts
    return make_memory(name, **{"encoder": WORDS, **kwargs, **settings})


def begin(memory: ExperienceMemory, goal: str, id: str = "") -> str:
    """Begin an episode; return the recall at its start."""
    memory.begin(Task(id or f"house/{goal}", goal, "alfworld"), 0)
    (first,) = steps(goal, LOST, ())
    memory.observe(first)
    return memory.recall(Cue(first.text, goal), 1000).text


def steps(goal: str, outcome: Outcome, actions: Sequence[str] = WAY) -> list[Step]:
    """Return the steps of an episode."""
    text = f"You are in the middle of a room.\nYour task is to: {goal}."
    trace = [Step(0, text, valid_actions=("look",))]
    for t, action in enumerate(actions, 1):
        last = t == len(actions)
        reward = float(bool(outcome.success)) if last else 0.0
        answer = f"You do {action} ({t})." if outcome.success else "Nothing happens."
        valid = ("look", str(t)) if outcome.success else ("look",)
        trace.append(Step(t, answer, action, reward, "", valid, last))
    return trace


def play(
    memory: ExperienceMemory,
    goal: str,
    outcome: Outcome,
    actions: Sequence[str] = WAY,
    id: str = "",
) -> str:
    """Play an episode; return the recall at its start."""
    text = begin(memory, goal, id)
    for step in steps(goal, outcome, actions)[1:]:
        memory.observe(step)
    memory.end(outcome)
    return text


def items(memory: ExperienceMemory) -> list[Item]:
    """Return the items of a memory, oldest first."""
    return list(memory.bank.items.values())
