"""Extraction: from the text of one step to facts with their evidence.

The rules for any English text are in ``plain.py``, those of a dialect with its game.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from gym_memory.core import components
from gym_memory.core.errors import UnknownNameError
from gym_memory.core.names import Registry
from gym_memory.core.records import Step, Task, Triple
from gym_memory.graph import TemporalGraph

__all__ = ["EXTRACTORS", "Extraction", "Extractor", "Mention", "Pattern", "get_extractor"]


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
    by: str = "text"
    """Cause of their end: the text, or a list that leaves them out."""


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


EXTRACTORS = Registry("dialect", "gym_memory.extractors", components.EXTRACTORS)
"""Dialect (family of text) to its extraction rules."""


class _InTurn:
    """Rules of a dialect, and others for a text in which these find no fact."""

    complete = False

    def __init__(self, first: Extractor, second: Extractor):
        self._first, self._second = first, second

    def __getattr__(self, name: str) -> Any:
        return getattr(self._first, name)

    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """See :class:`Extractor`."""
        found = self._first.extract(step, graph, task)
        if any(mention.start >= 0 for mention in found.mentions):
            return found
        other = self._second.extract(step, graph, task)
        return other if any(mention.start >= 0 for mention in other.mentions) else found


@lru_cache(maxsize=256)
def get_extractor(dialect: str) -> Extractor:
    """Return the extraction rules of a dialect, the same object every time.

    A dialect without rules gets those for plain English, so a new backend works with every memory
    from its first day. Register its own in :data:`EXTRACTORS` before the first call.

    Args:
        dialect: Name of the family of text; ``a+b`` reads by ``b`` what ``a`` finds nothing in.
    """
    if "+" in dialect:
        first, _, second = dialect.partition("+")
        return _InTurn(get_extractor(first), get_extractor(second))
    try:
        rules: Callable[[], Extractor] = EXTRACTORS.get(dialect)
    except UnknownNameError:
        rules = EXTRACTORS.get("plain")
    return rules()
