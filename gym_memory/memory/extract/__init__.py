"""Extraction: from the text of a step to facts."""

from __future__ import annotations

from functools import lru_cache

from gym_memory.errors import UnknownNameError
from gym_memory.memory.extract.base import Extraction, Extractor, Mention, Pattern
from gym_memory.registry import Registry

__all__ = ["EXTRACTORS", "Extraction", "Extractor", "Mention", "Pattern", "get_extractor"]

EXTRACTORS = Registry(
    "dialect",
    "gym_memory.extractors",
    {
        "textworld": "gym_memory.memory.extract.textworld:TextWorldRules",
        "prose": "gym_memory.memory.extract.prose:ProseRules",
        "alfworld": "gym_memory.memory.extract.alfworld:ALFWorldRules",
        "webshop": "gym_memory.memory.extract.webshop:WebShopRules",
        "nethack": "gym_memory.memory.extract.nethack:NetHackRules",
        "fiction": "gym_memory.memory.extract.fiction:FictionRules",
        "scienceworld": "gym_memory.memory.extract.scienceworld:ScienceWorldRules",
        "plain": "gym_memory.memory.extract.plain:PlainRules",
    },
)
"""Dialect (family of text) to its extraction rules."""


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
