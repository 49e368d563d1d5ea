"""TextWorld's own challenges, and single story files."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

from gym_memory.core.errors import (
    BackendError,
    CorruptGameError,
    InvalidArgumentError,
    UnknownNameError,
)
from gym_memory.core.files import read_bytes
from gym_memory.core.optional import require
from gym_memory.games.textworld.engine import LARGEST_DESCRIPTION
from gym_memory.games.textworld.env import TextWorldEnv, TextWorldFamily
from gym_memory.games.textworld.games import GameKey, cached_game, compiled, trial_run_by_logic
from gym_memory.games.textworld.story_engine import StoryEngine
from gym_memory.games.textworld.zmachine import check_story

__all__ = ["CHALLENGES", "CoinCollector", "Simple", "StoryFile", "TreasureHunter", "is_glulx"]
__all__ += ["make_textworld", "translated"]

_ATTEMPTS = 50
_SEED_STRIDE = 1_000_000


def _numbered_levels(*ranges: range) -> dict[str, dict[str, int]]:
    return {str(n): {"level": n} for numbers in ranges for n in numbers}


class _Challenge(TextWorldFamily):
    """A generator of TextWorld's challenge ``tw-<family>``."""

    splits = ("train", "valid", "test")
    sizes: ClassVar[Mapping[str, int]] = {"train": 20, "valid": 5, "test": 10}

    @classmethod
    def make_game(cls, settings: Mapping[str, Any], split: str, seed: int) -> Any:
        """Generate the game of ``tw-make tw-<family>`` with these settings and this seed.

        If TextWorld finds no quest of that length for the seed, try seeds derived from it.
        """
        textworld = require("textworld", "textworld", "TextWorld games")
        generator = require("textworld.generator", "textworld")
        challenges = require("textworld.challenges", "textworld")
        make = challenges.CHALLENGES[f"tw-{cls.family}"][1]
        for attempt in range(_ATTEMPTS):
            options = textworld.GameOptions()
            options.seeds = seed + attempt * _SEED_STRIDE
            with trial_run_by_logic(), contextlib.suppress(generator.QuestGenerationError):
                # only the simple game uses this: its test split has its own foods
                return make({**settings, "test": split == "test"}, options)
        raise BackendError(
            f"TextWorld finds no {cls.family} game for {dict(settings)}, seed {seed}"
        )


class CoinCollector(_Challenge):
    """A hunt for the coin at the end of a chain of rooms, with dead ends from level 101 on.

    TextWorld has levels 1 to 300, but a .z8 holds at most a hundred rooms.
    """

    family = "coin_collector"
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = _numbered_levels(
        range(1, 151), range(201, 234)
    )
    default_level = "5"
    listed_levels = ("5",)


class TreasureHunter(_Challenge):
    """A hunt for the object in the goal, with a second one as distractor; levels 1 to 30."""

    family = "treasure_hunter"
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = _numbered_levels(range(1, 31))
    default_level = "5"
    listed_levels = ("5", "15")


class Simple(_Challenge):
    """A small house in which to leave the bedroom, find the food and put it on the stove.

    A level is TextWorld's ``--rewards`` and ``--goal``, e.g. ``dense-detailed``. The test split has
    its own foods.
    """

    family = "simple"
    levels: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        f"{rewards}-{goal}": {"rewards": rewards, "goal": goal}
        for rewards in ("dense", "balanced", "sparse")
        for goal in ("detailed", "brief", "none")
    }
    listed_levels = ("dense-detailed",)


CHALLENGES: dict[str, type[_Challenge]] = {
    challenge.family: challenge for challenge in (CoinCollector, TreasureHunter, Simple)
}
"""TextWorld's own challenges by name (cooking is an environment of its own)."""


class StoryFile(TextWorldEnv):
    """One story file; its only task id is the file's name.

    Args:
        path: A story file (.z3 to .z8). Valid actions, facts and walkthrough need TextWorld's .json
            beside it. A .ulx of TextWorld is recompiled as .z8 from its .json.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        max_steps: int = 150,
        valid_actions: bool = True,
        inventory: bool = True,
        engine: str = "auto",
        render_mode: str | None = None,
    ):
        if not isinstance(path, str | PathLike):
            raise InvalidArgumentError(f"expected path as text, got {type(path).__name__}")
        super().__init__(
            max_steps=max_steps,
            valid_actions=valid_actions,
            inventory=inventory,
            engine=engine,
            render_mode=render_mode,
        )
        self.path = Path(path).expanduser().absolute()
        self._ids = (self.path.name,)
        self._played = translated(self.path) if is_glulx(self.path) else self.path
        check_story(self._played)
        if not self._played.with_suffix(".json").is_file():
            self.engine = StoryEngine()

    def description(self, task_id: str) -> Path:
        """Return the path of the story file."""
        return self._played


def make_textworld(
    path: str | PathLike[str] | None = None,
    *,
    challenge: str | None = None,
    level: str | int | None = None,
    split: str = "test",
    max_steps: int | None = None,
    valid_actions: bool = True,
    inventory: bool = True,
    engine: str = "auto",
    render_mode: str | None = None,
) -> TextWorldEnv:
    """Make a story file, or a challenge of TextWorld.

    Args:
        path: A story file, see :class:`StoryFile`; excludes ``challenge`` and ``level``.
        challenge: ``coin_collector`` (the default), ``treasure_hunter`` or ``simple``.
        level: Level of the challenge; None takes an easy one.
        split: ``train``, ``valid`` or ``test`` games of the challenge.
        max_steps: Step limit; None for 150.
        valid_actions: Whether the observation lists the valid actions.
        inventory: Whether the observation includes the inventory text.
        engine: Source of answers, ``auto`` or ``inform``; see :class:`TextWorldEnv`.
        render_mode: None or ``"ansi"``.
    """
    shown: dict[str, Any] = {
        "valid_actions": valid_actions,
        "inventory": inventory,
        "engine": engine,
        "render_mode": render_mode,
    }
    if path is not None:
        if challenge is not None or level is not None:
            raise InvalidArgumentError(
                "expected either path or challenge and level, got both: a file is one game"
            )
        steps = TextWorldFamily.default_max_steps if max_steps is None else max_steps
        return StoryFile(path, max_steps=steps, **shown)
    name = next(iter(CHALLENGES)) if challenge is None else challenge
    if name not in CHALLENGES:
        raise UnknownNameError("challenge", str(name), CHALLENGES)
    level = level if level is None else str(level)
    return CHALLENGES[name](level, split, max_steps=max_steps, **shown)


_GLULX_MAGIC = b"Glul"


def is_glulx(path: Path) -> bool:
    """True if a file is a Glulx game (``.ulx``), for which there is no interpreter here."""
    try:
        with path.open("rb") as file:
            return file.read(len(_GLULX_MAGIC)) == _GLULX_MAGIC
    except OSError:
        return False


def translated(path: Path) -> Path:
    """Recompile a .ulx as .z8 from the .json beside it; cached."""
    description = path.with_suffix(".json")
    name = str(path)
    try:
        content = read_bytes(description, LARGEST_DESCRIPTION)
    except OSError as error:
        raise CorruptGameError(
            f"{name!r} is a Glulx game (.ulx), which needs TextWorld's {description.name} beside "
            "it to be played as .z8: copy that here, or make the game again with "
            f"`tw-make ... --output {path.with_suffix('.z8').name}`"
        ) from error
    game = require("textworld.generator.game", "textworld", "TextWorld games").Game
    settings = {"sha256": hashlib.sha256(content).hexdigest()}
    key = GameKey("glulx", 1, settings, split="", seed=0)
    try:
        return compiled(cached_game(key, lambda: game.load(str(description))))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptGameError(
            f"expected TextWorld's description of the game at {str(description)!r}: "
            f"{type(error).__name__}: {error}"
        ) from error
