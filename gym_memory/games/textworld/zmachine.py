"""The Z-machine: check a story file, run it, save and load its state.

The interpreter is Frotz in the process (by jericho). It trusts its input: a damaged story makes
it end the process, so a file is checked here before it is handed over.

Frotz opens the file itself, too, to recognise games whose score it can read from memory. Besides
those it takes any file named ``tw-*`` for one of them, the name that TextWorld gives, and then
leaves out the status line, where such a game tells score and room. So only a game that jericho
knows by its content is handed over by name; any other runs from its bytes, whatever it is called
and wherever it lies.
"""

from __future__ import annotations

import hashlib
import os
from typing import Any

import numpy as np

from gym_memory.errors import CorruptGameError
from gym_memory.files import read_bytes
from gym_memory.optional import require

__all__ = ["Interpreter", "check_story"]

_HEADER = 64
_FACTOR = {3: 2, 4: 4, 5: 4, 6: 8, 7: 8, 8: 8}
"""Version of a story file to the unit of its length field, in bytes."""
_LARGEST = 1 << 20
"""Twice the bytes that a story file can have."""
_DEFAULT_SEED = 1


def check_story(path: str | os.PathLike[str]) -> bytes:
    """Read a story file and check its header, length and checksum (Z-machine standard 1.1, 11).

    Returns:
        The content.

    Raises:
        CorruptGameError: The file is missing, cut short, altered, or no story file at all.
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
    """A ``jericho.FrotzEnv`` with a story in it, by its path only if jericho knows the game."""
    if hashlib.md5(story, usedforsecurity=False).hexdigest() in jericho.defines.BINDINGS_DICT:
        return jericho.FrotzEnv(path)

    class Nameless(jericho.FrotzEnv):
        """Runs a story from memory: Frotz is shown another file for it."""

        def load(self, story_file: str, seed: int | None = None) -> None:
            self._cache[story_file] = story, {}, None
            self.is_fully_supported = False
            super().load(story_file, seed)

    return Nameless(jericho.__file__)


class Interpreter:
    """A machine with a story in it; :meth:`start` runs it.

    Args:
        path: The story file.

    Raises:
        CorruptGameError: The file is no intact story.
        MissingDependencyError: jericho is not installed.
    """

    def __init__(self, path: str | os.PathLike[str]):
        jericho = require("jericho", "textworld", "Z-machine games")
        self._frotz = _insert(jericho, check_story(path), os.path.abspath(path))
        # Frotz seeds itself from the clock unless told otherwise.
        self._frotz.seed((self._frotz.bindings or {}).get("seed", _DEFAULT_SEED))

    @property
    def supported(self) -> bool:
        """Whether jericho knows the game: then score, moves and endings can be read."""
        return bool(self._frotz.is_fully_supported)

    @property
    def halted(self) -> bool:
        """Whether the story broke; it takes no further command then."""
        return bool(self._frotz._emulator_halted())

    @property
    def frotz(self) -> Any:
        """The ``jericho.FrotzEnv``."""
        return self._frotz

    def start(self) -> str:
        """Run the story from its beginning to its first prompt; returns what it printed."""
        return str(self._frotz.reset()[0])

    def send(self, command: str) -> str:
        """Type one line (ASCII, no line break, at most 190 characters); returns the answer."""
        # What FrotzEnv.step does beyond this, reading score and moves, means nothing here.
        answer = self._frotz.frotz_lib.step(command.encode("ascii") + b"\n")
        return str(answer.decode("cp1252"))

    def save(self) -> Any:
        """A copy of the machine's state."""
        return self._frotz.get_state()

    def load(self, state: Any) -> None:
        """Return to a state of the same story."""
        if self.halted:  # a state does not hold this
            self._frotz.reset()
        self._frotz.set_state(state)

    def close(self) -> None:
        """Free the story's memory; calling it twice is harmless."""
        self._frotz.close()
