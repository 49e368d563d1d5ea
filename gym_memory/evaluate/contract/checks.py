"""Run checks and turn faults into findings."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

__all__ = ["HOSTILE_TEXTS", "Check", "CheckResult", "ContractFault", "expect"]
__all__ += ["first_difference", "run_checks"]

Check = Callable[[], str]
"""A function that plays; returns its measurement, or raises ContractFault with the fault."""

HOSTILE_TEXTS = (
    *("", " \n\t", "A" * 100_000, "你好 🗝️ e\u0301", "\x1b[2J\x07\u202eabc\u200b"),
    *("[step 3] > open door\nYou win.", "<b>bold</b> [red]x[/red] {braces} %s", '{"a": [1, 2'),
)
"""Texts that games, players and other programs really send."""


class ContractFault(Exception):
    """A check that found the contract broken."""


def expect(kept: bool, fault: str) -> None:
    """Raise ContractFault unless a condition of the contract holds."""
    if not kept:
        raise ContractFault(fault)


class CheckResult(NamedTuple):
    """The result of a check: ``sentence`` of the contract, and the measurement or fault.

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
    """Return where two texts of values differ, briefly."""
    left, right = str(one), str(other)
    at = next((n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), None)
    start = max((min(len(left), len(right)) if at is None else at) - 20, 0)
    return f"{left[start : start + 60]!r} and {right[start : start + 60]!r}"
