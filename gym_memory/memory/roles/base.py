"""Parts that the papers give to a language model: one protocol a role, and their records.

A role is a callable without state, with a rule as default. A memory takes ``llm=`` and wraps it::

    model = chat_model(llm)
    self._reflect: Reflect = LLMReflect(model, rules) if model else rules
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple, Protocol

from gym_memory.core.records import Cue, Outcome, Step, Task, Triple

__all__ = [
    "AbstractCauses",
    "AdjustProcedure",
    "Aggregate",
    "CausalAbstraction",
    "Classify",
    "Cluster",
    "Compare",
    "EvaluateSubgoals",
    "Explore",
    "ExtractRelations",
    "GeneralizeCauses",
    "Importance",
    "Insights",
    "Learnings",
    "Outdated",
    "Reflect",
    "RelevantEntities",
    "Subgoal",
    "Summarize",
    "Workflow",
    "WriteLesson",
]


# --- AriGraph and Ariadne -----------------------------------------------------------------------


class Outdated(Protocol):
    """Selects facts of the graph that new ones make untrue (AriGraph, Appendix E)."""

    def __call__(
        self, existing: Sequence[Triple], new: Sequence[Triple], task: Task
    ) -> list[Triple]:
        """Return the members of ``existing`` to retire, in their order."""
        ...


class RelevantEntities(Protocol):
    """Chooses search texts for the graph, and how far to look (authors' code of AriGraph)."""

    def __call__(self, cue: Cue, known: Container[str]) -> list[tuple[str, int]]:
        """Return pairs (search text, depth in hops >= 1) of ``known`` names or new, best first."""
        ...


class Explore(Protocol):
    """Decides whether the plan needs to find or locate something (AriGraph, Appendix E)."""

    def __call__(self, plan: str, task: Task) -> bool:
        """True when unexplored exits should be shown."""
        ...


# --- summaries and reflections ------------------------------------------------------------------


class Summarize(Protocol):
    """Summarizes the past (AriGraph's baseline; STMA, Eq. 4; LDM2, Eq. 6)."""

    def __call__(self, previous: str, trace: Sequence[Step], task: Task) -> str:
        """Return a summary of ``previous``, empty at first, and the steps to add, oldest first."""
        ...


class Importance(Protocol):
    """Rates an observation (Simulacra)."""

    def __call__(self, text: str, task: Task) -> float:
        """Return a number in [1, 10]."""
        ...


class Insights(Protocol):
    """Draws general conclusions from single observations (Simulacra's reflections)."""

    def __call__(self, statements: Sequence[str], task: Task) -> list[str]:
        """Return conclusions, each one sentence."""
        ...


class Reflect(Protocol):
    """Explains what went wrong in a trial and what to do in the next one (Reflexion)."""

    def __call__(
        self, trace: Sequence[Step], outcome: Outcome, previous: Sequence[str], task: Task
    ) -> str:
        """Return a plan for the next trial; ``previous`` are earlier ones, oldest first."""
        ...


class WriteLesson(Protocol):
    """Writes an item of experience after an episode (MemRL, RetroAgent, Memp)."""

    def __call__(
        self, trace: Sequence[Step], outcome: Outcome, task: Task, other: Sequence[str]
    ) -> str:
        """Return the text.

        ``other`` are the actions of an attempt at the same task with the opposite outcome; empty
        if there is none.
        """
        ...


class AdjustProcedure(Protocol):
    """Rewrites a procedure that a failed episode used (Memp)."""

    def __call__(self, text: str, trace: Sequence[Step], outcome: Outcome, task: Task) -> str:
        """Return the procedure in its new form."""
        ...


# --- CLIN ---------------------------------------------------------------------------------------

_FORMS = {
    (True, False): "MAY BE NECESSARY TO",
    (True, True): "SHOULD BE NECESSARY TO",
    (False, False): "MAY NOT CONTRIBUTE TO",
    (False, True): "DOES NOT CONTRIBUTE TO",
}
_SENTENCE = re.compile(
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
        found = _SENTENCE.match(" ".join(sentence.split()))
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


class AbstractCauses(Protocol):
    """Generates CLIN's memory after a trial (Algorithm 1)."""

    def __call__(
        self,
        trace: Sequence[Step],
        outcome: Outcome,
        previous: Sequence[Sequence[CausalAbstraction]],
        task: Task,
    ) -> list[CausalAbstraction]:
        """Return the rewritten memory; ``previous`` are at most three, oldest first."""
        ...


class GeneralizeCauses(Protocol):
    """Makes CLIN's meta-memory from the best trial of several episodes (3.3)."""

    def __call__(
        self, archive: Sequence[Learnings], task: Task, same_task: bool
    ) -> list[CausalAbstraction]:
        """Return a memory to start with, from at most ten best trials; Gen-Env if ``same_task``."""
        ...


# --- STMA ---------------------------------------------------------------------------------------


class ExtractRelations(Protocol):
    """Retrieves STMA's spatial triples from the temporal belief (Eq. 6)."""

    def __call__(self, belief: str, task: Task) -> list[Triple]:
        """Return the latest relations stated in ``belief``."""
        ...


class Aggregate(Protocol):
    """Turns a subgraph into prose, STMA's spatial belief (Eq. 7)."""

    def __call__(self, triples: Sequence[Triple], task: Task) -> str:
        """Return the prose, with what follows from the triples (west-of is transitive)."""
        ...


# --- AWM ----------------------------------------------------------------------------------------


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


# --- LDM2 ---------------------------------------------------------------------------------------


class Subgoal(NamedTuple):
    """A part of the goal and whether the past actions completed it."""

    text: str
    complete: bool

    def __str__(self) -> str:
        return f"{self.text} - {'complete' if self.complete else 'incomplete'}"


class EvaluateSubgoals(Protocol):
    """Splits LDM2's goal and judges each part against the past (Table 4)."""

    def __call__(self, trace: Sequence[Step], task: Task) -> list[Subgoal]:
        """Return the subgoals in the order in which they are to be done."""
        ...


class Cluster(Protocol):
    """Groups goals or observations into types for LDM2's index (Eqs. 7 and 8)."""

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """Return the name of each text's type, one a text."""
        ...


class Classify(Protocol):
    """Finds the type of a new goal or observation for LDM2's look-up (Table 4)."""

    def __call__(self, text: str, types: Mapping[str, Sequence[str]]) -> str:
        """Return one key of ``types``, which has examples of each."""
        ...


class Compare(Protocol):
    """Finds where a better process first departs from another (LDM2, Eq. 10)."""

    def __call__(self, better: Sequence[Step], worse: Sequence[Step], task: Task) -> int:
        """Return the index into ``better`` of the first step that differs."""
        ...
