"""Games that TextWorld compiled for Glulx (``.ulx``), which no interpreter here runs.

Older versions of TextWorld wrote them, newer ones write and play ``.z8`` only. The .json beside
such a file is the whole game, so it is compiled again, once, and kept in the cache.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from gym_memory.core.errors import CorruptGameError
from gym_memory.core.files import read_bytes
from gym_memory.core.optional import require
from gym_memory.games.textworld.engine import LARGEST_DESCRIPTION
from gym_memory.games.textworld.games import GameKey, cached_game

__all__ = ["is_glulx", "translated"]

_MAGIC = b"Glul"


def is_glulx(path: Path) -> bool:
    """Whether a file is a Glulx game; False where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def translated(path: Path) -> Path:
    """The same game as a .z8, made from the .json beside a .ulx.

    Raises:
        CorruptGameError: There is no .json, or it is not one of TextWorld's.
        BackendError: Inform 7 could not compile the game.
    """
    description = path.with_suffix(".json")
    name = str(path)
    try:
        content = read_bytes(description, LARGEST_DESCRIPTION)
    except OSError as error:
        raise CorruptGameError(
            f"{name!r} is a Glulx game (.ulx), which needs TextWorld's {description.name} beside "
            "it to be played as .z8: copy that here, or make the game anew with "
            f"`tw-make ... --output {path.with_suffix('.z8').name}`"
        ) from error
    game = require("textworld.generator.game", "textworld", "TextWorld games").Game
    settings = {"sha256": hashlib.sha256(content).hexdigest()}
    key = GameKey("glulx", 1, settings, split="", seed=0)
    try:
        return cached_game(key, lambda: game.load(str(description)))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptGameError(
            f"expected TextWorld's description of the game at {str(description)!r}: "
            f"{type(error).__name__}: {error}"
        ) from error
