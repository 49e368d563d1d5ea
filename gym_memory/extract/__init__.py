"""Extraction of facts, with their evidence, from the text of one step.

The rules for general English are in ``plain.py``; each game has rules for its own dialect.
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
    """A fact and its evidence, a span of ``Step.text``.

    Both ends are -1 if the fact comes from the action or the inventory text.
    """

    triple: Triple
    start: int = -1
    end: int = -1


class Pattern(NamedTuple):
    """A pattern of facts to retire; None matches anything."""

    subject: str | None = None
    relation: str | None = None
    object: str | None = None
    by: str = "text"
    """Cause of the end: the text, or a list that omits the facts."""


class Extraction(NamedTuple):
    """Facts that a step states, and patterns of facts to retire first.

    ``said`` names the source, such as a note, of each fact that the game itself does not state.
    """

    mentions: tuple[Mention, ...] = ()
    outdated: tuple[Pattern, ...] = ()
    said: Mapping[Triple, str] = MappingProxyType({})


class Extractor(Protocol):
    """An extractor of facts: rules, an LLM or the oracle.

    It has no state: the past is in the graph, so a restored or forked memory needs only the graph.
    """

    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """Return the facts of one step, given the graph before the step."""
        ...


EXTRACTORS = Registry("dialect", "gym_memory.extractors", components.EXTRACTORS)
"""Extraction rules by dialect, a family of texts."""


class _WithFallback:
    """Rules of a dialect, with fallback rules for texts in which they find no fact."""

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

    A dialect without rules gets those for general English, so every memory works with a new game.
    Register rules in :data:`EXTRACTORS` before the first call.

    Args:
        dialect: Name of the dialect. In ``a+b``, ``b`` reads the texts in which ``a`` finds
            nothing.
    """
    if "+" in dialect:
        first, _, second = dialect.partition("+")
        return _WithFallback(get_extractor(first), get_extractor(second))
    try:
        rules: Callable[[], Extractor] = EXTRACTORS.get(dialect)
    except UnknownNameError:
        rules = EXTRACTORS.get("plain")
    return rules()
