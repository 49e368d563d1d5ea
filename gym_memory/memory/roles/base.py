"""Parts that the papers give to a language model: types, records, and rules of several memories.

A role is a callable without state, with a rule as default. A memory takes ``llm=`` and wraps it::

    self._reflect = LLMReflect.or_rule(chat_model(llm), reflect)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from typing import NamedTuple

from gym_memory.core.records import Cue, Outcome, Step, Task, Triple
from gym_memory.core.text import compounds
from gym_memory.graph.schema import slot_of

__all__ = ["AbstractCauses", "AdjustProcedure", "Aggregate", "CausalAbstraction", "Classify"]
__all__ += ["Cluster", "Compare", "EvaluateSubgoals", "Explore", "ExtractRelations"]
__all__ += ["GeneralizeCauses", "Importance", "Insights", "Learnings", "Outdated", "Reflect"]
__all__ += ["RelevantEntities", "Subgoal", "Summarize", "Workflow", "WriteLesson"]
__all__ += ["compare", "explore", "importance", "outdated", "relevant_entities"]

Outdated = Callable[[Sequence[Triple], Sequence[Triple], Task], list[Triple]]
"""Selects the known facts that new ones make untrue, in their order (AriGraph, Appendix E)."""
RelevantEntities = Callable[[Cue, Container[str]], list[tuple[str, int]]]
"""Chooses search texts, of the names known or new, each with a depth >= 1 (AriGraph's code)."""
Explore = Callable[[str, Task], bool]
"""Decides whether the plan needs unexplored exits to be shown (AriGraph, Appendix E)."""

Summarize = Callable[[str, Sequence[Step], Task], str]
"""Summarizes an earlier summary, empty at first, and the steps to add, oldest first.

AriGraph's baseline; STMA, Eq. 4; LDM2, Eq. 6.
"""
Importance = Callable[[str, Task], float]
"""Rates an observation by a number in [1, 10] (Simulacra)."""
Insights = Callable[[Sequence[str], Task], list[str]]
"""Draws general conclusions, each one sentence, from single observations (Simulacra)."""
Reflect = Callable[[Sequence[Step], Outcome, Sequence[str], Task], str]
"""Plans the next trial, given a trial and the earlier plans, oldest first (Reflexion)."""
WriteLesson = Callable[[Sequence[Step], Outcome, Task, Sequence[str]], str]
"""Writes an item of experience after an episode (MemRL, RetroAgent, Memp).

The last argument has the actions of an attempt at the same task with the opposite outcome; it is
empty if there is none.
"""
AdjustProcedure = Callable[[str, Sequence[Step], Outcome, Task], str]
"""Rewrites a procedure that a failed episode used (Memp)."""

_FORMS = {
    (True, False): "MAY BE NECESSARY TO",
    (True, True): "SHOULD BE NECESSARY TO",
    (False, False): "MAY NOT CONTRIBUTE TO",
    (False, True): "DOES NOT CONTRIBUTE TO",
}
_ABSTRACTION = re.compile(
    r"^(?P<cause>.+?)\s+"
    r"(?:(?P<necessary>(?P<may>may)(?:\s+be)?|should(?:\s+be)?|is|are)\s+nec+es+ary"
    r"|(?P<helps>may|should)(?:\s+be)?\s+contribut\w*"
    r"|(?P<useless>may\s+not|do(?:es)?\s+not|doesn't|don't|should\s+not)\s+contribut\w*)"
    r"\s+(?:to|for|in|towards?)\s+(?P<effect>.+?)\s*\.?$",
    re.IGNORECASE,
)


class CausalAbstraction(NamedTuple):
    """``X is NECESSARY to Y`` or ``X DOES NOT CONTRIBUTE to Y``, with its certainty (CLIN, 3.2).

    >>> print(CausalAbstraction("Going east", "reaching the kitchen", certain=True))
    Going east SHOULD BE NECESSARY TO reaching the kitchen.
    """

    cause: str
    effect: str
    necessary: bool = True
    certain: bool = False

    def __str__(self) -> str:
        return f"{self.cause} {_FORMS[self.necessary, self.certain]} {self.effect}."

    @classmethod
    def parse(cls, sentence: str) -> CausalAbstraction | None:
        """Read a sentence of the paper's forms, None for any other; MAY CONTRIBUTE is MAY BE.

        >>> CausalAbstraction.parse("Opening the fridge may be necessary to get juice.").effect
        'get juice'
        """
        found = _ABSTRACTION.match(" ".join(sentence.split()))
        if found is None:
            return None
        cause, effect = found["cause"].strip(), found["effect"].strip()
        if found["useless"]:
            return cls(cause, effect, False, found["useless"].lower().split() != ["may", "not"])
        doubtful = found["may"] or (found["helps"] or "").lower() == "may"
        return cls(cause, effect, True, not doubtful)


class Learnings(NamedTuple):
    """Learnings of one trial, as kept in the archive of a meta-memory (CLIN, 3.3)."""

    goal: str
    abstractions: tuple[CausalAbstraction, ...]
    outcome: Outcome


AbstractCauses = Callable[
    [Sequence[Step], Outcome, Sequence[Sequence[CausalAbstraction]], Task], list[CausalAbstraction]
]
"""Rewrites CLIN's memory after a trial (Algorithm 1), given at most three, oldest first."""
GeneralizeCauses = Callable[[Sequence[Learnings], Task, bool], list[CausalAbstraction]]
"""Makes CLIN's meta-memory from at most ten best trials of several episodes (3.3).

The last argument is True for Gen-Env, where the trials are of the same task.
"""

ExtractRelations = Callable[[str, Task], list[Triple]]
"""Retrieves the latest relations that STMA's temporal belief states (Eq. 6)."""
Aggregate = Callable[[Sequence[Triple], Task], str]
"""Turns a subgraph, with what follows from it, into prose: STMA's spatial belief (Eq. 7)."""


class Workflow(NamedTuple):
    """A routine of Agent Workflow Memory; ``<1>`` in its texts is the slot of the first thing.

    Attributes:
        template: Goal with slots; empty if a model wrote the text.
        abstract: Sequence of ``verb(slots)``; equal ones are the same workflow.
        things: What the slots hold in the example.
    """

    text: str
    template: str
    abstract: str
    things: tuple[str, ...] = ()


class Subgoal(NamedTuple):
    """A part of the goal and whether the past actions completed it."""

    text: str
    complete: bool

    def __str__(self) -> str:
        return f"{self.text} - {'complete' if self.complete else 'incomplete'}"


EvaluateSubgoals = Callable[[Sequence[Step], Task], list[Subgoal]]
"""Splits LDM2's goal into parts in their order and judges each against the past (Table 4)."""
Cluster = Callable[[Sequence[str]], list[str]]
"""Names the type of each goal or observation for LDM2's index (Eqs. 7 and 8)."""
Classify = Callable[[str, Mapping[str, Sequence[str]]], str]
"""Chooses one of LDM2's types, each with examples, for a new goal or observation (Table 4)."""
Compare = Callable[[Sequence[Step], Sequence[Step], Task], int]
"""Finds the first step of a better process that differs from a worse one (LDM2, Eq. 10)."""

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
    words = compounds(text)
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
    goal = {word for word in compounds(task.goal) if len(word) >= _LEAST_LETTERS}
    shared = len(goal & set(compounds(text)))
    signs = 3 * (_READ.search(text) is not None) + 3 * (_GAIN.search(text) is not None)
    return float(min(1 + min(shared, 3) + signs, 10))


def compare(better: Sequence[Step], worse: Sequence[Step], task: Task) -> int:
    """Return the first step whose action differs; the last one where none does."""
    for index, (one, other) in enumerate(zip(better, worse, strict=False)):
        if one.action != other.action:
            return index
    return min(len(worse), len(better) - 1)
