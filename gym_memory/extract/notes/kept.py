"""A cache of readings: a text with the same kinds of names always has the same content.

A memory and its player read the same texts, and sentences recur between games.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from gym_memory.extract.notes.words import KindOf

__all__ = ["kept"]

R = TypeVar("R")
_MAX_TEXTS = 1024
_MAX_READINGS = 4
"""Cached readings of one text, which differ in the kinds of its names."""


def kept(read: Callable[..., R]) -> Callable[..., R]:
    """Decorate a function, whose last positional argument is a :data:`.KindOf`, with a cache.

    A result is cached with the kinds of the names that it looked up. It is returned for the same
    arguments as long as these kinds are the same.
    """
    texts: dict[Any, list[tuple[dict[str, str | None], R]]] = {}

    @wraps(read)
    def read_once(*arguments: Any, **options: Any) -> R:
        *about, kind_of = arguments
        key = (*about, *options.items())
        readings = texts.get(key)
        if readings is None:
            if len(texts) >= _MAX_TEXTS:
                texts.clear()
            readings = texts[key] = []
        for kinds, answer in readings:
            if all(kind_of(name) == kind for name, kind in kinds.items()):
                return answer
        kinds = {}
        answer = read(*about, _recording(kind_of, kinds), **options)
        del readings[_MAX_READINGS - 1 :]
        readings.insert(0, (kinds, answer))
        return answer

    return read_once


def _recording(kind_of: KindOf, kinds: dict[str, str | None]) -> KindOf:
    """Return a function that looks up kinds and records them."""

    def look_up(name: str) -> str | None:
        if name not in kinds:
            kinds[name] = kind_of(name)
        return kinds[name]

    return look_up
