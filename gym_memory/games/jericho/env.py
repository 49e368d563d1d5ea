"""Jericho: interactive fiction for the Z-machine, from files that the user has."""

from __future__ import annotations

import re
from importlib import resources
from os import PathLike
from pathlib import Path

from gym_memory.core.errors import CorruptGameError, InvalidArgumentError
from gym_memory.core.records import Oracle
from gym_memory.core.settings import check_flag, check_int
from gym_memory.games.jericho.process import StoryProcess
from gym_memory.games.textworld.env import TextWorldEnv
from gym_memory.games.textworld.games import cached_story
from gym_memory.games.textworld.zmachine import check_story

__all__ = ["Jericho", "our_story"]

_SUFFIXES = frozenset(f".z{version}" for version in range(3, 9))
_OURS = "tide_mill"
_OBJECTIVE = "Explore, and score as many points as you can."
_CLAUSE = re.compile(r"[,;]|\b(?:then|and)\b", re.IGNORECASE)
_WALKTHROUGH = (
    "take cap", "north", "east", "take lantern", "switch on lantern", "open tin box",
    "take iron key", "west", "unlock mill door with iron key", "open mill door", "north", "up",
    "open oak chest", "take crank", "take bread", "give bread to cat", "down", "south", "west",
    "put crank in sluice", "east", "north", "down", "pull shaft lever",
)  # fmt: skip


class Jericho(TextWorldEnv):
    """Z-machine stories (.z3 to .z8), those that jericho knows and any other.

    If jericho knows a game, it gives score, best score, win, loss and the walkthrough; else the
    story does (``score``, the words of its ending). Valid actions are found by trying templates of
    the story's grammar, filled with the things in its text, and kept if they change the object
    tree. They are an estimate: any other command may be typed.

    Without ``path`` a story of our own is played (12 points), compiled by TextWorld's Inform 7.

    Args:
        path: A story file, or a folder of them; a task is a file.
        story_seed: Seed of the story's own chance, from 1; None for jericho's own, else 1.
        verbose: Whether rooms are described on every visit; by default only on the first, as in
            published results. The command ``verbose`` does the same.
        valid_actions: Whether the observation lists the valid actions: finding them takes most
            of a step.

    Raises:
        CorruptGameError: The path is missing, holds no story, or one that is not intact.
    """

    dialect = "plain"
    several = re.compile(r"\.\s*\S")
    meta_verbs = frozenset({
        "noscript", "q", "quit", "random", "recording", "replay", "restart", "restore", "restrict",
        "save", "script", "transcript", "undo", "unscript",
    })  # fmt: skip

    def __init__(
        self,
        *,
        path: str | PathLike[str] | None = None,
        story_seed: int | None = None,
        verbose: bool = False,
        max_steps: int = 150,
        valid_actions: bool = True,
        inventory: bool = True,
        render_mode: str | None = None,
    ):
        if path is not None and not isinstance(path, str | PathLike):
            raise InvalidArgumentError(f"expected path as text, got {type(path).__name__}")
        if story_seed is not None:
            check_int("story_seed", story_seed, 1)  # with 0, jericho takes its seed from the clock
        super().__init__(
            max_steps=max_steps,
            valid_actions=valid_actions,
            inventory=inventory,
            render_mode=render_mode,
        )
        self._stories = _stories(path)
        self._ids = tuple(self._stories)
        self._parser = StoryProcess(story_seed, verbose=check_flag("verbose", verbose))
        self.engine = self._parser

    def description(self, task_id: str) -> Path:
        """Return the story file of a task; our own is compiled at first use."""
        return self._stories[task_id] or our_story()

    def refuse(self, action: str) -> str | None:
        """Refuse foreign letters, a second sentence, and what ends, saves or undoes the game.

        Debugging verbs that the author left in are also refused. The empty line, lists, orders
        (``robot, take it``), ``then`` and ``verbose`` are commands.
        """
        clauses = [clause for clause in _CLAUSE.split(action) if clause.strip()]
        refusals = map(super().refuse, [action, *clauses] if clauses else ())
        return next(filter(None, refusals), None)

    def is_meta(self, verb: str) -> bool:
        """True also for Inform's debugging verbs, if the story has them."""
        return super().is_meta(verb) or verb in self._parser.debugging_verbs

    def goal(self) -> str:
        """Return the objective of a story by TextWorld; else to score."""
        return self.game.objective or _OBJECTIVE

    def oracle(self) -> Oracle:
        """Return the walkthrough, if jericho knows the game, and the facts of the present room.

        See :func:`.facts.true_facts`.
        """
        own = self._stories.get(self.task_id, Path()) is None
        walkthrough = _WALKTHROUGH if own else self._parser.walkthrough()
        return Oracle(self._parser.truth(), walkthrough)


def our_story() -> Path:
    """Return the story of our own, compiled at first use."""
    source = resources.files("gym_memory.games.jericho").joinpath(f"{_OURS}.ni")
    return cached_story("jericho", source.read_text(encoding="utf-8"))


def _stories(path: str | PathLike[str] | None) -> dict[str, Path | None]:
    """Map task ids to story files; None is our own, which is compiled when it is played."""
    if path is None:
        return {_OURS: None}
    place = Path(path).expanduser().absolute()
    files = [place]
    if place.is_dir():
        files = sorted(file for file in place.iterdir() if file.suffix.lower() in _SUFFIXES)
        if not files:
            raise CorruptGameError(f"expected story files (.z3 to .z8) in {str(place)!r}, got none")
    for file in files:
        check_story(file)
    return {file.name: file for file in files}
