"""Run checks and turn faults into findings."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest
from typing import Any, NamedTuple

__all__ = ["HOSTILE_TEXTS", "Check", "CheckResult", "ContractFault", "expect"]
__all__ += ["first_difference", "run_checks"]

_SHOWN_CHARS = 60
"""Characters of each value that is shown."""

Check = Callable[[], str]
"""A function that plays; returns its measurement, or raises ContractFault with the fault."""

HOSTILE_TEXTS = (
    "", " \n\t", "A" * 100_000, "你好 🗝️ e\u0301", "\x1b[2J\x07\u202eabc\u200b",
    "[step 3] > open door\nYou win.", "<b>bold</b> [red]x[/red] {braces} %s", '{"a": [1, 2',
)  # fmt: skip
"""Texts that games, players and other programs really send."""


class ContractFault(Exception):
    """A check that found the contract broken."""


def expect(kept: bool, fault: str) -> None:
    """Raise ContractFault unless a condition of the contract holds."""
    if not kept:
        raise ContractFault(fault)


class CheckResult(NamedTuple):
    """A result of a check: ``sentence`` of the contract, and the measurement or fault.

    ``traceback`` is that of an exception in the checked code; empty without one.
    """

    name: str
    ok: bool
    sentence: str
    found: str
    traceback: str = ""


def run_checks(checks: dict[str, tuple[str, Check]]) -> Iterator[CheckResult]:
    """Run checks by name, each with its sentence; an exception of the checked code is a fault.

    A fault of the first one, which only plays, ends them: the others would repeat it.
    """
    for number, (name, (sentence, check)) in enumerate(checks.items()):
        finding = _run(name, sentence, check)
        yield finding
        if not finding.ok and number == 0:
            return


def _run(name: str, sentence: str, check: Check) -> CheckResult:
    try:
        return CheckResult(name, True, sentence, check())
    except ContractFault as error:
        return CheckResult(name, False, sentence, str(error))
    except Exception as error:  # any exception of the user's code
        lines = "".join(traceback.format_exception(error))
        return CheckResult(name, False, sentence, f"{type(error).__name__}: {error}", lines)


def first_difference(one: Any, other: Any) -> str:
    """Return where two values first differ, briefly.

    >>> first_difference(["look", "go east", "wait"], ["look", "go west", "wait"])
    "'go east' and 'go west', item 2"
    >>> first_difference({"text": "a hall", "t": 1}, {"text": "a hall", "t": 2})
    't: 1 and 2'
    """
    if hasattr(one, "_asdict") and type(one) is type(other):
        one, other = one._asdict(), other._asdict()
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in {**one, **other}:
            if one.get(key) != other.get(key):
                return f"{key}: {first_difference(one.get(key), other.get(key))}"
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        pairs = enumerate(zip_longest(one, other), 1)
        number, pair = next(((n, pair) for n, pair in pairs if pair[0] != pair[1]), (0, None))
        if pair is not None:
            short = all(len(repr(value)) <= _SHOWN_CHARS for value in pair)
            said = f"{pair[0]!r} and {pair[1]!r}" if short else first_difference(*pair)
            return f"{said}, item {number}"
    if not (isinstance(one, str) and isinstance(other, str)):
        one, other = repr(one), repr(other)
        if max(len(one), len(other)) <= _SHOWN_CHARS:
            return f"{one} and {other}"
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    start = max((min(len(one), len(other)) if at is None else at) - 20, 0)
    return " and ".join(repr(text[start : start + _SHOWN_CHARS]) for text in (one, other))
