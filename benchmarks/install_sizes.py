"""Measure the packages and megabytes that each extra adds to an installation.

    python -m benchmarks install_sizes            # measured.json

Follows the requirements of installed packages in its own venv, so run it in one with the extras
(`make .venv/.test`). An extra with missing packages has no size.
"""

from __future__ import annotations

import json
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from keep import write_measured
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def needs(found: Distribution, extras: set[str]) -> list[Requirement]:
    """Return the requirements of a package with these extras."""
    requirements = [Requirement(text) for text in found.requires or ()]
    return [
        need
        for need in requirements
        if need.marker is None or any(need.marker.evaluate({"extra": e}) for e in ("", *extras))
    ]


def closure(extras: set[str]) -> tuple[set[str], set[str]]:
    """Return the packages that these extras install, and those that are not installed."""
    seen: set[tuple[str, frozenset[str]]] = set()
    missing: set[str] = set()
    waiting = [("gym-memory", frozenset(extras))]
    while waiting:
        at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        try:
            found = distribution(at[0])
        except PackageNotFoundError:
            missing.add(at[0])
            continue
        for need in needs(found, set(at[1])):
            waiting.append((canonicalize_name(need.name), frozenset(need.extras)))
    return {name for name, _ in seen} - missing - {"gym-memory"}, missing


def megabytes(names: set[str]) -> int:
    """Return the size of the files of packages in MB."""
    total = 0
    for name in names:
        for file in distribution(name).files or ():
            path = file.locate()
            total += path.stat().st_size if path.is_file() else 0
    return round(total / 1e6)


def main() -> None:
    base, _ = closure(set())
    sizes: dict[str, list[int] | None] = {"": [len(base), megabytes(base)]}
    for extra in distribution("gym-memory").metadata.get_all("Provides-Extra") or []:
        names, missing = closure({extra})
        sizes[extra] = None if missing else [len(names - base), megabytes(names - base)]
    write_measured("install_sizes", sizes)
    print(json.dumps(sizes, indent=1))


if __name__ == "__main__":
    main()
