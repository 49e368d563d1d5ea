"""Tables of names that are resolved on first use: games, dialects, memories, policies.

A name maps to ``"module:attribute"``, so listing names imports nothing. Other packages add
theirs by an entry point of the group, e.g.::

    [project.entry-points."gym_memory.memories"]
    diary = "my_package.diary:Diary"
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any

from gym_memory.core.errors import (
    InvalidArgumentError,
    MissingDependencyError,
    UnknownNameError,
)
from gym_memory.core.specs import Spec, check_parameters, parse_spec

__all__ = ["Registry"]


class Registry:
    """Names of one kind of thing.

    Args:
        kind: What the names stand for, for messages (``memory``).
        group: Entry-point group through which other packages add names.
        builtin: Name to ``"module:attribute"``.
        packages: Name to the command that installs it, for our names in packages of their own.
    """

    def __init__(
        self, kind: str, group: str, builtin: Mapping[str, str], packages: Mapping[str, str] = {}
    ):
        self.kind, self.group, self._packages = kind, group, packages
        self._targets: dict[str, str] = dict(builtin)
        self._classes: dict[str, Any] = {}

    def names(self) -> list[str]:
        """All names, the built-in ones first in their order of declaration."""
        own = [*self._targets, *(n for n in self._classes if n not in self._targets)]
        return own + sorted({e.name for e in entry_points(group=self.group)} - set(own))

    def declare(self, targets: Mapping[str, str]) -> None:
        """Add names of ours that live in a higher layer: ``"module:attribute"`` each."""
        self._targets |= targets

    def register(self, name: str, target: Any) -> None:
        """Add a class under a name for this process.

        Raises:
            InvalidArgumentError: The name is taken by something else.
        """
        if self._classes.get(name, target) is not target or name in self._targets:
            raise InvalidArgumentError(f"{self.kind} name {name!r} is taken: choose another")
        self._classes[name] = target

    def get(self, name: str) -> Any:
        """The class (or factory) behind a name.

        Raises:
            UnknownNameError: No such name; suggests the nearest.
            MissingDependencyError: The name is in a package that is not installed.
        """
        if name in self._classes:
            return self._classes[name]
        target = self._targets.get(name)
        if target is not None:
            module, _, attribute = target.partition(":")
            found = getattr(importlib.import_module(module), attribute)
        else:
            points = [e for e in entry_points(group=self.group) if e.name == name]
            if not points and name in self._packages:
                raise MissingDependencyError(f"{self.kind} {name!r}", self._packages[name])
            if not points:
                raise UnknownNameError(self.kind, name, self.names())
            found = points[0].load()
        self._classes[name] = found
        return found

    def make(self, spec: str | Spec, **defaults: Any) -> Any:
        """Build what ``spec`` names, with its parameters over ``defaults``.

        Raises:
            UnknownNameError: Unknown name or parameter.
        """
        name, kwargs = parse_spec(spec) if isinstance(spec, str) else spec
        factory = self.get(name)
        check_parameters(self.kind, name, factory, kwargs)
        return factory(**{**defaults, **kwargs})
