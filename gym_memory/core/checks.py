"""Argument checks: what was expected, what came."""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar, get_type_hints

import numpy as np

from gym_memory.core.errors import InvalidArgumentError

__all__ = [
    "check_amount",
    "check_flag",
    "check_int",
    "check_share",
    "check_text",
    "check_utf8",
    "typed",
]

N = TypeVar("N", bound=NamedTuple)
_KINDS: dict[Any, tuple[type, ...]] = {
    str: (str,),
    bool: (bool, np.bool_),
    int: (numbers.Integral,),
    float: (numbers.Real,),
    tuple[str, ...]: (list, tuple),
}


def check_int(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return ``value`` if it is an int in [low, high].

    Raises:
        InvalidArgumentError: It is not.
    """
    wrong_type = isinstance(value, bool) or not isinstance(value, int)
    if wrong_type or value < low or (high is not None and value > high):
        bounds = f">= {low}" if high is None else f"in [{low}, {high}]"
        raise InvalidArgumentError(f"expected {name} as an int {bounds}, got {value!r}")
    return int(value)


def check_amount(name: str, value: Any) -> float:
    """Return ``value`` if it is a finite number >= 0.

    Raises:
        InvalidArgumentError: It is not.
    """
    wrong_type = isinstance(value, bool) or not isinstance(value, int | float)
    if wrong_type or not 0 <= value < math.inf:
        raise InvalidArgumentError(f"expected {name} as a number >= 0, got {value!r}")
    return float(value)


def check_flag(name: str, value: Any) -> bool:
    """Return ``value`` if it is True or False.

    Raises:
        InvalidArgumentError: It is not.
    """
    if not isinstance(value, bool):
        raise InvalidArgumentError(f"expected {name} as True or False, got {value!r}")
    return value


def check_share(name: str, value: Any) -> float:
    """Return ``value`` if it is a number in [0, 1].

    Raises:
        InvalidArgumentError: It is not.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidArgumentError(f"expected {name} as a number in [0, 1], got {value!r}")
    return float(value)


def check_text(name: str, value: Any) -> str:
    """Return ``value`` if it is a string.

    Raises:
        InvalidArgumentError: It is not.
    """
    if not isinstance(value, str):
        raise InvalidArgumentError(f"expected {name} as text, got {value!r:.80}")
    return value


def check_utf8(name: str, value: Any) -> str:
    """Return ``value`` if it is a string that UTF-8 can hold.

    Raises:
        InvalidArgumentError: It is not, e.g. a word of the command line in another encoding.
    """
    try:
        check_text(name, value).encode()
    except UnicodeEncodeError:
        raise InvalidArgumentError(f"expected {name} as UTF-8 text, got {value!r}") from None
    return str(value)


def typed(record: type[N], values: Iterable[Any]) -> N:
    """A NamedTuple of plain values read from a file, each of the type that its field declares.

    >>> from gym_memory.core.records import Triple
    >>> typed(Triple, ["apple", "is in", "fridge"])
    Triple(subject='apple', relation='is in', object='fridge')

    Raises:
        TypeError: A value is of another type, or there are too few or too many.
    """
    made = record(*values)
    for value, (name, kind) in zip(made, _fields(record), strict=True):
        wrong = not isinstance(value, _KINDS[kind]) or (
            kind in (int, float) and isinstance(value, bool)
        )
        if wrong or (type(value) in (list, tuple) and not all(type(v) is str for v in value)):
            raise TypeError(f"expected {record.__name__}.{name} as {kind}, got {value!r:.80}")
    return made


@lru_cache(maxsize=64)
def _fields(record: type[Any]) -> tuple[tuple[str, Any], ...]:
    """Names and types of the fields."""
    hints = get_type_hints(record, vars(sys.modules[record.__module__]))
    return tuple((name, hints[name]) for name in record._fields)
