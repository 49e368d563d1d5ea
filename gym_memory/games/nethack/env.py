"""NetHack as a text environment, with its descriptions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Annotated, Any

from gym_memory.core.errors import BackendError, InvalidArgumentError
from gym_memory.core.optional import check_installed
from gym_memory.core.records import Oracle
from gym_memory.core.settings import Help, checked
from gym_memory.games.base import Feedback, TextEnv
from gym_memory.games.nethack.commands import possible_actions, read
from gym_memory.games.nethack.engine import (
    GamePrompt,
    NetHackEngine,
    PackItem,
    make_minihack,
    make_nle,
)
from gym_memory.games.nethack.facts import facts_of, reported_facts
from gym_memory.games.nethack.grid import CELLS, COLUMNS, area_name, offset_words
from gym_memory.games.nethack.level import Level
from gym_memory.games.nethack.play import Impossible, NetHackPlay, Stop
from gym_memory.games.nethack.progression import progression
from gym_memory.games.nethack.tracker import AreaEntry, AreaListing, Status, Tracker, listing, title

__all__ = ["VIEWS", "NetHack", "describe", "inventory_text", "prompt_text"]

Where = Callable[[int], str]


def describe(tracker: Tracker, note: str, prompt: GamePrompt | None, *, whole_level: bool) -> str:
    """Return the text of a step, and note its listings as reported.

    ``note`` is a sentence about the end of the action.
    """
    level, here = tracker.level, tracker.here()
    lines = [" ".join(dict.fromkeys(tracker.messages))[:2000], note]
    lines += _travelled(tracker)
    place = title(level, here.area) if here.area else f"an unknown place of {level.name}"
    lines.append(f"You are in {place}{_standing(level)}.")
    if here.area:
        lines += _describe_area(level, here, _from(level.here))
    else:
        lines += [f"- monsters: {b.label}" for b in level.adjacent()]
    lines += _describe_passed(tracker, level if whole_level else None)
    if here.area:
        tracker.note_report(level, here)
    if whole_level:
        lines += _list_other_areas(level, here)
    lines.append(_status(tracker.status))
    if prompt is not None:
        lines.append(prompt_text(prompt))
    return "\n".join([line for line in lines if line])


def _travelled(tracker: Tracker) -> Iterator[str]:
    if tracker.arrival is not None:
        feature, area, level = tracker.arrival
        yield f"You took {feature} of {title(level, area)}."
    for level, gone, kept in tracker.merged:
        yield f"{title(level, gone).capitalize()} is part of {title(level, kept)}."


def _standing(level: Level) -> str:
    feature = level.features.get(level.here)
    if feature is not None:
        return f", on {feature}"
    door = level.doors.get(level.here)
    return f", at door {door}" if door is not None else ""


def _from(start: int) -> Where:
    row, column = divmod(start, COLUMNS)

    def where(cell: int) -> str:
        return offset_words(cell // COLUMNS - row, cell % COLUMNS - column)

    return where


def _describe_area(
    level: Level, seen: AreaListing, where: Where | None, head: str = ""
) -> Iterator[str]:
    state = "explored" if seen.explored else "partly explored"
    words = filter(None, (area_name(seen.area).capitalize(), seen.kind, state, head))
    yield ", ".join(words) + "."

    def named(entries: tuple[AreaEntry, ...]) -> str:
        return "; ".join([f"{e.name} ({where(e.cell)})" if where else e.name for e in entries])

    if seen.features:
        yield f"- features: {named(seen.features)}"
    if seen.exits:
        doors = [f"{e.state}, {where(e.cell)}" if where else e.state for e in seen.exits]
        parts = [f"{e.name} ({door})" for e, door in zip(seen.exits, doors, strict=True)]
        yield f"- exits: {'; '.join(parts)}"
    if seen.items:
        yield f"- items: {named(seen.items)}"
    if seen.creatures:
        yield f"- monsters: {named(seen.creatures)}"


def _describe_passed(tracker: Tracker, mapped: Level | None) -> Iterator[str]:
    """Describe areas left since the last report, unless their last listing is still true.

    Areas of a level that is described as a whole are omitted.
    """
    tracker.reported_on_the_way = [seen for seen in tracker.unreported() if seen[0] is not mapped]
    for level, seen in tracker.reported_on_the_way:
        yield f"On the way, in {title(level, seen.area)}:"
        yield from _describe_area(level, seen, None)
        tracker.note_report(level, seen)


def _list_other_areas(level: Level, here: AreaListing) -> Iterator[str]:
    """List the other areas of the level, with path lengths and contents."""
    steps = level.paths().steps

    def where(cell: int) -> str:
        return f"{steps[cell]} steps" if steps[cell] < CELLS else "no path known"

    yield f"Map of {level.name}:"
    for area in level.areas():
        if area != here.area:
            nearest = int(steps[level.area == area].min())
            away = f"{nearest} steps away" if nearest < CELLS else "no path known"
            yield from _describe_area(level, listing(level, area), where, away)


def _status(status: Status) -> str:
    parts = [
        f"HP {status.hp} of {status.max_hp}, AC {status.ac}, experience level "
        f"{status.experience}, power {status.energy} of {status.max_energy}, "
        f"gold {status.gold}, turn {status.turn}"
    ]
    if status.conditions:
        parts.append("you are " + ", ".join(status.conditions))
    return "Status: " + "; ".join(parts) + "."


def inventory_text(items: tuple[PackItem, ...]) -> str:
    """List the pack, one item per line."""
    return "\n".join([f"{item.letter} - {item.name}" for item in items]) or "You carry nothing."


def prompt_text(prompt: GamePrompt) -> str:
    """Return the game's question in words."""
    if prompt.kind == "menu":
        lines = [f"A menu is open: {prompt.text}".rstrip(" :") + ":"]
        lines += [f"  {letter} - {words}" for letter, words in prompt.options]
        return "\n".join(lines)
    return f"The game asks: {prompt.text}"


VIEWS = ("room", "level")
"""Possible extents of a description."""
SCORES = ("points", "progression")
"""Possible measures of success."""

_SPLITS = {"train": 1_000_000, "valid": 2_000_000, "test": 3_000_000}
"""First seed of each split."""
_GAMES_PER_SPLIT = 1000
_CHARACTER_FORM = re.compile(
    r"@|(?:arc|bar|cav|hea|kni|mon|pri|rog|ran|sam|tou|val|wiz)"
    r"(?:-(?:hum|elf|dwa|gno|orc))?(?:-(?:law|neu|cha))?(?:-(?:mal|fem))?"
)
_UNKNOWN = "You know no such action."


class NetHack(TextEnv):
    """NetHack 3.6 as text, with skills as actions.

    ``view="room"`` describes the room or corridor of the player, ``view="level"`` all explored
    areas of the level; the game is the same. An action is a skill in words, or raw keys
    (:mod:`.commands`); a skill plays keys until it is done or interrupted.

    The score is the game's own; ``normalized_score`` is its share of ``max_score``, at most 1.
    ``success`` is reaching the dungeon level ``depth`` if given, else winning the game. Death is a
    loss. In a MiniHack task, the score is the sum of its rewards (at most 1), and the task defines
    success. ``score="progression"`` is BALROG's instead, from 0 to 1: in NetHack, the share of
    human games won after as much depth or experience (:mod:`.progression`), in MiniHack the
    success.

    A task id ends with the seed of the game; the same seed and actions give the same text in every
    process.

    Args:
        task: ``NetHack``, or the name of a MiniHack environment (``MiniHack-Room-5x5-v0``).
        character: Role, race, alignment and sex in NLE's notation, ``@`` for any; None for a
            Valkyrie (``val-hum-neu-fem``), or in MiniHack for the task's own.
        max_steps: Step limit in actions.
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
        character: str | None = None,
        depth: Annotated[
            int | None, Help("Dungeon level that ends the episode; None to play for points.", low=2)
        ] = None,
        max_score: Annotated[
            int, Help("Points that count as a normalized score of 1.", low=1)
        ] = 1000,
        score: Annotated[
            str, Help("``points``, or BALROG's ``progression``.", choices=SCORES)
        ] = "points",
        split: Annotated[
            str, Help("``train``, ``valid`` or ``test``: different games.", choices=tuple(_SPLITS))
        ] = "test",
        max_steps: int = 500,
        valid_actions: bool = True,
        inventory: bool = True,
        render_mode: str | None = None,
    ):
        if character is not None and not _CHARACTER_FORM.fullmatch(character):
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
        self._counted = score
        self._max_score = float(max_score) if task == "NetHack" and score == "points" else 1.0
        self._show_inventory = inventory
        self.engine = NetHackEngine(
            lambda: make_nle(character) if task == "NetHack" else make_minihack(task, character)
        )
        self._play: NetHackPlay | None = None
        head = "nethack" if task == "NetHack" else task.lower()
        self._seeds = {f"{head}/{split}/{i}": _SPLITS[split] + i for i in range(_GAMES_PER_SPLIT)}
        self._ids = tuple(self._seeds)

    def _open(self, task_id: str) -> Feedback:
        self._play = NetHackPlay(self.engine, self._seeds[task_id])
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
            self.engine.ascended
            or self.engine.solved
            or (self.depth is not None and tracker.deepest >= self.depth)
        )
        over = screen.done
        if over:
            turn, where = tracker.status.turn, tracker.level.name
            end = "You won" if won else "You died"
            messages = " ".join(dict.fromkeys(tracker.messages))[:2000]
            text = f"{messages}\n{end} on {where}, turn {turn}. The game is over.".strip()
        else:
            text = describe(tracker, note, screen.prompt, whole_level=self.view == "level")
        return Feedback(
            text,
            self._count(),
            self._max_score,
            won=won,
            lost=over and not won,
            inventory=inventory_text(tracker.screen.items) if self._show_inventory else "",
            accepted=accepted,
        )

    def _count(self) -> float:
        tracker, engine = self.play.tracker, self.engine
        if self._counted == "points":
            return float(tracker.status.score) if self.task == "NetHack" else engine.reward
        if self.task != "NetHack" or engine.ascended:
            return float(engine.solved or engine.ascended)
        return progression(tracker.deepest, tracker.most_experienced)

    def _list_valid_actions(self) -> tuple[str, ...]:
        return possible_actions(self.play, whole_level=self.view == "level")

    def _close(self) -> None:
        self.engine.close()
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
        """Return everything seen on all levels, reported or not; creatures where last seen.

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
        """Return the versions of NLE and, in its tasks, of MiniHack."""
        if self.task == "NetHack":
            return {"nle": version("nle")}
        check_installed("minihack", "pip install minihack", self.task)
        return {"minihack": version("minihack"), "nle": version("nle")}

    def _info(self, *, accepted: bool) -> dict[str, Any]:
        """Add ``depth`` (now), ``max_depth`` (deepest so far) and ``turn`` (of the game)."""
        tracker = self.play.tracker
        return {
            **super()._info(accepted=accepted),
            "depth": tracker.status.depth,
            "max_depth": tracker.deepest,
            "turn": tracker.status.turn,
        }
