"""The contract of extractors: text of one step in, facts with their evidence out."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol

from gym_memory.core.records import Step, Task, Triple
from gym_memory.graph import TemporalGraph

__all__ = ["Extraction", "Extractor", "Mention", "Pattern", "apply", "is_whole"]


class Mention(NamedTuple):
    """A fact and its evidence: characters of ``Step.text``.

    Both are -1 where the fact comes from elsewhere (the action, the inventory text).
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
    """Facts that a step states, and patterns of facts that it ends before.

    ``said`` has the source of each fact that is not the game's own report, such as a note.
    """

    mentions: tuple[Mention, ...] = ()
    outdated: tuple[Pattern, ...] = ()
    said: Mapping[Triple, str] = MappingProxyType({})


class Extractor(Protocol):
    """The extraction role: rules, an LLM, or the oracle.

    It keeps no state between calls: the past is in the graph, so a memory that is restored or
    forked needs nothing else.
    """

    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """Return the facts of one step, given the graph before the step."""
        ...


def apply(
    extraction: Extraction, graph: TemporalGraph, t: int, *, episode: int = -1
) -> list[Triple]:
    """Change a graph by an extraction; return the facts stated, normalised.

    A fact that is said is left out where what was seen excludes it.

    Args:
        extraction: Facts and patterns.
        graph: The graph; changed in place.
        t: The graph's clock at this step.
        episode: Id of the observation that states it; -1 for none.
    """
    for pattern in extraction.outdated:
        graph.retire_matching(*pattern, t=t, by="text")
    stated, said = [], extraction.said
    for triple, start, end in extraction.mentions:
        by = said.get(triple, "")
        if is_whole(triple) and not (by and graph.was_seen_otherwise(triple)):
            fact = graph.add(triple, t, episode=episode, start=start, end=end, said_by=by)
            stated.append(fact.triple)
    return stated


def is_whole(triple: Triple) -> bool:
    """True if no part of a triple is blank, as where a text has a gap instead of a name."""
    return all(map(str.strip, triple))
