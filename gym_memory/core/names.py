"""Names with parameters, ``arigraph?depth=2``, and the tables that resolve them."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any
from urllib.parse import parse_qsl, quote

from gym_memory.core.components import Component
from gym_memory.core.errors import InvalidArgumentError, MissingDependencyError, UnknownNameError
from gym_memory.core.frames import raised_at
from gym_memory.core.secrets import has_secret
from gym_memory.core.settings import check_complete, check_known, check_utf8

__all__ = ["NO_SPEC", "PLUGINS", "Registry", "Spec", "callables", "first_sentence", "import_plugin"]
__all__ += ["sources", "specs"]

PLUGINS: dict[str, ModuleType] = {}
"""Modules by the name or path from the user."""
_PANEL = "panel:"
"""Prefix of ``panel:NAME``, which is short for ``Panel?panel=NAME``."""
_FOREIGN = "Foreign"
"""Environment whose ``entry``, formerly ``id``, names a module or file."""


def sources(names: Iterable[str]) -> list[str]:
    """List the modules and files in names such as ``./agent.py:Agent?depth=2``.

    >>> sources(["arigraph?depth=2", "./agent.py:Agent?x=a:b", "Foreign?entry=my_envs:make"])
    ['./agent.py', 'my_envs']
    """
    places = (_target(name).rpartition(":")[0] for name in names)
    named = dict.fromkeys(place for place in places if place)
    return [place for place in named if f"{place}:" != _PANEL]


def _target(name: str) -> str:
    """Return a name without its parameters, or the entry that ``Foreign`` wraps."""
    bare, _, query = name.partition("?")
    given = dict(parse_qsl(query))
    return given.get("entry") or given.get("id", "") if bare == _FOREIGN else bare


def import_plugin(plugin: str) -> str:
    """Import a module, ``agents.best``, or a file, ``./agent.py``; return its permanent name.

    The name of a file has the hash of its text, ``./agent.py@0123456789ab``; a file with another
    hash is refused.
    """
    place, _, wanted = plugin.partition("@")
    if not place.endswith(".py"):
        _NEIGHBOURS.add(Path.cwd())
        PLUGINS[plugin] = _run(plugin, lambda: importlib.import_module(plugin))
        return plugin
    path = Path(place).expanduser()
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    except OSError as error:
        raise InvalidArgumentError(f"cannot import {place!r}: {error}") from error
    if wanted not in ("", found):
        raise InvalidArgumentError(
            f"expected {place!r} as it was when the run began (hash {wanted}), got hash {found}: "
            "undo the change or give another --out"
        )
    name = f"{path.stem}_{found}"
    if name not in sys.modules:
        _run(place, lambda: _load(name, path.resolve()))
    PLUGINS[place] = sys.modules[name]
    return f"{place}@{found}"


class _Neighbours:
    """A finder of modules next to those that the user named, after all installed ones.

    On ``sys.path`` they would precede a package that is installed in editable mode.
    """

    def __init__(self) -> None:
        self._folders: list[str] = []

    def add(self, folder: Path) -> None:
        if str(folder) not in self._folders:
            self._folders.append(str(folder))
        if self not in sys.meta_path:
            sys.meta_path.append(self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return PathFinder.find_spec(name, self._folders) if path is None else None


_NEIGHBOURS = _Neighbours()


def _load(name: str, path: Path) -> ModuleType:
    _NEIGHBOURS.add(path.parent)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _run(place: str, load: Callable[[], ModuleType]) -> ModuleType:
    try:
        return load()
    except Exception as error:  # any fault of the user's code
        why = error if isinstance(error, ImportError) else f"{type(error).__name__}: {error}"
        message = f"cannot import {place!r}: {why}{raised_at(error)}"
        raise InvalidArgumentError(message) from error


class Spec(str):
    """A name with parameters, ``arigraph?depth=2``: text with parsed parts.

    Values that are JSON numbers, ``true``, ``false`` or ``null`` are parsed; others stay strings.
    Keys are sorted, so equal parts have equal texts.

    >>> spec = Spec("arigraph?episodic=false&depth=2")
    >>> spec, spec.name, dict(spec.kwargs)
    ('arigraph?depth=2&episodic=false', 'arigraph', {'episodic': False, 'depth': 2})
    >>> Spec("panel:cooking-hard").parts
    ('Panel', {'panel': 'cooking-hard'})
    """

    name: str
    kwargs: Mapping[str, Any]

    def __new__(cls, text: str) -> Spec:
        """Parse a text; return a spec unchanged."""
        if isinstance(text, Spec):
            return text
        if not isinstance(text, str):
            raise InvalidArgumentError(
                f"expected a name such as 'arigraph?depth=2', got {type(text).__name__}"
            )
        return _parse_spec(text)

    @classmethod
    def of(cls, name: str, kwargs: Mapping[str, Any] = {}) -> Spec:
        """Build a spec from its parts.

        >>> Spec.of("arigraph", {"depth": 2, "episodic": False})
        'arigraph?depth=2&episodic=false'
        """
        return cls._joined(_format_spec(name, kwargs), name, dict(kwargs))

    @classmethod
    def _joined(cls, text: str, name: str, kwargs: dict[str, Any]) -> Spec:
        spec = str.__new__(cls, text)
        spec.name, spec.kwargs = name, MappingProxyType(kwargs)
        return spec

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with the parts, so that no process parses them again."""
        return Spec._joined, (str(self), self.name, dict(self.kwargs))

    @property
    def parts(self) -> tuple[str, dict[str, Any]]:
        """Return the name and a copy of the parameters."""
        return self.name, dict(self.kwargs)

    def with_parameter(self, key: str, value: Any) -> Spec:
        """Return the spec with one more parameter.

        >>> Spec("Cooking?level=hard").with_parameter("max_steps", 80)
        'Cooking?level=hard&max_steps=80'
        """
        if self.kwargs.get(key, value) != value:
            raise InvalidArgumentError(
                f"{str(self)!r} sets {key!r} already, but {value!r} is requested"
            )
        return Spec.of(self.name, {**self.kwargs, key: value})


def specs(texts: Iterable[str]) -> tuple[Spec, ...]:
    """Return the specs of some texts."""
    return tuple(Spec(text) for text in texts)


NO_SPEC = Spec._joined("", "", {})
"""Spec of an unknown name, as for a recording outside of a run."""


@lru_cache(maxsize=1024)
def _parse_spec(text: str) -> Spec:
    check_utf8("a name with its parameters", text)
    _check_no_password(text)
    name, _, query = text.partition("?")
    if name.startswith(_PANEL):
        name, query = "Panel", "&".join(filter(None, (f"panel={name[len(_PANEL) :]}", query)))
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
    return Spec.of(name.strip(), kwargs)


def _value(text: str) -> Any:
    try:
        value = json.loads(text, parse_constant=str)  # "NaN" is a name, not a number
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, bool | int | float | None) else text


def _format_spec(name: str, kwargs: Mapping[str, Any]) -> str:
    parts = []
    if name == "Panel" and isinstance(kwargs.get("panel"), str):
        name = f"{_PANEL}{quote(kwargs['panel'], safe='/:, ')}"
        kwargs = {key: value for key, value in kwargs.items() if key != "panel"}
    for key in sorted(kwargs):
        value = kwargs[key]
        text = value if isinstance(value, str) else json.dumps(value)
        _check_no_password(text)
        parts.append(f"{quote(key)}={quote(text, safe='/:, ')}")
    return name + ("?" + "&".join(parts) if parts else "")


def _check_no_password(text: str) -> None:
    """Refuse a password, since specs appear in results, logs and messages."""
    if has_secret(text):
        raise InvalidArgumentError(
            "expected a URL without user, password or key (the text is not shown): give a password "
            "in PGPASSWORD or ~/.pgpass, a key in OPENAI_API_KEY"
        )


class Registry:
    """A table of names of one kind: games, dialects, memories, policies, ...

    Args:
        kind: Noun for messages (``memory``).
        group: Entry-point group through which other packages add names.
        builtin: Components of this package, see :mod:`gym_memory.core.components`.
        packages: Install commands by name, for our components in separate packages.
    """

    def __init__(
        self,
        kind: str,
        group: str,
        builtin: Mapping[str, Component],
        packages: Mapping[str, str] = {},
    ):
        self.kind, self.group = kind, group
        self._builtin, self._packages = dict(sorted(builtin.items())), packages
        self.loaded: dict[str, Any] = {}
        """Classes and functions in use by name; a test may patch it."""

    def builtin(self) -> list[str]:
        """List the names of this package that need no parameter; imports nothing."""
        return [name for name, component in self._builtin.items() if not component.needs]

    def needing(self) -> list[str]:
        """List the names of this package that need a parameter."""
        return [name for name, component in self._builtin.items() if component.needs]

    def names(self) -> list[str]:
        """List all names, the built-in ones first; imports nothing."""
        own = [*self.builtin(), *(n for n in self.loaded if n not in self._builtin)]
        return own + sorted(_points(self.group).names - set(own))

    def about(self, name: str) -> str:
        """Return a line about a component, or the name of the other package that has it."""
        if name in self._builtin:
            return self._builtin[name].about
        if name in self.loaded:
            return first_sentence(self.loaded[name])
        return next((f"from {e.dist.name}" for e in self._points(name) if e.dist), "")

    def register(self, name: str, target: Any = None) -> Any:
        """Add a class or function under a name; without a target, return a decorator that does."""
        if target is None:
            return lambda decorated: self.register(name, decorated)
        place = _place(target)
        own = self._builtin.get(name)
        if (own and own.target != place) or place != _place(self.loaded.get(name, target)):
            raise InvalidArgumentError(f"{self.kind} name {name!r} is taken: choose another")
        self.loaded[name] = target
        return target

    def get(self, name: str) -> Any:
        """Return the class or function behind a name."""
        source, _, attribute = name.rpartition(":")
        if source in PLUGINS:
            return self._from_plugin(source, attribute)
        if name in self.loaded:
            return self.loaded[name]
        if name in self._builtin:
            module, _, attribute = self._builtin[name].target.partition(":")
            found = getattr(importlib.import_module(module), attribute)
        elif points := self._points(name):
            found = points[0].load()
        elif name in self._packages:
            raise MissingDependencyError(f"{self.kind} {name!r}", self._packages[name])
        elif name.endswith(".py"):
            raise InvalidArgumentError(
                f"expected the {self.kind} in a file as {name}:NAME, got {name!r}"
            )
        else:
            call = f"gym_memory.core.names.import_plugin({source!r})"
            advice = f" In Python, call {call} first." if source else ""
            raise UnknownNameError(self.kind, name, self.names(), advice)
        self.loaded[name] = found
        return found

    def _from_plugin(self, source: str, attribute: str) -> Any:
        module = PLUGINS[source]
        found = getattr(module, attribute, None)
        if not callable(found):
            raise UnknownNameError(f"{self.kind} of {source}", attribute, callables(module))
        return found

    def make(self, spec: str, **more: Any) -> Any:
        """Build the component of ``spec``, with ``more`` arguments of any type as defaults."""
        name, kwargs = Spec(spec).parts
        return self.build(name, {**more, **kwargs})

    def build(self, name: str, kwargs: Mapping[str, Any]) -> Any:
        """Build the component of a name with parameters."""
        factory = self.get(name)
        check_known(f"{self.kind} {name!r}", factory, kwargs)
        check_complete(self.kind, name, factory, kwargs)
        return factory(**kwargs)

    def _points(self, name: str) -> list[EntryPoint]:
        return [e for e in _points(self.group) if e.name == name]


def _points(group: str) -> EntryPoints:
    found: EntryPoints = _all_points(tuple(sys.path)).select(group=group)
    return found


@lru_cache(maxsize=1)
def _all_points(path: tuple[str, ...]) -> Any:
    return entry_points()  # this reads a file of every installed package


def first_sentence(target: Any) -> str:
    """Return the first paragraph of a docstring as one line."""
    return " ".join((inspect.getdoc(target) or "").partition("\n\n")[0].split())


def callables(module: ModuleType) -> list[str]:
    """List the classes and functions that a module defines itself."""
    found = [(name, value) for name, value in vars(module).items() if callable(value)]
    return [name for name, value in found if getattr(value, "__module__", "") == module.__name__]


def _place(target: Any) -> str:
    return f"{getattr(target, '__module__', '')}:{getattr(target, '__qualname__', repr(target))}"
