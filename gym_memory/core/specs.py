"""Names with parameters: ``Cooking?level=hard&split=test``, ``arigraph?episodic=false``."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote

from gym_memory.core.checks import check_utf8
from gym_memory.core.errors import InvalidArgumentError, UnknownNameError

__all__ = ["Spec", "check_parameters", "format_spec", "parse_spec"]


_PASSWORD = re.compile(r"postgres\w*://[^\s?@]*:\S*@|\bpassword=.", re.IGNORECASE)


class Spec(NamedTuple):
    """A parsed name with its parameters."""

    name: str
    kwargs: dict[str, Any]


def _value(text: str) -> Any:
    """Read a JSON scalar where the text is one, else keep the string."""
    try:
        value = json.loads(text, parse_constant=str)  # "NaN" is a name, not a number
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, bool | int | float | None) else text


def parse_spec(text: str) -> Spec:
    """Parse ``name?key=value&key=value``.

    Values that read as JSON numbers, ``true``, ``false`` or ``null`` become such; everything
    else stays a string.

    >>> parse_spec("arigraph?episodic=false&depth=2")
    Spec(name='arigraph', kwargs={'episodic': False, 'depth': 2})

    Raises:
        InvalidArgumentError: The text is not of that form.
    """
    if not isinstance(text, str):
        raise InvalidArgumentError(
            f"expected a name such as 'arigraph?depth=2', got {type(text).__name__}"
        )
    check_utf8("a name with its parameters", text)
    _check_no_password(text)
    name, _, query = text.partition("?")
    if not name.strip():
        raise InvalidArgumentError(f"expected name?key=value&..., got {text!r}: the name is empty")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError as error:
        raise InvalidArgumentError(f"expected name?key=value&..., got {text!r}: {error}") from error
    kwargs: dict[str, Any] = {}
    for key, value in pairs:
        if key in kwargs:
            raise InvalidArgumentError(f"parameter {key!r} is given twice in {text!r}")
        _check_no_password(value)
        kwargs[key] = _value(value)
    return Spec(name.strip(), kwargs)


def format_spec(name: str, kwargs: Mapping[str, Any]) -> str:
    """The inverse of :func:`parse_spec`, keys sorted.

    >>> format_spec("arigraph", {"depth": 2, "episodic": False})
    'arigraph?depth=2&episodic=false'
    """
    parts = []
    for key in sorted(kwargs):
        value = kwargs[key]
        text = value if isinstance(value, str) else json.dumps(value)
        _check_no_password(text)
        parts.append(f"{quote(key)}={quote(text, safe='/:, ')}")
    return name + ("?" + "&".join(parts) if parts else "")


def _check_no_password(text: str) -> None:
    """Names with parameters stand in results, logs and messages: no place for a password."""
    if _PASSWORD.search(text):
        raise InvalidArgumentError(
            "expected a URL without a password (the text is not shown): give it in PGPASSWORD or "
            "in ~/.pgpass"
        )


def check_parameters(
    kind: str, name: str, function: Callable[..., Any], kwargs: Mapping[str, Any]
) -> None:
    """Check that ``function`` takes every key of ``kwargs``.

    Raises:
        UnknownNameError: It does not; the message lists the parameters it takes.
    """
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return
    known = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    for key in kwargs:
        if key not in known or key == "self":
            raise UnknownNameError(
                f"parameter of {kind} {name!r}",
                key,
                [k for k in known if k != "self"] or ["(none)"],
            )
