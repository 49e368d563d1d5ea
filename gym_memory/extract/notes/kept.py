"""Cached readings: the same text, with the same kinds of its names, states the same.

A memory reads each text, and so does a player with that memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from gym_memory.extract.notes.words import KindOf

__all__ = ["kept"]

R = TypeVar("R")
_MOST_READINGS = 256


def kept(read: Callable[..., R]) -> Callable[..., R]:
    """Decorate a function whose last positional argument is a :data:`.KindOf`.

    Its answer is kept, with what it learnt of each name; it is given again for the same arguments
    as long as the kinds of these names are the same.
    """
    readings: dict[Any, tuple[dict[str, str | None], R]] = {}

    @wraps(read)
    def read_once(*arguments: Any, **options: Any) -> R:
        *texts, kind_of = arguments
        key = (*texts, *options.items())
        found = readings.get(key)
        if found is None or any(kind_of(name) != kind for name, kind in found[0].items()):
            if len(readings) >= _MOST_READINGS:
                readings.clear()
            found = readings[key] = _noted(read, texts, kind_of, options)
        return found[1]

    return read_once


def _noted(
    read: Callable[..., R], texts: list[Any], kind_of: KindOf, options: dict[str, Any]
) -> tuple[dict[str, str | None], R]:
    """Read; return also the kind of each name that was looked up."""
    kinds: dict[str, str | None] = {}

    def look_up(name: str) -> str | None:
        if name not in kinds:
            kinds[name] = kind_of(name)
        return kinds[name]

    return kinds, read(*texts, look_up, **options)
