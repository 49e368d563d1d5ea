"""What an extractor takes and gives: text of one step in, facts with their evidence out."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from gym_memory.core.records import Step, Task, Triple
from gym_memory.graph import TemporalGraph

__all__ = ["Extraction", "Extractor", "Mention", "Pattern", "apply", "is_whole"]


class Mention(NamedTuple):
    """A fact and the characters of the step's text that say so.

    ``start`` and ``end`` index into ``Step.text``; both are -1 where the fact comes from
    elsewhere (the action taken, the inventory text).
    """

    triple: Triple
    start: int = -1
    end: int = -1


class Pattern(NamedTuple):
    """Facts to retire; None matches anything."""

    subject: str | None = None
    relation: str | None = None
    object: str | None = None


class Extraction(NamedTuple):
    """Facts stated by a step, and patterns of facts that it ended.

    Retirement happens before the new facts are added.
    """

    mentions: tuple[Mention, ...] = ()
    outdated: tuple[Pattern, ...] = ()


class Extractor(Protocol):
    """The extraction role: rules, an LLM, or the oracle.

    An extractor keeps no state between calls: what it must know of the past it reads from the
    graph, so a memory that is restored or forked needs nothing else.
    """

    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """Facts of one step, given the graph as it stands before the step."""
        ...


def apply(
    extraction: Extraction, graph: TemporalGraph, t: int, *, episode: int = -1
) -> list[Triple]:
    """Change a graph by what a step stated.

    Args:
        extraction: What an extractor found.
        graph: The graph; changed in place.
        t: The graph's clock at this step.
        episode: Id of the observation that states it; -1 for none.

    Returns:
        The facts stated, normalised.
    """
    for pattern in extraction.outdated:
        graph.retire_matching(*pattern, t=t, by="text")
    return [
        graph.add(triple, t, episode=episode, start=start, end=end).triple
        for triple, start, end in extraction.mentions
        if is_whole(triple)
    ]


def is_whole(triple: Triple) -> bool:
    """Whether no part of a triple is blank.

    A text may have a gap where a rule expects a name; that is no fact.
    """
    return all(map(str.strip, triple))
