"""The contract of extractors: text of one step in, facts with their evidence out."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol

from gym_memory.core.records import Step, Task, Triple
from gym_memory.graph import TemporalGraph

__all__ = ["Extraction", "Extractor", "Mention", "Pattern"]


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
