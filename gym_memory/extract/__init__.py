"""Extraction: from the text of a step to facts.

The rules for any English text are in ``plain.py``, those of a dialect with the game that speaks it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from gym_memory.core.errors import UnknownNameError
from gym_memory.core.names import Registry
from gym_memory.core.records import Step, Task
from gym_memory.extract.base import Extraction, Extractor, Mention, Pattern
from gym_memory.graph import TemporalGraph

__all__ = ["EXTRACTORS", "Extraction", "Extractor", "Mention", "Pattern", "get_extractor"]

EXTRACTORS = Registry(
    "dialect", "gym_memory.extractors", "EXTRACTORS", ["gym_memory.extract", "gym_memory.games"]
)
"""Dialect (family of text) to its extraction rules."""


class _InTurn:
    """Rules of a dialect, and others for a text in which these find no fact."""

    def __init__(self, first: Extractor, second: Extractor):
        self._first, self._second = first, second

    def __getattr__(self, name: str) -> Any:
        return getattr(self._first, name)

    def extract(self, step: Step, graph: TemporalGraph, task: Task) -> Extraction:
        """See :class:`~gym_memory.extract.base.Extractor`."""
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
