"""Optional packages: import or installation hint, and versions for the record."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import platform
import re
import subprocess
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from gym_memory.core.errors import MissingDependencyError
from gym_memory.core.version import __version__

__all__ = ["Package", "Plugin", "check_installed", "environment_record", "git_commit", "packages"]
__all__ += ["plugins", "require"]

DISTRIBUTION = "gym-memory"
_GROUPS = "gym_memory."
"""Prefix of our entry-point groups, see :mod:`gym_memory.core.names`."""
_VERSION = re.compile(r"^Version: *(\S+)$", re.MULTILINE)


def require(module: str, extra: str, purpose: str = "") -> Any:
    """Import and return ``module``, which ``extra`` installs; ``purpose`` is for the message."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".")[0]:
            raise
        raise _missing(module, extra, purpose) from error


def check_installed(module: str, extra: str, purpose: str = "") -> None:
    """Raise the error that :func:`require` would, without an import.

    ``extra`` may also be a whole command, for a package that no extra installs.
    """
    if importlib.util.find_spec(module.split(".")[0]) is None:
        raise _missing(module, extra, purpose)


def _missing(module: str, extra: str, purpose: str) -> MissingDependencyError:
    package = module.split(".")[0]
    install = extra if " " in extra else f"pip install 'gym-memory[{extra}]'"
    return MissingDependencyError(package, install, purpose)


class Package(NamedTuple):
    """A package that gym-memory or one of its extras requires.

    ``wanted`` is a version range, ``version`` the installed version or empty.
    """

    name: str
    wanted: str
    extra: str
    version: str
    fits: bool


@functools.cache
def packages() -> tuple[Package, ...]:
    """Return the packages in gym-memory's metadata, in order; read once per process."""
    try:
        extras = metadata.metadata(DISTRIBUTION).get_all("Provides-Extra") or []
        lines = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return ()
    from packaging.requirements import Requirement  # not imported by commands that only print names

    found = []
    for requirement in map(Requirement, lines):
        if requirement.name == DISTRIBUTION:
            continue
        asking = [""]
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            asking = [e for e in extras if requirement.marker.evaluate({"extra": e})]
        version = _version(requirement.name)
        fits = bool(version) and requirement.specifier.contains(version, prereleases=True)
        wanted = str(requirement.specifier)
        found += [Package(requirement.name, wanted, extra, version, fits) for extra in asking]
    return tuple(found)


def _version(package: str) -> str:
    """Return the installed version or "", faster than ``metadata.version``."""
    try:
        lines = metadata.distribution(package).read_text("METADATA") or ""
    except metadata.PackageNotFoundError:
        return ""
    found = _VERSION.search(lines)
    return found[1] if found else metadata.version(package)


class Plugin(NamedTuple):
    """An installed package that adds names; ``lacking`` are its missing modules."""

    name: str
    version: str
    names: tuple[str, ...]
    lacking: tuple[str, ...] = ()


def plugins() -> list[Plugin]:
    """Return the packages with entry points in our groups, by name; imports none of them."""
    found: dict[str, Plugin] = {}
    for distribution in metadata.distributions():
        points = [p for p in distribution.entry_points if p.group.startswith(_GROUPS)]
        if points and distribution.name not in found:  # the first one on the path is used
            modules = dict.fromkeys(point.module.partition(".")[0] for point in points)
            found[distribution.name] = Plugin(
                distribution.name,
                distribution.version,
                tuple(point.name for point in points),
                tuple(module for module in modules if importlib.util.find_spec(module) is None),
            )
    return [found[name] for name in sorted(found)]


def environment_record(backends: Mapping[str, str]) -> dict[str, Any]:
    """Return the record of a run's environment: versions, machine, commit, ``backends``."""
    return {
        "gym_memory": __version__,
        "git_commit": git_commit(Path(__file__).parent),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "host": platform.node(),
        "cpus": os.cpu_count(),
        "packages": {p.name: p.version for p in sorted(packages()) if p.version},
        "plugins": {plugin.name: plugin.version for plugin in plugins()},
        "backends": dict(backends),
    }


def git_commit(folder: Path) -> str:
    """Return the commit of the checkout that a package runs from, marked if it has changes.

    Linked folders count too. Empty for an installed copy.
    """
    code = [folder, *(path.resolve() for path in folder.iterdir() if path.is_symlink())]

    def git(*words: str) -> str:
        command = ["git", "-C", str(folder), *words]
        return subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=10
        ).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", "__init__.py")
        changed = git("status", "--porcelain", "--untracked-files=no", "--", *map(str, code))
        return git("rev-parse", "HEAD") + ("+changes" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return ""
