"""Argument checks: what was expected, what came."""

from __future__ import annotations

from typing import Any

from gym_memory.errors import InvalidArgumentError

__all__ = ["check_flag", "check_int", "check_share", "check_text"]


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
        raise InvalidArgumentError(f"expected {name} as text, got {value!r}")
    return value
