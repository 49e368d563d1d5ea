"""Import an optional package where it is used, or say in one line how to get it."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from gym_memory.core.errors import MissingDependencyError

__all__ = ["check_installed", "require"]


def require(module: str, extra: str, purpose: str = "") -> Any:
    """Import and return ``module``, which ``extra`` installs; ``purpose`` is for the message."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".")[0]:
            raise
        raise _missing(module, extra, purpose) from error


def check_installed(module: str, extra: str, purpose: str = "") -> None:
    """Raise what :func:`require` would, without an import.

    ``extra`` may be a whole command instead, for a package that no extra installs.
    """
    if importlib.util.find_spec(module.split(".")[0]) is None:
        raise _missing(module, extra, purpose)


def _missing(module: str, extra: str, purpose: str) -> MissingDependencyError:
    package = module.split(".")[0]
    install = extra if " " in extra else f"pip install 'gym-memory[{extra}]'"
    return MissingDependencyError(package, install, purpose)
