"""Cached readings: the same text, with the same kinds of its names, states the same.

A memory reads each text, and so does a player with that memory; the sentences of a game recur in
others.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from gym_memory.extract.notes.words import KindOf

__all__ = ["kept"]

R = TypeVar("R")
_MOST_TEXTS = 1024
_MOST_READINGS = 4
"""Readings that are kept of a text, each with other kinds of its names."""


def kept(read: Callable[..., R]) -> Callable[..., R]:
    """Decorate a function whose last positional argument is a :data:`.KindOf`.

    Its answer is kept, with what it learnt of each name; it is given again for the same arguments
    as long as the kinds of these names are the same.
    """
    texts: dict[Any, list[tuple[dict[str, str | None], R]]] = {}

    @wraps(read)
    def read_once(*arguments: Any, **options: Any) -> R:
        *about, kind_of = arguments
        key = (*about, *options.items())
        readings = texts.get(key)
        if readings is None:
            if len(texts) >= _MOST_TEXTS:
                texts.clear()
            readings = texts[key] = []
        for kinds, answer in readings:
            if all(kind_of(name) == kind for name, kind in kinds.items()):
                return answer
        kinds = {}
        answer = read(*about, _noting(kind_of, kinds), **options)
        del readings[_MOST_READINGS - 1 :]
        readings.insert(0, (kinds, answer))
        return answer

    return read_once


def _noting(kind_of: KindOf, kinds: dict[str, str | None]) -> KindOf:
    """Return the function with a record of the kind of each name that is looked up."""

    def look_up(name: str) -> str | None:
        if name not in kinds:
            kinds[name] = kind_of(name)
        return kinds[name]

    return look_up
