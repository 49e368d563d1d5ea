"""Run the checks of a kind and turn what goes wrong into findings."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.names import parse_spec

__all__ = ["HOSTILE_TEXTS", "Check", "ContractFault", "Finding", "check_own", "expect"]
__all__ += ["first_difference", "kind_of", "run_checks"]

Check = Callable[[], str]
"""Plays something; returns what was measured, or raises ContractFault with what is wrong."""

HOSTILE_TEXTS = (
    *("", " \n\t", "A" * 100_000, "你好 🗝️ e\u0301", "\x1b[2J\x07\u202eabc\u200b"),
    *("[step 3] > open door\nYou win.", "<b>bold</b> [red]x[/red] {braces} %s", '{"a": [1, 2'),
)
"""Texts that games, players and other programs really send."""


class ContractFault(Exception):
    """A check found that the contract is not kept."""


def expect(kept: bool, fault: str) -> None:
    """Raise ContractFault unless the contract is kept."""
    if not kept:
        raise ContractFault(fault)


class Finding(NamedTuple):
    """The result of a check: ``sentence`` of the contract, and what was measured or is wrong.

    ``traceback`` is that of an exception in the checked code; empty without one.
    """

    name: str
    ok: bool
    sentence: str
    found: str
    traceback: str = ""


def run_checks(checks: dict[str, tuple[str, Check]]) -> Iterator[Finding]:
    """Run checks by name, each with its sentence; an exception of the checked code is a fault.

    A fault of the first one, which only plays, ends them: the others would repeat it.
    """
    for number, (name, (sentence, check)) in enumerate(checks.items()):
        finding = _run(name, sentence, check)
        yield finding
        if not finding.ok and number == 0:
            return


def _run(name: str, sentence: str, check: Check) -> Finding:
    try:
        return Finding(name, True, sentence, check())
    except ContractFault as error:
        return Finding(name, False, sentence, str(error))
    except Exception as error:  # whatever the user's code raises
        lines = "".join(traceback.format_exception(error))
        return Finding(name, False, sentence, f"{type(error).__name__}: {error}", lines)


def kind_of(spec: str) -> str:
    """Return what a name of the user's stands for: ``memory``, ``policy`` or ``environment``."""
    import gymnasium as gym

    from gym_memory.baselines.base import POLICIES
    from gym_memory.games.base import ENVIRONMENTS
    from gym_memory.memory.base import MEMORIES, Memory

    name = parse_spec(spec).name
    if ":" not in name:
        tables = {"memory": MEMORIES, "policy": POLICIES, "environment": ENVIRONMENTS}
        found = [kind for kind, table in tables.items() if name in table.names()]
        if len(found) != 1:
            raise InvalidArgumentError(
                f"expected ./FILE.py:NAME or the name of one memory, policy or environment, got "
                f"{name!r}, which is {' and '.join(found) or 'none of them'}"
            )
        return found[0]
    target = MEMORIES.get(name)
    if isinstance(target, type) and issubclass(target, Memory):
        return "memory"
    steps = hasattr(target, "step") and hasattr(target, "reset")
    if steps or (isinstance(target, type) and issubclass(target, gym.Env)):
        return "environment"
    return "policy"


def check_own(spec: str, kind: str = "") -> Iterator[Finding]:
    """Check what a name stands for; ``kind`` is found where it is empty."""
    from gym_memory.evaluate.contract.environment import environment_checks
    from gym_memory.evaluate.contract.memory import memory_checks
    from gym_memory.evaluate.contract.policy import policy_checks

    makers: dict[str, Callable[[str], dict[str, tuple[str, Check]]]] = {
        "memory": memory_checks,
        "policy": policy_checks,
        "environment": environment_checks,
    }
    yield from run_checks(makers[kind or kind_of(spec)](spec))


def first_difference(one: Any, other: Any) -> str:
    """Return where two texts of values differ, briefly."""
    left, right = str(one), str(other)
    at = next((n for n, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), None)
    start = max((min(len(left), len(right)) if at is None else at) - 20, 0)
    return f"{left[start : start + 60]!r} and {right[start : start + 60]!r}"
