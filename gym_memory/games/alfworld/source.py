"""Sources of household games: a folder of official ones, or the generator.

Official games are files ``json_2.1.1/<split>/<task>/<trial>/game.tw-pddl``; the task's name begins
with its type. As in ALFWorld, unsolvable games are left out, and those with movable receptacles or
slices.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Protocol

from gym_memory.core.errors import CorruptGameError, InvalidArgumentError, UnknownNameError
from gym_memory.core.files import LARGEST_JSON, read_bytes
from gym_memory.games.alfworld.household import (
    GENERATOR,
    SIZES,
    SPLITS,
    TASK_TYPES,
    alfworld_version,
    make_household,
)
from gym_memory.games.alfworld.world import Game, load_game

__all__ = ["GENERATED", "GameSource", "find_source"]

GENERATED = "generated"
"""The path that asks for our own households."""
_FILE = "game.tw-pddl"
_UNSOLVABLE = b'"solvable": false'
_LEFT_OUT = ("movable", "Sliced")


class GameSource(Protocol):
    """Supply the games of one split."""

    @property
    def task_ids(self) -> Sequence[str]:
        """Return the ids of the games, in order."""
        ...

    def game(self, task_id: str) -> Game:
        """Return the game of a task."""
        ...

    def versions(self) -> dict[str, str]:
        """Return the versions that decide the text and the rules of the games."""
        ...


def find_source(
    path: str | os.PathLike[str] | None, split: str, task_type: str | None
) -> GameSource:
    """Return the games of a split; the arguments are those of ``ALFWorld``."""
    if split not in SPLITS:
        raise UnknownNameError("split", str(split), SPLITS)
    if task_type is not None and task_type not in TASK_TYPES:
        raise UnknownNameError("task_type", str(task_type), TASK_TYPES)
    kinds = TASK_TYPES if task_type is None else (task_type,)
    chosen = path or _named_folder() or GENERATED
    if chosen == GENERATED:
        return _Households(split, kinds)
    return _Folder(Path(chosen).expanduser(), split, kinds)


def _named_folder() -> str:
    """Return ``$ALFWORLD_DATA``; importing the package alfworld names and makes an empty folder."""
    named = Path(os.environ.get("ALFWORLD_DATA", "")).expanduser()
    is_empty = named.is_dir() and not any(named.iterdir())
    return "" if named == Path() or is_empty else str(named)


class _Households:
    """Supply generated games; all types in turn."""

    def __init__(self, split: str, kinds: Sequence[str]):
        self._alfworld = alfworld_version()  # fails now if it is missing
        numbers = range(SIZES[split])
        self._tasks = {
            f"household/{kind}/{split}/{n}": (kind, split, n) for n in numbers for kind in kinds
        }
        self.task_ids = tuple(self._tasks)

    def game(self, task_id: str) -> Game:
        return _household(*self._tasks[task_id])

    def versions(self) -> dict[str, str]:
        return {"alfworld": self._alfworld, "gym-memory households": str(GENERATOR)}


@lru_cache(maxsize=64)
def _household(kind: str, split: str, number: int) -> Game:
    return Game(make_household(kind, split, number))


class _Folder:
    """Supply the official games of a folder; all types in turn, as long as there are any."""

    def __init__(self, root: Path, split: str, kinds: Sequence[str]):
        folder = _split_folder(root, split)
        of_kind: dict[str, list[Path]] = {kind: [] for kind in kinds}
        for file in _games(folder, folder.stat().st_mtime_ns):
            kind = file.relative_to(folder).parts[0].partition("-")[0]
            if kind in of_kind:
                of_kind[kind].append(file)
        self._files = {
            f"{split}/{file.parent.relative_to(folder).as_posix()}": file
            for turn in zip_longest(*of_kind.values())
            for file in turn
            if file is not None
        }
        self.task_ids = tuple(self._files)
        self._data = folder.parent.name
        if not self._files:
            raise InvalidArgumentError(
                f"expected ALFWorld games ({_FILE}) of type {' or '.join(kinds)} in {folder}, "
                "found none"
            )

    def game(self, task_id: str) -> Game:
        file = self._files[task_id]
        try:
            changed = file.stat().st_mtime_ns
        except OSError as error:
            raise CorruptGameError(f"{file} is not an ALFWorld game: {error}") from error
        return load_game(file, changed)

    def versions(self) -> dict[str, str]:
        """Return the data's version and the verb of its grammar (``put`` before ALFWorld 0.4)."""
        for task_id in self.task_ids:
            try:
                put = self.game(task_id).grammar.actions["putobject"].template
            except (CorruptGameError, KeyError):
                continue
            return {"alfworld games": f"{self._data} ({put.partition(' ')[0]})"}
        return {"alfworld games": self._data}


def _split_folder(root: Path, split: str) -> Path:
    """Find the split's folder under ``root``, or under a ``json_*`` folder of it."""
    newest_first = sorted(root.glob("json_*"), reverse=True) if root.is_dir() else []
    for folder in (*(data / split for data in newest_first), root / split):
        if folder.is_dir():
            return folder
    raise InvalidArgumentError(
        f"expected a folder with ALFWorld's games ({split}/<task>/<trial>/{_FILE}) at {root}, "
        "found none. Name the folder that holds json_2.1.1 as path or in $ALFWORLD_DATA "
        "(alfworld-download fetches it), or take path='generated'"
    )


@lru_cache(maxsize=16)
def _games(folder: Path, changed: int) -> tuple[Path, ...]:
    found = []
    for file in sorted(folder.glob(f"*/*/{_FILE}")):
        task = file.relative_to(folder).parts[0]
        if not any(word in task for word in _LEFT_OUT) and _UNSOLVABLE not in _bytes(file):
            found.append(file)
    return tuple(found)


def _bytes(file: Path) -> bytes:
    try:
        return read_bytes(file, LARGEST_JSON)
    except OSError:
        return b""  # opening it will say what is wrong
