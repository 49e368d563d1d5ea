"""Import an optional package where it is used, or say in one line how to get it."""

from __future__ import annotations

import importlib
from typing import Any

from gym_memory.core.errors import MissingDependencyError

__all__ = ["require"]


def require(module: str, extra: str, purpose: str = "") -> Any:
    """Import and return ``module``.

    Args:
        module: Dotted module name.
        extra: The gym-memory extra that installs it.
        purpose: What needs it, for the message.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".")[0]:
            raise
        package = module.split(".")[0]
        raise MissingDependencyError(
            package, f"pip install 'gym-memory[{extra}]'", purpose
        ) from error
