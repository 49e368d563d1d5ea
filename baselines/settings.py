"""Settings of policies and learners: dataclasses of values, checked, and listed with their meaning.

A setting is a field with a default; its line under ``Attributes`` in the docstring of the class is
what ``gym-memory list`` shows.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from gym_memory.core.errors import InvalidArgumentError, UnknownNameError

__all__ = ["Setting", "check_at_least", "check_name", "check_positive", "documented"]
__all__ += ["list_settings", "make_settings"]

_ENTRY = re.compile(r"^    (\w+): (.+(?:\n {6,}.+)*)", re.MULTILINE)
_KINDS = {bool: "true or false", int: "an int", float: "a number", str: "text"}


class Setting(NamedTuple):
    """A setting: the kind of its value as the source has it, its default and what it means."""

    name: str
    kind: str
    default: Any
    meaning: str


def list_settings(settings_class: type) -> list[Setting]:
    """All settings of a class, in the order of its fields."""
    meanings = documented(settings_class, "Attributes")
    return [
        Setting(field.name, str(field.type), field.default, meanings[field.name])
        for field in dataclasses.fields(settings_class)
        if field.init
    ]


def documented(target: Any, section: str) -> dict[str, str]:
    """Name to meaning from a section of a docstring, those of base classes included.

    Args:
        target: A class or function with a Google docstring.
        section: ``Attributes`` or ``Args``.
    """
    meanings: dict[str, str] = {}
    for base in reversed(getattr(target, "__mro__", (target,))):
        text = inspect.cleandoc(base.__doc__ or "").partition(f"{section}:\n")[2]
        meanings |= {name: " ".join(meaning.split()) for name, meaning in _ENTRY.findall(text)}
    return meanings


def make_settings(settings_class: type, values: dict[str, Any]) -> Any:
    """Settings from plain values; a value is of the kind of the default.

    Raises:
        UnknownNameError: There is no such setting.
        InvalidArgumentError: A value is wrong.
    """
    defaults = {field.name: field.default for field in dataclasses.fields(settings_class)}
    for name, value in values.items():
        if name not in defaults:
            raise UnknownNameError("setting", name, defaults)
        kind = type(defaults[name])
        fits = isinstance(value, int | float) if kind is float else isinstance(value, kind)
        if not fits or (isinstance(value, bool) and kind is not bool):
            raise InvalidArgumentError(f"expected {name} as {_KINDS[kind]}, got {value!r}")
    return settings_class(**values)


def check_name(kind: str, value: str, known: Sequence[str]) -> str:
    """Return ``value`` if it is one of the names known.

    Raises:
        UnknownNameError: It is not.
    """
    if value not in known:
        raise UnknownNameError(kind, value, known)
    return value


def check_at_least(name: str, value: Any, low: float) -> float:
    """Return ``value`` if it is a number >= ``low``.

    Raises:
        InvalidArgumentError: It is not.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= low:
        raise InvalidArgumentError(f"expected {name} >= {low:g}, got {value!r}")
    return float(value)


def check_positive(name: str, value: float) -> float:
    """Return ``value`` if it is > 0.

    Raises:
        InvalidArgumentError: It is not.
    """
    if not value > 0:
        raise InvalidArgumentError(f"expected {name} > 0, got {value!r}")
    return value
