"""Base classes of all TextWorld environments, and of families of generated games.

A family subclasses :class:`TextWorldFamily`, declares its levels and generates a game.
"""

from __future__ import annotations

import re
import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

from gym_memory.core.errors import BackendError, UnknownNameError
from gym_memory.core.records import Oracle, Triple
from gym_memory.core.settings import check_flag
from gym_memory.games.base import Feedback, TextEnv
from gym_memory.games.textworld.engine import NATIVE_VERSION, Answer, GameData, TextWorldEngine
from gym_memory.games.textworld.facts import describe, triples_of
from gym_memory.games.textworld.games import (
    SIZES,
    SPLITS,
    GameKey,
    ListedGame,
    cached_game,
    compiled,
    entries,
    game_sha256,
    generate,
    load_manifest,
    quiet_random_state,
)
from gym_memory.games.textworld.knowledge import textworld_version
from gym_memory.games.textworld.logic import Fact

__all__ = ["TextWorldEnv", "TextWorldFamily"]

_REFUSED_LETTERS = "Only plain letters, digits and simple punctuation can be understood."
_REFUSED_SEVERAL = "Only one command at a time can be understood."
_REFUSED_META = "That is not something to do in this world."
_SEVERAL = re.compile(r"[.,;]|\bthen\b", re.IGNORECASE)
_CLOSED_TYPES = ("c", "oven", "toaster")
"""Types of things that are closed by default."""
_META_VERBS = frozenset({
    "brief", "long", "normal", "notify", "nouns", "oops", "pronouns", "q", "quit", "random",
    "recording", "replay", "restart", "restore", "restrict", "save", "script", "short",
    "superbrief", "transcript", "undo", "unscript", "noscript", "verbose", "verify", "version",
})  # fmt: skip
"""Commands to the interpreter, which end, save or display a game differently."""
_META_MARKS = ("tw-", "$", "#", "@")
"""Prefixes of other commands to the interpreter."""
_COMPARED_LETTERS = 9
"""Number of letters by which the interpreter compares words."""


@cache
def _abbreviated(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word[:_COMPARED_LETTERS] for word in words)


class GameEngine(Protocol):
    """An engine that plays games one after another."""

    @property
    def game(self) -> GameData: ...
    @property
    def facts(self) -> frozenset[Fact]: ...
    def start(self, story: str | PathLike[str]) -> Answer: ...
    def send(self, command: str) -> Answer: ...
    def admissible_commands(self) -> tuple[str, ...]: ...
    def inventory(self) -> str: ...
    def save(self) -> Any: ...
    def load(self, state: Any) -> None: ...
    def close(self) -> None: ...


class _Native(NamedTuple):
    engine: Any
    tally: Any


class TextWorldEnv(TextEnv):
    """An environment for TextWorld games.

    An action is *valid* (``info["is_action_valid"]``) if the game executed it. Commands to the
    interpreter (``restart``, ``save``, ``undo``, ...) and several commands at once are refused.

    Args:
        inventory: Whether the observation includes the inventory text.
        engine: Source of answers. ``auto``: rules that print the same as Inform, and the
            interpreter for commands outside of their grammar; ``inform``: always the interpreter.
    """

    dialect = "textworld"
    needs = needs_extra = "textworld"
    max_action_chars = 190
    meta_verbs: ClassVar[frozenset[str]] = _META_VERBS
    """Verbs that are refused."""
    several: ClassVar[re.Pattern[str]] = _SEVERAL
    """Pattern of a line with several commands."""
    is_listed: Callable[[str], bool] | None = None
    """Filter of the listed valid actions; None lists all."""
    tally: Any = None
    """Immutable progress of a family that scores by facts; None at the start."""

    def __init__(
        self,
        *,
        max_steps: int,
        valid_actions: bool = True,
        inventory: bool = True,
        split: str = "",
        engine: str = "auto",
        render_mode: str | None = None,
    ):
        super().__init__(
            max_steps=max_steps, valid_actions=valid_actions, split=split, render_mode=render_mode
        )
        check_flag("inventory", inventory)
        self._show_inventory = inventory
        self.engine: GameEngine = TextWorldEngine(engine)

    @abstractmethod
    def description(self, task_id: str) -> str | PathLike[str]:
        """Return the path of a task's game: a TextWorld .json in the cache, or a story file."""

    def story(self, task_id: str) -> Path:
        """Return the path of a task's compiled game, and compile it at first use."""
        with quiet_random_state():
            return compiled(self.description(task_id))

    def opening(self) -> str:
        """Return text to append to the first observation."""
        return ""

    def rescore(
        self, feedback: Feedback, added: frozenset[Triple], removed: frozenset[Triple]
    ) -> Feedback:
        """Score a command by the changed engine facts; by default, keep the engine's score.

        Called after every command, and at the start with empty sets. A family keeps its progress in
        ``self.tally``, which snapshots include. ``self.game.metadata`` has the generator's notes.
        """
        return feedback

    @property
    def game(self) -> GameData:
        """Return the description of the current game."""
        return self.engine.game

    def _open(self, task_id: str) -> Feedback:
        self.tally = None
        with quiet_random_state():  # importing TextWorld also draws from it
            answer = self.engine.start(self.description(task_id))
        opening = self.opening()
        if opening:
            answer = answer._replace(text=f"{answer.text}\n\n{opening}")
        return self._feedback_of(answer)

    def _send(self, action: str) -> Feedback:
        return self._feedback_of(self.engine.send(action))

    def _feedback_of(self, answer: Answer) -> Feedback:
        feedback = Feedback(
            answer.text,
            answer.score,
            self.game.max_score,
            answer.won,
            answer.lost,
            self.engine.inventory() if self._show_inventory else "",
            answer.accepted,
        )
        if type(self).rescore is TextWorldEnv.rescore:
            return feedback
        return self.rescore(feedback, self._describe(answer.added), self._describe(answer.removed))

    def _describe(self, facts: frozenset[Fact]) -> frozenset[Triple]:
        return frozenset(describe(facts, self.game.world.names)) if facts else frozenset()

    def _list_valid_actions(self) -> tuple[str, ...]:
        actions = self.engine.admissible_commands()
        return actions if self.is_listed is None else tuple(filter(self.is_listed, actions))

    def refuse(self, action: str) -> str | None:
        """Also refuse several commands at once, foreign letters and interpreter commands."""
        refusal = super().refuse(action)
        if refusal is not None:
            return refusal
        if not action.isascii() or "[" in action or "]" in action:
            return _REFUSED_LETTERS
        if self.several.search(action):
            return _REFUSED_SEVERAL
        return _REFUSED_META if self.is_meta(action.split()[0].lower()) else None

    def is_meta(self, verb: str) -> bool:
        """True if a verb addresses the interpreter and not the world."""
        is_known = verb[:_COMPARED_LETTERS] in _abbreviated(self.meta_verbs)
        return is_known or verb.startswith(_META_MARKS)

    def _save(self) -> _Native:
        return _Native(self.engine.save(), self.tally)

    def _load(self, native: _Native) -> None:
        self.engine.load(native.engine)
        self.tally = native.tally

    def _close(self) -> None:
        self.engine.close()

    def goal(self) -> str:
        """Return the game's objective."""
        return self.game.objective

    def oracle(self) -> Oracle:
        """Return the engine facts of the present state.

        ``objects``: ``types`` (entity name to TextWorld's type, e.g. ``r`` room, ``c`` container,
        ``s`` supporter, ``d`` door, ``k`` key, ``f`` food, ``o`` object); ``shut`` and
        ``writings``, see :class:`gym_memory.core.records.Oracle`.
        """
        world = self.game.world
        types = {name.lower(): world.types[e] for e, name in sorted(world.names.items())}
        return Oracle(
            facts=triples_of(self.engine.facts, world.names, world.types),
            walkthrough=tuple(self.game.metadata.get("walkthrough") or ()),
            objects={
                "types": types,
                "shut": tuple(name for name, kind in types.items() if kind in _CLOSED_TYPES),
                "writings": (("", self.goal()), ("", self.opening()), *self.game.writings.items()),
            },
        )

    def versions(self) -> dict[str, str]:
        """Return the versions of TextWorld, the interpreter and, if in use, the rules."""
        by_rules = isinstance(self.engine, TextWorldEngine) and self.engine.is_native
        rules = {"native": NATIVE_VERSION} if by_rules else {}
        return {"jericho": _jericho_version(), "textworld": textworld_version(), **rules}


@cache  # cached, since every episode reports it and reading takes milliseconds
def _jericho_version() -> str:
    return version("jericho")


class TextWorldFamily(TextWorldEnv):
    """A base class of families of generated TextWorld games.

    A subclass sets the class attributes and implements :meth:`make_game`; other hooks have
    defaults. Task ids are ``<family>/<level>/<split>/<number>``; the family's manifest lists the
    seeds.

    Args:
        level: Name of a level; None for ``default_level``, or else the first.
        split: ``train``, ``valid``, ``test`` or ``held_out``.
        max_steps: Step limit; None for the paper's, see :meth:`default_steps`.
        engine: As of :class:`TextWorldEnv`.
    """

    family: ClassVar[str]
    """First part of the task ids, e.g. ``cooking``."""
    generator: ClassVar[int] = 1
    """Version of the generator; increment it whenever the game of a seed changes."""
    levels: ClassVar[Mapping[str, Mapping[str, Any]]]
    """Settings by level (JSON-able; part of the cache key)."""
    splits: ClassVar[tuple[str, ...]] = SPLITS
    default_level: ClassVar[str] = ""
    """Default of ``level``; empty for the first."""
    listed_levels: ClassVar[tuple[str, ...]] = ()
    """Levels in the manifest; empty for all."""
    sizes: ClassVar[Mapping[str, int]] = SIZES
    """Number of games by split in the manifest, per level."""
    default_max_steps: ClassVar[int] = 150
    """Step limit of a level without ``steps`` in its settings."""

    def __init__(
        self,
        level: str | None = None,
        split: str = "test",
        *,
        max_steps: int | None = None,
        valid_actions: bool = True,
        inventory: bool = True,
        engine: str = "auto",
        render_mode: str | None = None,
    ):
        if level is None:
            level = self.default_level or next(iter(self.levels))
        if level not in self.levels:
            raise UnknownNameError(f"level of {self.family}", str(level), self.levels)
        if split not in self.splits:
            raise UnknownNameError("split", str(split), self.splits)
        super().__init__(
            max_steps=self.default_steps(level) if max_steps is None else max_steps,
            valid_actions=valid_actions,
            inventory=inventory,
            split=split,
            engine=engine,
            render_mode=render_mode,
        )
        self.level = level
        listed = entries(self.family, self.generator, level, split)
        self._entries = {f"{self.family}/{level}/{split}/{i}": e for i, e in enumerate(listed)}
        self._ids = tuple(self._entries)

    @classmethod
    @abstractmethod
    def make_game(cls, settings: Mapping[str, Any], split: str, seed: int) -> Any:
        """Generate one ``textworld.Game``, deterministically for ``seed``.

        Set ``game.objective`` (the goal text), ``game.metadata["walkthrough"]`` (commands that win
        with the maximum score) and, if the quests do not add up to it,
        ``game.metadata["max_score"]``. The metadata must be JSON-able.
        """

    @classmethod
    def default_steps(cls, level: str) -> int:
        """Return the step limit of a level, the paper's if it has one."""
        return int(cls.levels[level].get("steps", cls.default_max_steps))

    def description(self, task_id: str) -> str | PathLike[str]:
        """Return the path of a task's game; generate it at first use."""
        return self._generated(task_id, self.levels[self.level])

    def _generated(self, task_id: str, settings: Mapping[str, Any]) -> Path:
        """Return the path of a task's game; games of other settings are not listed."""
        entry = self._entries[task_id]
        key = GameKey(self.family, self.generator, settings, self.split, entry.seed)

        def make() -> Any:
            game = generate(self, settings, self.split, entry.seed)
            if settings == self.levels[self.level]:
                _compare(task_id, game, entry)
            return game

        return cached_game(key, make)


def _compare(task_id: str, game: Any, entry: ListedGame) -> None:
    """Raise ``BackendError`` if a game differs from the one listed for the same TextWorld."""
    digest = game_sha256(game.serialize())
    if entry.sha256 in ("", digest):
        return
    manifest = load_manifest(task_id.split("/")[0])
    made_with = manifest.textworld if manifest else ""
    message = (
        f"task {task_id} came out as another game than its manifest lists (sha256 "
        f"{digest[:12]}..., expected {entry.sha256[:12]}...)"
    )
    if made_with == textworld_version():
        raise BackendError(f"{message}: the generator changed, raise its version")
    warnings.warn(
        f"{message}: the manifest was made with TextWorld {made_with}, this is "
        f"{textworld_version()}; scores cannot be compared with those of other versions",
        stacklevel=2,
    )
