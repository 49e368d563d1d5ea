"""ALFWorld: household tasks as text, in official or generated games."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Annotated

from gym_memory.core.errors import CorruptGameError, InvalidArgumentError
from gym_memory.core.files import LARGEST_JSON, read_bytes
from gym_memory.core.records import Oracle
from gym_memory.core.settings import Help, checked
from gym_memory.games.alfworld.facts import triples_of, visible_now
from gym_memory.games.alfworld.household import (
    GENERATOR,
    SIZES,
    SPLITS,
    TASK_TYPES,
    alfworld_version,
    make_household,
)
from gym_memory.games.alfworld.world import (
    NOTHING_HAPPENS,
    Game,
    HouseholdPlay,
    PlayState,
    load_game,
)
from gym_memory.games.base import Feedback, TextEnv

__all__ = ["GENERATED", "ALFWorld", "find_source"]

GENERATED = "generated"
"""Value of ``path`` for generated households."""
_FILE = "game.tw-pddl"
_UNSOLVABLE = b'"solvable": false'
_EXCLUDED_TASKS = ("movable", "Sliced")


def find_source(
    path: str | os.PathLike[str] | None, split: str, task_type: str | None
) -> _GeneratedGames | _OfficialGames:
    """Return the games of a split; the arguments are those of ``ALFWorld``."""
    kinds = TASK_TYPES if task_type is None else (task_type,)
    chosen = path or _named_folder() or GENERATED
    if chosen == GENERATED:
        return _GeneratedGames(split, kinds)
    return _OfficialGames(Path(chosen).expanduser().absolute(), split, kinds)


def _named_folder() -> str:
    """Return ``$ALFWORLD_DATA``, which the package alfworld sets to an empty folder on import."""
    named = Path(os.environ.get("ALFWORLD_DATA", "")).expanduser()
    is_empty = named.is_dir() and not any(named.iterdir())
    return "" if named == Path() or is_empty else str(named)


class _GeneratedGames:
    """A source of generated games, all task types in turn."""

    def __init__(self, split: str, kinds: Sequence[str]):
        self._alfworld = alfworld_version()  # raises an error early if it is missing
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


class _OfficialGames:
    """A source of official games in a folder, all task types in turn while any are left."""

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
    return tuple(
        file
        for file in sorted(folder.glob(f"*/*/{_FILE}"))
        if not any(word in file.parts[-3] for word in _EXCLUDED_TASKS)
        and _UNSOLVABLE not in _bytes(file)
    )


def _bytes(file: Path) -> bytes:
    try:
        return read_bytes(file, LARGEST_JSON)
    except OSError:
        return b""  # opening it reports the error


class ALFWorld(TextEnv):
    """Six types of household tasks in a room full of furniture and objects.

    The score is 1 when the task is done, which ends the episode; no episode can be lost. A
    command that the game answers with "Nothing happens." is counted as invalid.

    Args:
        path: Folder of the official games (the one that holds ``json_2.1.1``); ``"generated"`` for
            generated households; None for the folder in ``$ALFWORLD_DATA``, or for generated ones
            if it is not set.
        max_steps: Step limit; papers use 50.
        inventory: True to show the inventory text in the observation.
    """

    dialect = "alfworld"
    splits = SPLITS

    @checked
    def __init__(
        self,
        split: Annotated[str, Help("Which households.", choices=SPLITS)] = "valid_seen",
        *,
        task_type: Annotated[
            str | None, Help("Only tasks of this type; None for all.", choices=TASK_TYPES)
        ] = None,
        path: str | os.PathLike[str] | None = None,
        max_steps: int = 50,
        valid_actions: bool = True,
        inventory: bool = True,
        render_mode: str | None = None,
    ):
        super().__init__(
            max_steps=max_steps, valid_actions=valid_actions, split=split, render_mode=render_mode
        )
        self._show_inventory = inventory
        self._source = find_source(path, split, task_type)
        self._ids = self._source.task_ids
        self._play: HouseholdPlay | None = None

    @property
    def play(self) -> HouseholdPlay:
        """Return the current game."""
        if self._play is None:
            raise InvalidArgumentError("no game is open: call reset() first")
        return self._play

    def _open(self, task_id: str) -> Feedback:
        self._play = HouseholdPlay(self._source.game(task_id))
        return self._feedback_of(self.play.game.intro)

    def _send(self, action: str) -> Feedback:
        return self._feedback_of(self.play.send(action))

    def _feedback_of(self, text: str | None) -> Feedback:
        won = self.play.won()
        return Feedback(
            text=NOTHING_HAPPENS if text is None else text,
            score=float(won),
            max_score=1.0,
            won=won,
            inventory=self.play.inventory() if self._show_inventory else "",
            accepted=text is not None,
        )

    def _list_valid_actions(self) -> tuple[str, ...]:
        return self.play.commands()

    def _save(self) -> PlayState:
        return self.play.save()

    def _load(self, native: PlayState) -> None:
        self._play = HouseholdPlay(native.game)
        self._play.load(native)

    def goal(self) -> str:
        """Return the task in words, e.g. ``put a clean mug in shelf``."""
        return self._play.game.goal_text if self._play else ""

    def oracle(self) -> Oracle:
        """Return the engine's facts; ``objects["visible"]`` has those in the last answer."""
        action = " ".join(self._actions[-1].split()) if self._actions else ""
        if not self._feedback.accepted:
            action = "inventory"  # a refused command shows nothing else
        return Oracle(
            facts=triples_of(self.play),
            walkthrough=self.play.game.walkthrough,
            objects={"visible": visible_now(self.play, action)},
        )

    def versions(self) -> dict[str, str]:
        """Return the versions that decide the text and the rules of the games."""
        return self._source.versions()
