"""Extraction: from the text of a step to facts.

Here live the contract and the names; no rules. Those for plain English are in
``gym_memory/english/``, those of a dialect with the game that speaks it.
"""

from __future__ import annotations

from functools import lru_cache

from gym_memory.errors import UnknownNameError
from gym_memory.memory.extract.base import Extraction, Extractor, Mention, Pattern
from gym_memory.registry import Registry

__all__ = ["EXTRACTORS", "Extraction", "Extractor", "Mention", "Pattern", "get_extractor"]

EXTRACTORS = Registry(
    "dialect",
    "gym_memory.extractors",
    {"plain": "gym_memory.english.plain:PlainRules"},
)
"""Dialect (family of text) to its extraction rules; games declare theirs."""


@lru_cache(maxsize=256)
def get_extractor(dialect: str) -> Extractor:
    """The extraction rules of a dialect, the same object every time.

    A dialect without rules gets those for plain English, so that a new backend works with every
    memory from its first day; give it rules through :data:`EXTRACTORS`, before they are first
    asked for.
    """
    try:
        rules: type[Extractor] = EXTRACTORS.get(dialect)
    except UnknownNameError:
        rules = EXTRACTORS.get("plain")
    return rules()
