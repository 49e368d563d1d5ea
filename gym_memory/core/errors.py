"""One error root, one class per user mistake."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["BackendError", "BudgetExceededError", "CheckpointError", "ContextExceededError"]
__all__ += ["CorruptGameError", "GymMemoryError", "InvalidArgumentError", "MachineError"]
__all__ += ["MissingDependencyError", "ModelDownError"]
__all__ += ["ModelError", "ModelSetupError", "ResultsError", "StoreError", "UnknownNameError"]
__all__ += ["UntrustedError", "other_format"]


_MOST_NAMES = 60
"""Names that a message lists, at most."""


def other_format(what: str, record: object, known: int, place: object) -> str:
    """Return the message for a file or folder in another format, perhaps of a newer version.

    >>> other_format("results", {"format": 2}, 1, "results/first")
    "expected results in format 1 at 'results/first', got format 2: upgrade gym-memory"
    """
    found = record.get("format") if isinstance(record, dict) else None
    newer = isinstance(found, int) and found > known
    advice = ": upgrade gym-memory" if newer else ""
    return f"expected {what} in format {known} at {str(place)!r}, got format {found!r:.40}{advice}"


class GymMemoryError(Exception):
    """The root of all errors raised on purpose by gym-memory."""


class InvalidArgumentError(GymMemoryError, ValueError):
    """An argument has the wrong type or value."""


class UnknownNameError(GymMemoryError, LookupError):
    """A name (environment, level, memory, policy, ...) is not known; suggests the nearest one."""

    def __init__(self, kind: str, name: str, known: Iterable[str]):
        names = sorted(known)
        initials = "".join(word[:1] for word in name.split("_"))  # learning_rate: lr
        short = [initials] if len(initials) > 1 and initials in names else []
        near = short or difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        listed = ", ".join(names[:_MOST_NAMES])
        if len(names) > _MOST_NAMES:
            listed += f" and {len(names) - _MOST_NAMES} more"
        super().__init__(f"unknown {kind} {name!r}: expected one of {listed}.{hint}")
        self.kind, self.name, self.known = kind, name, tuple(names)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.kind, self.name, self.known)


class UntrustedError(GymMemoryError):
    """A file or a page names what only the command line may name."""


class MissingDependencyError(GymMemoryError, ImportError):
    """An optional package or program is absent; names the command that brings it."""

    def __init__(self, package: str, install: str, purpose: str = ""):
        what = f" (needed for {purpose})" if purpose else ""
        super().__init__(f"{package} is not installed{what}. Install it with: {install}")
        self.package, self.install, self.purpose = package, install, purpose

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.package, self.install, self.purpose)


class CorruptGameError(GymMemoryError):
    """A game file cannot be read by its engine."""


class BackendError(GymMemoryError):
    """A game engine died or answered nonsense; the episode is lost, the run goes on."""


class MachineError(GymMemoryError):
    """Disk, memory, processes or network gave out; the run ends and can be resumed."""


class ResultsError(GymMemoryError):
    """A results folder cannot be used as asked (other config, other backend versions, ...)."""


class CheckpointError(GymMemoryError):
    """Signal that a checkpoint cannot be read or written, or belongs to something else."""


class StoreError(GymMemoryError):
    """A durable memory store cannot be read or written."""


class ModelError(GymMemoryError):
    """A failed call of a language model; the caller may do without the answer.

    ``kind`` is ``rate_limit``, ``timeout``, ``server`` (5xx or no sense in the response),
    ``connection``, ``request`` (rejected, e.g. too long), ``refusal`` or ``answer`` (not of the
    requested form).
    """

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.kind, str(self))


class ContextExceededError(ModelError):
    """A prompt is longer than the context of the model; a shorter one may be answered."""

    def __init__(self, message: str):
        super().__init__("request", message)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self),)


class ModelSetupError(GymMemoryError):
    """A language model cannot be used at all as it is set up (key, model name, quota, price)."""


class ModelDownError(ModelSetupError):
    """A language model stopped answering in a run; the run ends and can be resumed."""


class BudgetExceededError(GymMemoryError):
    """Signal that the next call of a model could go over ``max_cost_usd`` or ``max_tokens``."""
