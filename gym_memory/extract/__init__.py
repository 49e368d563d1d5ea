"""Extraction: from the text of a step to facts.

Here live the contract and the names; no rules. Those for plain English are in
``gym_memory/extract/notes/``, those of a dialect with the game that speaks it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from inspect import signature

from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.names import Registry
from gym_memory.extract.base import Extraction, Extractor, Mention, Pattern

__all__ = ["EXTRACTORS", "READERS", "Extraction", "Extractor", "Mention", "Pattern"]
__all__ += ["get_extractor"]

EXTRACTORS = Registry(
    "dialect", "gym_memory.extractors", "EXTRACTORS", ["gym_memory.extract", "gym_memory.games"]
)
"""Dialect (family of text) to its extraction rules."""

READERS = Registry("reader", "gym_memory.readers", "READERS", ["gym_memory.extract"])
"""Who reads notes, goals and recipes for extraction rules that let somebody else do it."""


@lru_cache(maxsize=256)
def get_extractor(dialect: str, reader: str = "rules") -> Extractor:
    """The extraction rules of a dialect, the same object every time.

    A dialect without rules gets those for plain English, so that a new backend works with every
    memory from its first day; give it rules through :data:`EXTRACTORS`, before they are first
    asked for.

    Args:
        dialect: Name of the family of text.
        reader: Who reads what is written on things, one of :data:`READERS`.

    Raises:
        InvalidArgumentError: The rules of the dialect read no prose that another could read.
        MissingDependencyError: The reader's package is not installed.
        UnknownNameError: There is no such reader.
    """
    try:
        rules: Callable[..., Extractor] = EXTRACTORS.get(dialect)
    except UnknownNameError:
        rules = EXTRACTORS.get("plain")
    if reader == "rules":
        return rules()
    if "reader" not in signature(rules).parameters:
        raise InvalidArgumentError(
            f"expected a game whose notes a reader can read, got the dialect {dialect!r}, which "
            f"has none: leave out reader={reader}"
        )
    return rules(reader=READERS.make(reader))
