"""One TextWorld game being played: the interpreter, the cleaned text, the tracked logic.

The interpreter's answer carries everything: a status line (room, score, turns), and a trace of
actions from which the logical state is kept up to date. So a step sends one command and no
hidden ones; admissible commands are matched, and the inventory is asked for, only on demand.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from gym_memory.core.errors import BackendError, CorruptGameError
from gym_memory.core.files import parse_json, read_bytes
from gym_memory.games.textworld.logic import Move, World, load_logic
from gym_memory.games.textworld.state import Fact, Index, State
from gym_memory.games.textworld.zmachine import Interpreter

__all__ = ["Answer", "Engine", "GameData", "clean_text", "endings", "load_game", "trace_on"]

_WON, _LOST = "*** The End ***", "*** You lost! ***"
_FINAL_SCORE = re.compile(r"You scored (-?\d+) out of")
_TAG = re.compile(r"\[([^\]]*)\]\n?")
_SUCCEEDED = " - succeeded"
_WIDE = " " * 8
LARGEST_DESCRIPTION = 1 << 26
"""Bytes of the .json beside a game, at most; those of the largest games have some 2 MB."""
_END_PROMPT = re.compile(r"Would you like to RESTART, .*\Z", re.DOTALL)


class GameData(NamedTuple):
    """What TextWorld knows about a game: the content of the .json beside the .z8.

    Attributes:
        world: Entities and rules.
        facts: What is true at the start.
        objective: The goal in words.
        max_score: Sum of the rewards; 0 for a game without quests or without an upper limit.
        metadata: Whatever the generator noted (``walkthrough``, ``max_score``, ...).
        writings: Name of a thing, in lower case, to what one reads when one examines it.
    """

    world: World
    facts: Index
    objective: str
    max_score: float
    metadata: Mapping[str, Any]
    writings: Mapping[str, str] = MappingProxyType({})


class Answer(NamedTuple):
    """What a command did.

    Attributes:
        text: Feedback without trace, banner and status line.
        score: Score so far.
        won: The game ended well.
        lost: The game ended badly.
        accepted: The game understood the command and carried it out.
        added: Facts that became true.
        removed: Facts that ceased to be true.
    """

    text: str
    score: float = 0.0
    won: bool = False
    lost: bool = False
    accepted: bool = True
    added: frozenset[Fact] = frozenset()
    removed: frozenset[Fact] = frozenset()


class EngineState(NamedTuple):
    """A state of a game in an :class:`Engine`."""

    story: str
    machine: Any
    changes: tuple[frozenset[Fact], frozenset[Fact]]
    score: float
    over: bool
    inventory: str | None


def load_game(story: str | os.PathLike[str]) -> GameData:
    """Read the .json beside a .z8; kept for the process.

    Raises:
        CorruptGameError: The .json is missing or is not one of TextWorld's.
    """
    path = Path(story).with_suffix(".json")
    try:
        stamp = path.stat()
        return _load_game(os.fspath(path), stamp.st_mtime_ns, stamp.st_size)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptGameError(
            f"expected TextWorld's description of the game at {os.fspath(path)!r}: "
            f"{type(error).__name__}: {error}"
        ) from error


@lru_cache(maxsize=256)
def _load_game(path: str, mtime: int, size: int) -> GameData:
    data = parse_json(read_bytes(path, LARGEST_DESCRIPTION))
    types = {a["name"]: a["type"] for fact in data["world"] for a in fact["arguments"]}
    infos = dict(data["infos"])
    types.update((entity, info["type"]) for entity, info in infos.items())
    names = {entity: info["name"] for entity, info in infos.items() if info["name"]}
    logic = load_logic(json.dumps(data["KB"], sort_keys=True))
    quests = [q for q in data["quests"] if not q.get("optional") or q["reward"] > 0]
    endless = any(q.get("repeatable") and q["reward"] > 0 for q in quests)
    metadata = data.get("metadata", {})
    best = metadata.get("max_score", sum(q["reward"] for q in quests))
    return GameData(
        world=World(logic, types, names),
        facts=Index((f["name"], *(a["name"] for a in f["arguments"])) for f in data["world"]),
        objective=data.get("objective") or "",
        max_score=0.0 if endless or not math.isfinite(best) else float(best),
        metadata=metadata,
        writings={
            info["name"].lower(): info["desc"]
            for info in infos.values()
            if info["name"] and info["desc"] and info["type"] != "r"
        },
    )


def _modified(story: str | os.PathLike[str]) -> int:
    try:
        return os.stat(story).st_mtime_ns
    except OSError as error:
        raise CorruptGameError(
            f"cannot read the game {os.fspath(story)!r}: {error.strerror}"
        ) from error


def clean_text(raw: str) -> tuple[str, list[str], str, float | None]:
    """Take the interpreter's answer apart.

    Returns:
        The text for a player; the trace tags without brackets; the room in the status line; the
        score in the status line, None where there is no status line.
    """
    room, score = "", None
    body, mark, status = raw.rpartition(" -= ")
    title, end, numbers = status.rpartition(" =-")
    points = numbers.partition("/")[0].strip()
    if mark and end and points.lstrip("-").isdigit():
        raw, room, score = body.rstrip(), title, float(points)
        raw = raw.removesuffix(">")
    last = raw.rfind("]") + 2  # an open bracket behind it would be followed to the end, each one
    parts = _TAG.split(raw[:last])
    parts[-1] += raw[last:]
    text = _END_PROMPT.sub("", "".join(parts[::2]))
    lines: list[str] = []
    for line in text.split("\n"):
        line = (line.lstrip() if line.startswith(_WIDE) else line).rstrip()
        if line and (lines or any(map(str.isalnum, line))):  # the banner has no letters
            lines.append(line)
        elif lines and lines[-1]:
            lines.append("")
    return "\n".join(lines).rstrip(), parts[1::2], room, score


def endings(raw: str) -> tuple[bool, bool, float | None]:
    """Whether the answer ends the game: won, lost, and the final score.

    The last status line is drawn before the last point is counted, so the score stands apart.
    """
    won, lost = _WON in raw, _LOST in raw
    final = _FINAL_SCORE.search(raw) if won or lost else None
    return won, lost, float(final[1]) if final else None


def trace_on(machine: Interpreter) -> None:
    """Have a TextWorld game report every action in brackets from now on."""
    machine.send("tw-trace-actions")


class _Opening(NamedTuple):
    """How a game begins, kept so that the next episode need not run it again."""

    machine: Any
    answer: Answer
    inventory: str


_Story = tuple[str, int]
"""Path and time of last change."""
_openings: dict[_Story, _Opening] = {}
_MAX_OPENINGS = 256
_MAX_MACHINES = 8


class Engine:
    """A machine that plays one TextWorld game after another."""

    def __init__(self) -> None:
        self._game: GameData | None = None
        self._story: _Story | None = None
        self._machines: dict[_Story, Interpreter] = {}
        self._state = State(Index(()))
        self._score = 0.0
        self._over = True
        self._inventory: str | None = None

    @property
    def game(self) -> GameData:
        """The game in play.

        Raises:
            BackendError: None was started.
        """
        if self._game is None:
            raise BackendError("no game is running: call reset() first")
        return self._game

    def start(self, story: str | os.PathLike[str]) -> Answer:
        """Begin a game.

        Args:
            story: Path of a .z8 that TextWorld made, with its .json beside it.

        Raises:
            CorruptGameError: One of the two is missing or damaged.
        """
        game, key = load_game(story), (os.fspath(story), _modified(story))
        machine = self._insert(key)
        self._game, self._story = game, key
        opening = _openings.get(key)
        if opening is None:
            text, _, _, score = clean_text(machine.start())
            trace_on(machine)
            begun = machine.save()
            inventory = clean_text(machine.send("inventory"))[0]
            machine.load(begun)
            opening = _Opening(begun, Answer(text, score or 0.0), inventory)
            if len(_openings) >= _MAX_OPENINGS:
                _openings.clear()
            _openings[key] = opening
        else:
            machine.load(opening.machine)
        self._state = State(game.facts)
        self._score, self._over, self._inventory = opening.answer.score, False, opening.inventory
        return opening.answer

    def _insert(self, story: _Story) -> Interpreter:
        """The machine of a story; those played last are kept, each takes about 2 MB."""
        machine = self._machines.pop(story, None) or Interpreter(story[0])
        self._machines[story] = machine
        if len(self._machines) > _MAX_MACHINES:
            self._machines.pop(next(iter(self._machines))).close()
        return machine

    @property
    def _machine(self) -> Interpreter:
        if self._story is None:
            raise BackendError("no game is running: call reset() first")
        return self._machines[self._story]

    def send(self, command: str) -> Answer:
        """Play one command."""
        raw = self._machine.send(command)
        text, tags, room, score = clean_text(raw)
        events = [tag.removesuffix(_SUCCEEDED) for tag in tags if tag.endswith(_SUCCEEDED)]
        added, removed = self._follow(events, room)
        if any(self._is_carried(fact) for fact in added | removed):
            self._inventory = None
        won, lost, final = endings(raw)
        self._over = won or lost
        if self._over:  # nobody can ask any more
            self._inventory = None
        score = score if final is None else final
        self._score = self._score if score is None else score
        return Answer(text, self._score, won, lost, bool(events), added, removed)

    def _follow(self, events: list[str], room: str) -> tuple[frozenset[Fact], frozenset[Fact]]:
        """Bring the logical state up to date with the trace."""
        added: set[Fact] = set()
        removed: set[Fact] = set()

        def apply(move: Move | None) -> None:
            if move is not None:
                self._state.change(move.added, move.removed)
                added.update(move.added)
                removed.update(move.removed)
                added.difference_update(move.removed)
                removed.difference_update(move.added)

        world = self.game.world
        for event in events:
            if "(" not in event:  # "(1) taking x" is part of the action that is reported next
                apply(world.detect(self._state, event))
        if room and room != world.title(self._state):
            apply(world.detect_walk(self._state, room))
        return frozenset(added), frozenset(removed)

    def admissible_commands(self) -> tuple[str, ...]:
        """All commands that the rules allow now, sorted; kept by state."""
        return () if self._over else self.game.world.admissible_commands(self._state)

    def inventory(self) -> str:
        """What the game would answer to ``inventory``; asked for only after a change."""
        if self._inventory is None and not self._over:
            state = self._machine.save()
            self._inventory = clean_text(self._machine.send("inventory"))[0]
            self._machine.load(state)
        return self._inventory or ""

    def _is_carried(self, changed: Fact) -> bool:
        """Whether the change is in what the player carries."""
        return changed[-1] == "I" or ("in", changed[1], "I") in self._state

    @property
    def facts(self) -> frozenset[Fact]:
        """All that is true now."""
        return self._state.facts

    def save(self) -> EngineState:
        """A copy of the present state."""
        story = self._story[0] if self._story else ""
        machine = self._machine.save()
        return EngineState(
            story, machine, self._state.changes, self._score, self._over, self._inventory
        )

    def load(self, state: EngineState) -> None:
        """Return to a state, of this or another game."""
        if self._story is None or self._story[0] != state.story:
            self.start(state.story)
        self._machine.load(state.machine)
        self._state.become(state.changes)
        self._score, self._over, self._inventory = state.score, state.over, state.inventory

    def close(self) -> None:
        """Free the machines; a later :meth:`start` makes new ones."""
        for machine in self._machines.values():
            machine.close()
        self._machines.clear()
        self._story = None
