"""Rule-based defaults of the roles that more than one memory uses."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from gym_memory.core.records import Cue, Step, Task, Triple
from gym_memory.graph.schema import slot_of

__all__ = ["compare", "explore", "importance", "outdated", "relevant_entities"]

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_MAX_NAME_WORDS = 6
_SEEK = re.compile(
    r"\b(?:explor|find|found|locat|search|look(?:ing)? for|seek|discover|unexplored|where is)",
    re.IGNORECASE,
)
_READ = re.compile(r"\b(?:recipe|note|letter|cookbook|sign|reads?|says?|written)\b", re.IGNORECASE)
_GAIN = re.compile(
    r"\b(?:score has|key|unlock|treasure|you take|you pick|you (?:have )?(?:won|lost)|die[ds]?)\b",
    re.IGNORECASE,
)
_LEAST_LETTERS = 4
"""Shorter words of a goal (the, you, in) say nothing about it."""


def outdated(existing: Sequence[Triple], new: Sequence[Triple], task: Task) -> list[Triple]:
    """Return facts whose slot (see :mod:`gym_memory.graph.schema`) a new fact fills."""
    fresh = set(new)
    slots = {slot for triple in new if (slot := slot_of(triple)) is not None}
    return [fact for fact in existing if fact not in fresh and slot_of(fact) in slots]


def explore(plan: str, task: Task) -> bool:
    """True if the plan (without one: the task) is about seeking something."""
    return _SEEK.search(plan or task.goal) is not None


def relevant_entities(cue: Cue, known: Container[str]) -> list[tuple[str, int]]:
    """Return known names in the plan (2 hops), then in observation, inventory and task (1 hop)."""
    depth: dict[str, int] = {}
    for text, hops in ((cue.focus, 2), (cue.text, 1), (cue.inventory, 1), (cue.task, 1)):
        for name in _names(text, known):
            depth.setdefault(name, hops)
    return list(depth.items())


def _names(text: str, known: Container[str]) -> list[str]:
    words = _WORD.findall(text.lower())
    names, at = [], 0
    while at < len(words):
        for size in range(min(_MAX_NAME_WORDS, len(words) - at), 0, -1):
            name = " ".join(words[at : at + size])
            if name in known:
                names.append(name)
                at += size
                break
        else:
            at += 1
    return names


def importance(text: str, task: Task) -> float:
    """Rate 1 for routine; more for words of the goal, text that was read, gains and losses."""
    goal = {word for word in _WORD.findall(task.goal.lower()) if len(word) >= _LEAST_LETTERS}
    shared = len(goal & set(_WORD.findall(text.lower())))
    signs = 3 * (_READ.search(text) is not None) + 3 * (_GAIN.search(text) is not None)
    return float(min(1 + min(shared, 3) + signs, 10))


def compare(better: Sequence[Step], worse: Sequence[Step], task: Task) -> int:
    """Return the first step whose action differs; the last one where none does."""
    for index, (one, other) in enumerate(zip(better, worse, strict=False)):
        if one.action != other.action:
            return index
    return min(len(worse), len(better) - 1)
