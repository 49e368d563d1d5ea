"""One TextWorld game in play: the Z-machine, the cleaned text, the tracked logic.

The interpreter's answer carries a status line (room, score, turns) and a trace of actions, which
keeps the logical state up to date. So a step sends one command and no hidden ones.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import math
import os
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from gym_memory.core.errors import BackendError, CorruptGameError
from gym_memory.core.files import parse_json, read_bytes
from gym_memory.core.optional import require
from gym_memory.games.textworld.facts import inventory_text, order_of
from gym_memory.games.textworld.logic import Fact, Index, RuleMove, State, World, load_logic

__all__ = [
    "Answer",
    "GameData",
    "Interpreter",
    "TextWorldEngine",
    "check_story",
    "clean_text",
    "endings",
]
__all__ += ["load_game", "trace_on"]

_HEADER = 64
_FACTOR = {3: 2, 4: 4, 5: 4, 6: 8, 7: 8, 8: 8}
"""Version of a story file to the unit of its length field, in bytes."""
_REACH = _FACTOR | {6: 12, 7: 12}
"""Version to what addresses of routines and strings can name, in units of 65,536 bytes."""
_BEYOND = b"\0\0\x80\0"
"""Filler after the story: strings that end, routines whose first instruction is invalid."""
_LARGEST = 1 << 20
"""Twice the bytes that a story file can have."""
_DEFAULT_SEED = 1


def check_story(path: str | os.PathLike[str]) -> bytes:
    """Read a story file and check its header, length and checksum (Z-machine standard 1.1, 11).

    Frotz trusts its input: a damaged story makes it end the process.

    Raises:
        CorruptGameError: The file is missing, cut short, altered, or no story file.
    """
    name = os.fspath(path)
    try:
        story = read_bytes(path, _LARGEST)
    except OSError as error:
        raise CorruptGameError(f"cannot read the game {name!r}: {error.strerror}") from error

    def corrupt(why: str) -> CorruptGameError:
        return CorruptGameError(f"{name!r} is not an intact Z-machine game: {why}")

    if story.startswith(b"Glul"):
        raise corrupt("it is a Glulx game (.ulx); expected .z3 to .z8")
    if len(story) < _HEADER:
        raise corrupt(f"expected a header of {_HEADER} bytes, got {len(story)} bytes")
    factor = _FACTOR.get(story[0])
    if factor is None:
        raise corrupt(f"expected version 3 to 8 in the first byte, got {story[0]}")
    length = int.from_bytes(story[0x1A:0x1C], "big") * factor
    static = int.from_bytes(story[0x0E:0x10], "big")
    tables = [int.from_bytes(story[at : at + 2], "big") for at in (0x08, 0x0A, 0x0C)]
    if length > len(story):
        raise corrupt(f"expected {length} bytes, got {len(story)}; the file is cut short")
    if not _HEADER <= static <= len(story) or not all(_HEADER <= t < len(story) for t in tables):
        raise corrupt("its header points outside of the file")
    if length:  # the oldest stories state neither length nor checksum
        expected = int.from_bytes(story[0x1C:0x1E], "big")
        content = np.frombuffer(story[_HEADER:length], dtype=np.uint8)
        actual = int(content.sum(dtype=np.int64)) % 0x10000
        if actual != expected:
            raise corrupt(f"expected checksum {expected:04x}, got {actual:04x}")
    return story


def _insert(jericho: Any, story: bytes, path: str) -> Any:
    """Open a story by its path only if jericho knows the game, else from its bytes.

    Frotz takes any file named ``tw-*`` for a game whose score it can read, and then leaves out the
    status line.
    """
    if hashlib.md5(story, usedforsecurity=False).hexdigest() in jericho.defines.BINDINGS_DICT:
        return jericho.FrotzEnv(path)
    return _nameless(jericho)(story, jericho.__file__)


@cache  # a class for each story would be garbage until the next full collection
def _nameless(jericho: Any) -> Any:
    """Return a ``jericho.FrotzEnv`` that runs a story from memory: Frotz opens another file."""

    class Nameless(jericho.FrotzEnv):
        def __init__(self, story: bytes, story_file: str):
            self._story = story
            super().__init__(story_file)

        def load(self, story_file: str, seed: int | None = None) -> None:
            self._cache[story_file] = self._story, {}, None
            self.is_fully_supported = False
            super().load(story_file, seed)

    return Nameless


def _extend(library: ctypes.CDLL, reach: int) -> None:
    """Extend the memory of a story to ``reach`` bytes, all that its addresses can name.

    A story that breaks may call or print from beyond its end. Frotz notes the error and reads there
    all the same, and then the process may die.
    """
    memory, counter = (ctypes.c_void_p.in_dll(library, name) for name in ("zmp", "pcp"))
    size = ctypes.c_long.in_dll(library, "story_size").value
    if not memory.value or not counter.value:
        raise BackendError("Frotz has no memory for the story")
    at = counter.value - memory.value
    beyond = _BEYOND * ((reach - size) // len(_BEYOND) + 16)
    realloc = ctypes.CDLL(None).realloc
    realloc.argtypes, realloc.restype = [ctypes.c_void_p, ctypes.c_size_t], ctypes.c_void_p
    moved = realloc(memory, size + len(beyond))
    if not moved:
        raise MemoryError
    ctypes.memmove(moved + size, beyond, len(beyond))
    memory.value, counter.value = moved, moved + at


class Interpreter:
    """A Z-machine, Frotz by jericho in this process, with a story in it; :meth:`start` runs it."""

    def __init__(self, path: str | os.PathLike[str]):
        jericho = require("jericho", "textworld", "Z-machine games")
        story = check_story(path)
        self.frotz = _insert(jericho, story, os.path.abspath(path))
        """The ``jericho.FrotzEnv``."""
        # Frotz seeds itself from the clock by default.
        self.frotz.seed((self.frotz.bindings or {}).get("seed", _DEFAULT_SEED))
        self._reach = _REACH[story[0]] << 16
        _extend(self.frotz.frotz_lib, self._reach)

    @property
    def supported(self) -> bool:
        """True if jericho knows the game: then score, moves and endings can be read."""
        return bool(self.frotz.is_fully_supported)

    @property
    def halted(self) -> bool:
        """True if the story broke; then it takes no further command."""
        return bool(self.frotz._emulator_halted())

    def start(self) -> str:
        """Run the story from its beginning to its first prompt; return the text."""
        text = str(self.frotz.reset()[0])
        _extend(self.frotz.frotz_lib, self._reach)
        return text

    def send(self, command: str) -> str:
        """Type one line (ASCII, no line break, at most 190 characters); return the answer."""
        # What FrotzEnv.step does beyond this, reading score and moves, means nothing here.
        answer = self.frotz.frotz_lib.step(command.encode("ascii") + b"\n")
        return str(answer.decode("cp1252"))

    def save(self) -> Any:
        """Return a copy of the machine's state."""
        return self.frotz.get_state()

    def load(self, state: Any) -> None:
        """Return to a state of the same story."""
        if self.halted:  # a state does not hold this
            self.start()
        self.frotz.set_state(state)

    def close(self) -> None:
        """Free the story's memory."""
        self.frotz.close()


_WON, _LOST = "*** The End ***", "*** You lost! ***"
_FINAL_SCORE = re.compile(r"You scored (-?\d+) out of")
_TAG = re.compile(r"\[([^\]]*)\]\n?")
_SUCCEEDED = " - succeeded"
_WIDE = " " * 8
LARGEST_DESCRIPTION = 1 << 26
"""Bytes of the .json beside a game, at most; those of the largest games have 2 MB."""
_END_PROMPT = re.compile(r"Would you like to RESTART, .*\Z", re.DOTALL)


class GameData(NamedTuple):
    """The content of the .json beside a .z8.

    Attributes:
        facts: Facts at the start.
        max_score: Sum of the rewards; 0 without quests or without an upper limit.
        metadata: The generator's notes (``walkthrough``, ``max_score``, ...).
        writings: Name of a thing, in lower case, to its description.
        articles: Thing to its own indefinite article.
    """

    world: World
    facts: Index
    objective: str
    max_score: float
    metadata: Mapping[str, Any]
    writings: Mapping[str, str] = MappingProxyType({})
    articles: Mapping[str, str] = MappingProxyType({})


class Answer(NamedTuple):
    """The effect of a command.

    Attributes:
        text: Feedback without trace, banner and status line.
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
    story: str
    machine: Any
    changes: tuple[frozenset[Fact], frozenset[Fact]]
    score: float
    over: bool
    inventory: str | None
    carried: tuple[str, ...] | None


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
        articles={x: info["indefinite"] for x, info in infos.items() if info.get("indefinite")},
    )


def _modified(story: str | os.PathLike[str]) -> int:
    try:
        return os.stat(story).st_mtime_ns
    except OSError as error:
        raise CorruptGameError(
            f"cannot read the game {os.fspath(story)!r}: {error.strerror}"
        ) from error


def clean_text(raw: str) -> tuple[str, list[str], str, float | None]:
    """Split the interpreter's answer into text, trace tags, room and score.

    The tags have no brackets. Room and score are those of the status line; the score is None
    without one.
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
    """Return whether the answer wins or loses the game, and the final score.

    The status line is drawn before the last point is counted.
    """
    won, lost = _WON in raw, _LOST in raw
    final = _FINAL_SCORE.search(raw) if won or lost else None
    return won, lost, float(final[1]) if final else None


def trace_on(machine: Interpreter) -> None:
    """Have a TextWorld game report every action in brackets from now on."""
    machine.send("tw-trace-actions")


class _Opening(NamedTuple):
    machine: Any
    answer: Answer
    inventory: str


_Story = tuple[str, int]
"""Path and time of last change."""
_openings: dict[_Story, _Opening] = {}
_MAX_OPENINGS = 256
_MAX_MACHINES = 8


class TextWorldEngine:
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
        """Description of the game in play."""
        if self._game is None:
            raise BackendError("no game is running: call reset() first")
        return self._game

    def start(self, story: str | os.PathLike[str]) -> Answer:
        """Begin the game of a .z8 with its .json beside it.

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
        self._carried = self._order(opening.inventory)
        return opening.answer

    def _insert(self, story: _Story) -> Interpreter:
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
            self._carry(added, removed)
        won, lost, final = endings(raw)
        self._over = won or lost
        if self._over:  # nobody can ask any more
            self._inventory = None
        score = score if final is None else final
        self._score = self._score if score is None else score
        return Answer(text, self._score, won, lost, bool(events), added, removed)

    def _follow(self, events: list[str], room: str) -> tuple[frozenset[Fact], frozenset[Fact]]:
        added: set[Fact] = set()
        removed: set[Fact] = set()

        def apply(move: RuleMove | None) -> None:
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
        """Return all commands that the rules allow now, sorted."""
        return () if self._over else self.game.world.admissible_commands(self._state)

    def inventory(self) -> str:
        """Return the game's answer to ``inventory``; kept until what is carried changes."""
        if self._inventory is None and not self._over:
            if self._carried is not None:
                self._inventory = inventory_text(
                    self._carried, self._state, self.game.world, self.game.articles
                )
            if self._inventory is None:
                state = self._machine.save()
                self._inventory = clean_text(self._machine.send("inventory"))[0]
                self._machine.load(state)
                self._carried = self._order(self._inventory)
        return self._inventory or ""

    def _order(self, text: str) -> tuple[str, ...] | None:
        things = [fact[1] for fact in self._state.facts if fact[0] == "in" and fact[-1] == "I"]
        return order_of(text, things, self._state, self.game.world, self.game.articles)

    def _carry(self, added: frozenset[Fact], removed: frozenset[Fact]) -> None:
        """Keep what is carried in the game's order: the latest first."""
        came, gone = ([f[1] for f in facts if f[-1] == "I"] for facts in (added, removed))
        if len(came) > 1:  # their order is the game's
            self._carried = None
        elif self._carried is not None:
            self._carried = (*came, *(x for x in self._carried if x not in (*came, *gone)))

    def _is_carried(self, changed: Fact) -> bool:
        return changed[-1] == "I" or ("in", changed[1], "I") in self._state

    @property
    def facts(self) -> frozenset[Fact]:
        """All that is true now."""
        return self._state.facts

    def save(self) -> EngineState:
        """Return a copy of the present state."""
        story = self._story[0] if self._story else ""
        machine = self._machine.save()
        return EngineState(
            story, machine, self._state.changes, self._score, self._over, self._inventory,
            self._carried,
        )  # fmt: skip

    def load(self, state: EngineState) -> None:
        """Return to a state, of this or another game."""
        if self._story is None or self._story[0] != state.story:
            self.start(state.story)
        self._machine.load(state.machine)
        self._state.become(state.changes)
        self._score, self._over, self._inventory = state.score, state.over, state.inventory
        self._carried = state.carried

    def close(self) -> None:
        """Free the machines; a later :meth:`start` makes new ones."""
        for machine in self._machines.values():
            machine.close()
        self._machines.clear()
        self._story = None
