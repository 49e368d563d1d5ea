"""Play one TextWorld game: track its logic, and answer commands.

By default, the rules of :mod:`~.native_turn` answer. For a command outside of their grammar, the
Z-machine is started and replays the episode so far.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from gym_memory.core.errors import BackendError, CorruptGameError, UnknownNameError
from gym_memory.core.files import parse_json, read_bytes
from gym_memory.games.textworld.games import compiled
from gym_memory.games.textworld.knowledge import FactPattern
from gym_memory.games.textworld.logic import Fact, Index, RuleMove, State, World, load_logic
from gym_memory.games.textworld.native_game import NativeGame, read_native
from gym_memory.games.textworld.native_score import ScoreBoard, Standing
from gym_memory.games.textworld.native_text import NOWHERE, Holdings, UnknownTextError, tidy_lines
from gym_memory.games.textworld.native_turn import EngineTurn, TurnRules
from gym_memory.games.textworld.zmachine import Interpreter, clean_text, endings, trace_on, turns_of

__all__ = ["ENGINES", "NATIVE_VERSION", "Answer", "GameData", "TextWorldEngine", "load_game"]

ENGINES = ("auto", "inform")
"""Sources of answers: the rules if possible, or always the Z-machine."""
NATIVE_VERSION = "1"
"""Version of the rules; increment it whenever an answer changes."""
LARGEST_DESCRIPTION = 1 << 22
"""Size limit, in bytes, of the .json beside a game; the largest games have 2 MB."""


class GameData(NamedTuple):
    """Content of the .json beside a .z8.

    Attributes:
        facts: Facts at the start.
        max_score: Sum of the rewards; 0 without quests or without an upper limit.
        metadata: The generator's notes (``walkthrough``, ``max_score``, ...).
        writings: Descriptions of things by lower-case name.
        native: The game for the rules; None if only the interpreter can play it.
    """

    world: World
    facts: Index
    objective: str
    max_score: float
    metadata: Mapping[str, Any]
    writings: Mapping[str, str] = MappingProxyType({})
    native: NativeGame | None = None


class Answer(NamedTuple):
    """An answer to a command.

    Attributes:
        text: Feedback without trace, banner and status line.
        accepted: Whether the game understood and executed the command.
        added: Facts that became true.
        removed: Facts that became false.
    """

    text: str
    score: float = 0.0
    won: bool = False
    lost: bool = False
    accepted: bool = True
    added: frozenset[Fact] = frozenset()
    removed: frozenset[Fact] = frozenset()


class EngineState(NamedTuple):
    """A state of a game as changes since its start.

    Attributes:
        machine: State of the interpreter at its last answer; None before.
        missed: Commands since then, latest first.
    """

    story: str
    machine: Any
    missed: _Commands
    facts: tuple[frozenset[Fact], frozenset[Fact]]
    holdings: Any
    standing: Standing
    score: float
    inventory: str | None
    over: bool
    is_asking: bool
    has_diverged: bool


_Commands = tuple[str, Any] | None
"""A linked list, so snapshots need no copy."""


def load_game(story: str | os.PathLike[str]) -> GameData:
    """Read the .json beside a .z8; cached for the process.

    Raises:
        CorruptGameError: The .json is missing or not from TextWorld.
    """
    path = Path(story).with_suffix(".json")
    try:
        stamp = path.stat()
        return _load_game(os.fspath(path), stamp.st_mtime_ns, stamp.st_size)
    except (
        *(OSError, ValueError, LookupError, TypeError, AttributeError),
        *(ArithmeticError, RecursionError),
    ) as error:
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
        native=read_native(data, types, logic.subtypes),
    )


def _modified(story: str | os.PathLike[str]) -> int:
    try:
        return os.stat(story).st_mtime_ns
    except OSError as error:
        raise CorruptGameError(
            f"cannot read the game {os.fspath(story)!r}: {error.strerror}"
        ) from error


class _Opening(NamedTuple):
    machine: Any
    answer: Answer
    inventory: str


_Story = tuple[str, int]
"""Path and time of last change."""
_openings: dict[_Story, _Opening] = {}
_MAX_OPENINGS = 256
_MAX_MACHINES = 8
_SUCCEEDED = " - succeeded"
_PLAYER_AT = FactPattern("at", (0, 1))
_PLACED = ("at", "in", "on")
_DISPLAY_COMMANDS = frozenset({"option"})
"""Verbs that change how Inform displays the game."""


class TextWorldEngine:
    """An engine that plays TextWorld games one after another.

    Args:
        answers: One of :data:`ENGINES`.
    """

    def __init__(self, answers: str = "auto") -> None:
        if answers not in ENGINES:
            raise UnknownNameError("engine", str(answers), ENGINES)
        self._answers = answers
        self._game: GameData | None = None
        self._story = ""
        self._machines: dict[_Story, Interpreter] = {}
        self._machine: Interpreter | None = None
        self._saved: Any = None
        self._missed: _Commands = None
        self._state = State(Index(()))
        self._holdings = Holdings({})
        self._over = True
        self._inventory: str | None = None
        self._is_asking = False
        """True if the interpreter's last answer was a question."""
        self._has_diverged = False
        """True if the interpreter's world has diverged from the facts."""

    @property
    def is_native(self) -> bool:
        """True if the rules answer all commands that they can."""
        return self._answers == "auto"

    @property
    def game(self) -> GameData:
        """Return the description of the current game."""
        if self._game is None:
            raise BackendError("no game is running: call reset() first")
        return self._game

    def start(self, story: str | os.PathLike[str]) -> Answer:
        """Start the game of a TextWorld .json, or of a .z8 with its .json beside it.

        Raises:
            CorruptGameError: One of the files is missing or damaged.
        """
        game = load_game(story)
        native = game.native
        self._game, self._story = game, os.fspath(story)
        self._machine = self._saved = self._missed = None
        self._state = State(game.facts)
        self._holdings = Holdings(native.contents if native else {})
        self._over = self._is_asking = self._has_diverged = False
        self._board = ScoreBoard(native)
        if native:
            self._rules = TurnRules(native, self._state, self._holdings)
        if native is None or self._is_held:
            opening = self._opening()
            self._inventory = opening.inventory
            self._score = opening.answer.score
            return opening.answer
        self._inventory, self._score = None, 0.0
        try:
            room = self._rules.describe_room(self._room)
        except UnknownTextError:
            return self._opening().answer
        return Answer(tidy_lines(f"{native.objective}\n\n{room}"))

    @property
    def _is_held(self) -> bool:
        """True if only the interpreter can answer the next command."""
        inform_only = self._answers == "inform" or self.game.native is None
        return inform_only or self._is_asking or self._has_diverged

    @property
    def _room(self) -> str:
        return next((f[2] for f in self._state.matching(_PLAYER_AT, ["P", None])), "")

    def _opening(self) -> _Opening:
        """Start the story in the interpreter, from a cached state if there is one."""
        path = compiled(self._story)
        key = os.fspath(path), _modified(path)
        machine = self._insert(key)
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
        self._machine = machine
        return opening

    def _insert(self, story: _Story) -> Interpreter:
        machine = self._machines.pop(story, None) or Interpreter(story[0])
        self._machines[story] = machine
        if len(self._machines) > _MAX_MACHINES:
            self._machines.pop(next(iter(self._machines))).close()
        return machine

    def _synchronized_machine(self) -> Interpreter:
        """Return the interpreter in the present state, after replaying missed commands."""
        if self._story == "":
            raise BackendError("no game is running: call reset() first")
        if self._machine is None:
            self._opening()
            assert self._machine is not None
            if self._saved is not None:
                self._machine.load(self._saved)
        missed, node = [], self._missed
        while node is not None:
            missed.append(node[0])
            node = node[1]
        for command in reversed(missed):
            self._machine.send(command)
        if missed:
            self._missed = self._saved = None
        return self._machine

    def send(self, command: str) -> Answer:
        """Play one command."""
        if self._story == "":
            raise BackendError("no game is running: call reset() first")
        if not self._is_held:
            turn = self._rules.play(command, self._room)
            if turn is not None:
                self._missed = command, self._missed
                return self._count(turn)
        return self._interpret(command)

    def _count(self, turn: EngineTurn) -> Answer:
        added, removed = self._follow([turn.event] if turn.event else [], "")
        if not turn.counts:
            return Answer(turn.text, self._score, accepted=False)
        outcome = self._board.count_turn(self._state, added)
        self._score, self._over = float(self._board.standing.score), outcome.won or outcome.lost
        return Answer(
            turn.text + self._board.text(outcome), self._score, outcome.won, outcome.lost,
            bool(turn.event), added, removed,
        )  # fmt: skip

    def _interpret(self, command: str) -> Answer:
        raw = self._synchronized_machine().send(command)
        self._saved = None
        text, tags, room, score = clean_text(raw)
        events = [tag.removesuffix(_SUCCEEDED) for tag in tags if tag.endswith(_SUCCEEDED)]
        added, removed = self._follow(events, room)
        won, lost, final = endings(raw)
        self._over = won or lost
        if self._has_diverged:
            self._inventory = None
        score = score if final is None else final
        self._score = self._score if score is None else score
        if self.game.native is not None:
            turns = turns_of(raw)
            if turns != self._board.standing.turns or self._over:
                self._board.count_turn(self._state, added)
            self._is_asking = text.endswith("?")
            self._has_diverged |= not _DISPLAY_COMMANDS.isdisjoint(command.lower().split())
        return Answer(text, self._score, won, lost, bool(events), added, removed)

    def _follow(self, events: Iterable[str], room: str) -> tuple[frozenset[Fact], frozenset[Fact]]:
        added: set[Fact] = set()
        removed: set[Fact] = set()

        def apply(move: RuleMove | None) -> None:
            if move is not None:
                self._state.change(move.added, move.removed)
                self._carry(move)
                added.update(move.added)
                removed.update(move.removed)
                added.difference_update(move.removed)
                removed.difference_update(move.added)

        world = self.game.world
        for event in events:
            if "(" not in event:  # "(1) taking x" is part of the action reported next
                move = world.detect(self._state, event)
                self._has_diverged |= move is None and bool(world.logic.candidates(event.lower()))
                apply(move)
        if room and room != world.title(self._state):
            apply(world.detect_walk(self._state, room))
        if any(self._is_carried(fact) for fact in added | removed):
            self._inventory = None
        return frozenset(added), frozenset(removed)

    def _carry(self, move: RuleMove) -> None:
        """Apply the moves of a rule to the object tree."""
        went = {f[1]: f[2] for f in move.added if f[0] in _PLACED and f[1] != "P"}
        for name, thing, *_ in move.removed:
            if name in _PLACED and thing != "P" and thing not in went:
                self._holdings.move(thing, NOWHERE)
        for thing, place in went.items():
            self._holdings.move(thing, place)

    def _is_carried(self, changed: Fact) -> bool:
        return changed[-1] == "I" or ("in", changed[1], "I") in self._state

    def admissible_commands(self) -> tuple[str, ...]:
        """Return all commands that the logic allows now, sorted."""
        return () if self._over else self.game.world.admissible_commands(self._state)

    def inventory(self) -> str:
        """Return the game's answer to ``inventory``; cached until the carried things change."""
        if self._over:
            return ""
        if self._inventory is None:
            native = self.game.native
            if native is not None and not self._has_diverged:
                things = self._holdings.within("I")
                self._inventory = native.wording.inventory(things, self._state)
            else:
                machine = self._synchronized_machine()
                state = machine.save()
                self._inventory = clean_text(machine.send("inventory"))[0]
                machine.load(state)
        return self._inventory

    @property
    def facts(self) -> frozenset[Fact]:
        """Return all true facts."""
        return self._state.facts

    def save(self) -> EngineState:
        """Return a copy of the present state."""
        if self._machine is not None and self._saved is None:
            self._saved = self._machine.save()
        return EngineState(
            self._story, self._saved, self._missed, self._state.changes, self._holdings.changes,
            self._board.standing, self._score, self._inventory, self._over, self._is_asking,
            self._has_diverged,
        )  # fmt: skip

    def load(self, state: EngineState) -> None:
        """Restore a state, of this or another game."""
        if self._story != state.story:
            self.start(state.story)
        self._machine, self._saved, self._missed = None, state.machine, state.missed
        self._state.become(state.facts)
        self._holdings.become(state.holdings)
        self._board.standing = state.standing
        self._score, self._inventory, self._over = state.score, state.inventory, state.over
        self._is_asking, self._has_diverged = state.is_asking, state.has_diverged

    def close(self) -> None:
        """Free the machines; a later :meth:`start` creates new ones."""
        for machine in self._machines.values():
            machine.close()
        self._machines.clear()
        self._machine, self._story = None, ""
