"""One error root, one class per user mistake."""

from __future__ import annotations

import difflib
import functools
import inspect
import os
from collections.abc import Iterable
from typing import Any

__all__ = ["BackendError", "BudgetExceededError", "CheckpointError", "ContextExceededError"]
__all__ += ["CorruptGameError", "GymMemoryError", "InvalidArgumentError", "MachineError"]
__all__ += ["MissingDependencyError", "ModelDownError"]
__all__ += ["ModelError", "ModelSetupError", "ResultsError", "StoreError", "UnknownNameError"]
__all__ += ["UntrustedError", "defined_at", "other_format"]

_MOST_NAMES = 60
"""Most names that a message lists."""


def other_format(what: str, record: object, known: int, place: object) -> str:
    """Return the message for a file or folder in another format, perhaps of a newer version.

    >>> other_format("results", {"format": 2}, 1, "results/first")
    "expected results in format 1 at 'results/first', got format 2: upgrade gym-memory"
    """
    found = record.get("format") if isinstance(record, dict) else None
    newer = isinstance(found, int) and found > known
    advice = ": upgrade gym-memory" if newer else ""
    return f"expected {what} in format {known} at {str(place)!r}, got format {found!r:.40}{advice}"


def defined_at(name: str, function: Any) -> str:
    """Return the end of a message, as in ``; act is at agent.py:12``; empty without a source."""
    while isinstance(function, functools.partial):
        function = function.func
    try:
        code = inspect.unwrap(getattr(function, "__func__", function)).__code__
    except AttributeError:  # objects from C or Java have no source
        return ""
    return f"; {name} is at {os.path.relpath(code.co_filename)}:{code.co_firstlineno}"


class GymMemoryError(Exception):
    """Root of all errors that gym-memory raises on purpose."""


class InvalidArgumentError(GymMemoryError, ValueError):
    """An argument of the wrong type or value."""


class UnknownNameError(GymMemoryError, LookupError):
    """An unknown name of an environment, memory, policy, ...; gives advice or the nearest name."""

    def __init__(self, kind: str, name: str, known: Iterable[str], advice: str = ""):
        names = sorted(known)
        initials = "".join(word[:1] for word in name.split("_"))  # learning_rate: lr
        short = [initials] if len(initials) > 1 and initials in names else []
        near = short or difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        hint = advice or (f" Did you mean {near[0]!r}?" if near else "")
        listed = ", ".join(names[:_MOST_NAMES])
        if len(names) > _MOST_NAMES:
            listed += f" and {len(names) - _MOST_NAMES} more"
        super().__init__(f"unknown {kind} {name!r}: expected one of {listed}.{hint}")
        self.kind, self.name, self.known, self.advice = kind, name, tuple(names), advice

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.kind, self.name, self.known, self.advice)


class UntrustedError(GymMemoryError):
    """A name in a file or page that only the command line may give."""


class MissingDependencyError(GymMemoryError, ImportError):
    """A missing optional package or program; names the command that installs it."""

    def __init__(self, package: str, install: str, purpose: str = ""):
        what = f" (needed for {purpose})" if purpose else ""
        super().__init__(f"{package} is not installed{what}. Install it with: {install}")
        self.package, self.install, self.purpose = package, install, purpose

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.package, self.install, self.purpose)


class CorruptGameError(GymMemoryError):
    """A game file that its engine cannot read."""


class BackendError(GymMemoryError):
    """A game engine that died or gave an invalid answer; the episode is lost, the run continues."""


class MachineError(GymMemoryError):
    """A lack of disk, memory, processes or network; the run ends and can be resumed."""


class ResultsError(GymMemoryError):
    """A results folder that does not fit the run (other config, other backend versions, ...)."""


class CheckpointError(GymMemoryError):
    """A checkpoint that cannot be read or written, or that belongs to something else."""


class StoreError(GymMemoryError):
    """A durable memory store that cannot be read or written."""


class ModelError(GymMemoryError):
    """A failed call of a language model; the caller may continue without an answer.

    ``kind`` is ``rate_limit``, ``timeout``, ``server`` (5xx or no sense in the response),
    ``connection``, ``request`` (rejected, e.g. too long), ``refusal`` or ``answer`` (not of the
    requested form), whose text is in ``answer``.
    """

    answer = ""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.kind, str(self))


class ContextExceededError(ModelError):
    """A prompt longer than the context of the model; a shorter one may be answered."""

    def __init__(self, message: str):
        super().__init__("request", message)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self),)


class ModelSetupError(GymMemoryError):
    """A language model with an unusable setup (key, model name, quota, price)."""


class ModelDownError(ModelSetupError):
    """A language model that stopped answering; the run ends and can be resumed."""


class BudgetExceededError(GymMemoryError):
    """A call of a model that could exceed ``max_cost_usd`` or ``max_tokens``."""
