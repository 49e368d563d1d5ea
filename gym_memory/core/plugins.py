"""Import the user's own modules and files, whose classes then play by name: ``./agent.py:Agent``.

Only the command line and its workers call :func:`import_plugin`. A name that a folder, a page or
a socket gives finds nothing here.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType

from gym_memory.core.errors import InvalidArgumentError

__all__ = ["PLUGINS", "import_plugin", "sources"]

PLUGINS: dict[str, ModuleType] = {}
"""Modules by the name or path that the user gave."""


def sources(specs: Iterable[str]) -> list[str]:
    """List the modules and files of names such as ``./agent.py:Agent?depth=2``.

    >>> sources(["arigraph?depth=2", "./agent.py:Agent?x=a:b", "agents.best:act"])
    ['./agent.py', 'agents.best']
    """
    names = (spec.partition("?")[0].rpartition(":")[0] for spec in specs)
    return list(dict.fromkeys(name for name in names if name))


def import_plugin(plugin: str) -> str:
    """Import a module, ``agents.best``, or a file, ``./agent.py``; return what imports it again.

    That of a file carries the hash of its text, ``./agent.py@0123456789ab``; another hash is
    refused.
    """
    place, _, wanted = plugin.partition("@")
    if not place.endswith(".py"):
        if os.getcwd() not in sys.path:
            sys.path.insert(0, os.getcwd())
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


def _load(name: str, path: Path) -> ModuleType:
    if str(path.parent) not in sys.path:  # the file may import its neighbours
        sys.path.append(str(path.parent))
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
        raise InvalidArgumentError(f"cannot import {place!r}: {why}") from error
