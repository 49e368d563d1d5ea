"""The folders ``wrappers`` and ``baselines`` of a checkout that holds no links.

In the repository ``gym_memory/wrappers`` and ``gym_memory/baselines`` are links to folders at its
root. A zip download, and git on Windows, write each as a short text file instead, whose text is
where it points to. Then Python finds no such package, and the finder here does.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType

__all__ = ["LINKED", "follow_links"]

LINKED = ("wrappers", "baselines")


class _Follower(MetaPathFinder):
    """Finds packages in the folders that text files name."""

    def __init__(self, folders: dict[str, Path]):
        self._folders = folders

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The package of that name, if it is one of these."""
        folder = self._folders.get(fullname)
        if folder is None:
            return None
        return importlib.util.spec_from_file_location(
            fullname, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )


def follow_links(package: Path) -> None:
    """Make the linked folders importable where their links are text files.

    Args:
        package: The folder of ``gym_memory``.

    Raises:
        ImportError: There is such a text file, and nothing where it points to.
    """
    folders = {}
    for name in LINKED:
        link = package / name
        if not link.is_file():
            continue
        folder = (package / link.read_text(encoding="utf-8").strip()).resolve()
        if folder.name != name or not (folder / "__init__.py").is_file():
            raise ImportError(
                f"{link} should be a link to the folder {name!r} at the root of the repository; "
                "it is a file, and that folder is not there: clone with links "
                "(git -c core.symlinks=true clone ...) or pip install gym-memory"
            )
        folders[f"gym_memory.{name}"] = folder
    if folders:
        sys.meta_path.insert(0, _Follower(folders))  # before that of another, editable copy
