"""NetHack as a text environment."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

from gym_memory.core.errors import BackendError, InvalidArgumentError, MissingDependencyError
from gym_memory.core.optional import require
from gym_memory.core.records import Oracle
from gym_memory.core.settings import Help, checked
from gym_memory.games.base import Feedback, TextEnv
from gym_memory.games.nethack.commands import possible, read
from gym_memory.games.nethack.engine import KEYS, NetHackEngine, make_minihack
from gym_memory.games.nethack.facts import facts_of, reported_facts
from gym_memory.games.nethack.play import Impossible, NetHackPlay, Stop
from gym_memory.games.nethack.text import VIEWS, describe, inventory_text
from gym_memory.games.registry import ENVIRONMENTS

__all__ = ["NetHack"]

_SPLITS = {"train": 1_000_000, "valid": 2_000_000, "test": 3_000_000}
"""Split to the seed of its first game."""
_GAMES = 1000
_CHARACTER = re.compile(
    r"@|(?:arc|bar|cav|hea|kni|mon|pri|rog|ran|sam|tou|val|wiz)"
    r"(?:-(?:hum|elf|dwa|gno|orc))?(?:-(?:law|neu|cha))?(?:-(?:mal|fem))?"
)
_UNKNOWN = "You know no such action."


@ENVIRONMENTS.register("NetHack")
class NetHack(TextEnv):
    """Play NetHack 3.6 in words, with skills as actions.

    ``view="room"`` describes the room or corridor of the player, ``view="level"`` all of the level
    that was seen (:mod:`.text`); the game is the same. An action is a skill in words or raw keys
    (:mod:`.commands`); a skill plays many keys until it is done or interrupted.

    The score is the game's own; ``normalized_score`` is its share of ``max_score``, cut at 1.
    ``success`` is reaching the dungeon level ``depth`` if given, else winning the game. Death is a
    loss. In a MiniHack task the score is the sum of its rewards, 1 at best, and success is the
    task's own.

    The number at the end of a task id is the seed of the game: the same seed and the same actions
    give the same text in every process.

    Args:
        task: ``NetHack``, or the name of a MiniHack environment (``MiniHack-Room-5x5-v0``).
        character: Role, race, alignment and sex as NLE writes them.
        max_steps: Step limit, counted in actions.
        inventory: True to show the inventory text in the observation.
    """

    dialect = "nethack"
    needs, needs_extra = "nle", "nethack"
    splits = tuple(_SPLITS)

    @checked
    def __init__(
        self,
        view: Annotated[str, Help("``room`` or ``level``.", choices=VIEWS)] = "room",
        *,
        task: str = "NetHack",
        character: str = "val-hum-neu-fem",
        depth: Annotated[
            int | None, Help("Dungeon level that ends the episode; None to play for points.", low=2)
        ] = None,
        max_score: Annotated[
            int, Help("Points that count as a normalized score of 1.", low=1)
        ] = 1000,
        split: Annotated[
            str, Help("``train``, ``valid`` or ``test``: different games.", choices=tuple(_SPLITS))
        ] = "test",
        max_steps: int = 500,
        valid_actions: bool = True,
        inventory: bool = True,
        render_mode: str | None = None,
    ):
        if not _CHARACTER.fullmatch(character):
            raise InvalidArgumentError(
                f"expected character as role-race-alignment-sex such as 'val-hum-neu-fem', or '@' "
                f"for any, got {character!r}"
            )
        if task != "NetHack" and not task.startswith("MiniHack-"):
            raise InvalidArgumentError(
                f"expected task as 'NetHack' or the name of a MiniHack environment, got {task!r}"
            )
        super().__init__(
            max_steps=max_steps, valid_actions=valid_actions, split=split, render_mode=render_mode
        )
        self.view, self.task, self.character, self.depth = view, task, character, depth
        self._max_score = float(max_score) if task == "NetHack" else 1.0
        self._show_inventory = inventory
        self._engine = NetHackEngine(
            lambda: _make_nle(character) if task == "NetHack" else make_minihack(task, KEYS)
        )
        self._play: NetHackPlay | None = None
        head = "nethack" if task == "NetHack" else task.lower()
        self._seeds = {f"{head}/{split}/{i}": _SPLITS[split] + i for i in range(_GAMES)}
        self._ids = tuple(self._seeds)

    # ------------------------------------------------------------ TextEnv

    def _task_ids(self) -> Sequence[str]:
        return self._ids

    def _open(self, task_id: str) -> Feedback:
        self._play = NetHackPlay(self._engine, self._seeds[task_id])
        return self._feedback_of("", accepted=True)

    def _send(self, action: str) -> Feedback:
        play = self.play
        play.begin()
        skill = read(action, whole_level=self.view == "level")
        if skill is None:
            return self._feedback_of(_UNKNOWN, accepted=False)
        try:
            return self._feedback_of(skill(play), accepted=True)
        except Stop as reason:
            return self._feedback_of(str(reason), accepted=True)
        except Impossible as reason:
            return self._feedback_of(str(reason), accepted=False)

    @property
    def play(self) -> NetHackPlay:
        """Return the game in progress."""
        if self._play is None:
            raise BackendError("expected a started game: call reset() first")
        return self._play

    def _feedback_of(self, note: str, *, accepted: bool) -> Feedback:
        play = self.play
        tracker, screen = play.tracker, play.screen
        won = (
            self._engine.ascended
            or self._engine.solved
            or (self.depth is not None and tracker.deepest >= self.depth)
        )
        over = screen.done
        if over:
            turn, where = tracker.status.turn, tracker.level.name
            end = "You won" if won else "You died"
            said = " ".join(dict.fromkeys(tracker.messages))[:2000]
            text = f"{said}\n{end} on {where}, turn {turn}. The game is over.".strip()
        else:
            text = describe(tracker, note, screen.prompt, whole_level=self.view == "level")
        return Feedback(
            text,
            float(tracker.status.score) if self.task == "NetHack" else self._engine.reward,
            self._max_score,
            won=won,
            lost=over and not won,
            inventory=inventory_text(tracker.screen.items) if self._show_inventory else "",
            accepted=accepted,
        )

    def _list_valid_actions(self) -> tuple[str, ...]:
        return possible(self.play, whole_level=self.view == "level")

    def _close(self) -> None:
        self._engine.close()
        self._play = None
        self._done = True

    def goal(self) -> str:
        """Return the aim of the game."""
        if self.task != "NetHack":
            return f"Solve {self.task}."
        if self.depth is not None:
            return f"Reach dungeon level {self.depth} alive."
        return "Explore the dungeon, go down as deep as you can, stay alive, and score points."

    def oracle(self) -> Oracle:
        """Return all that was seen of all levels, shown or not; creatures where last seen.

        ``objects``: ``level`` (the present level's name), ``levels`` (names of all) and
        ``seen`` (the facts of the last text).
        """
        tracker = self.play.tracker
        return Oracle(
            facts=facts_of(tracker),
            objects={
                "level": tracker.level.name,
                "levels": [level.name for level in tracker.levels.values()],
                "seen": reported_facts(tracker, whole_level=self.view == "level"),
            },
        )

    def versions(self) -> dict[str, str]:
        """Return the versions of NLE, and of MiniHack where it is played."""
        packages = ["nle"] if self.task == "NetHack" else ["minihack", "nle"]
        try:
            return {package: version(package) for package in packages}
        except PackageNotFoundError as error:
            wanted = "minihack" if error.name == "minihack" else "'gym-memory[nethack]'"
            raise MissingDependencyError(error.name, f"pip install {wanted}", self.task) from error

    def _info(self, *, accepted: bool) -> dict[str, Any]:
        """Add ``depth`` (now), ``max_depth`` (deepest so far) and ``turn`` (of the game)."""
        tracker = self.play.tracker
        return {
            **super()._info(accepted=accepted),
            "depth": tracker.status.depth,
            "max_depth": tracker.deepest,
            "turn": tracker.status.turn,
        }


def _make_nle(character: str) -> Any:
    nle = require("nle.env", "nethack", "NetHack")
    return nle.NLE(
        observation_keys=KEYS,
        actions=tuple(range(256)),
        character=character,
        allow_all_yn_questions=True,
        allow_all_modes=True,
        max_episode_steps=10**9,
        render_mode=None,
        fix_moon_phase=True,
    )
