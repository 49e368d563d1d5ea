"""Where things usually are, counted over ALFWorld's train games (``benchmarks/alfworld``)."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files

__all__ = ["chance", "kind_of"]

_ELSEWHERE = 0.005
"""Chance of a kind of furniture where such a thing was never seen."""


@lru_cache(maxsize=1)
def _shares() -> dict[str, dict[str, float]]:
    source = files("gym_memory.baselines.rules.alfworld") / "habits.json"
    shares: dict[str, dict[str, float]] = json.loads(source.read_text(encoding="utf-8"))["share"]
    return shares


def kind_of(name: str) -> str:
    """The kind of a numbered thing.

    >>> kind_of("desk 2")
    'desk'
    """
    return name.rpartition(" ")[0] or name


def chance(thing: str, furniture: str) -> float:
    """How likely a piece of furniture holds a thing of a kind, in (0, 1].

    Args:
        thing: Kind of the thing, ``mug``.
        furniture: Name or kind of the furniture, ``desk 2``.
    """
    return max(_shares().get(thing, {}).get(kind_of(furniture), 0.0), _ELSEWHERE)
