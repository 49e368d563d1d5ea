"""The Z-machine: check a story file, run it, save and load its state.

The interpreter is Frotz in the process (by jericho). It trusts its input: a damaged story makes
it end the process, so a file is checked here before it is handed over.

Frotz opens the file itself, too, to recognise games whose score it can read from memory. Besides
those it takes any file named ``tw-*`` for one of them, the name that TextWorld gives, and then
leaves out the status line, where such a game tells score and room. So only a game that jericho
knows by its content is handed over by name; any other runs from its bytes, whatever it is called
and wherever it lies.

A story that breaks may call or print what lies beyond its end. Frotz notes the error and reads
there all the same: what other memory holds, or none, and then the process dies. So from the first
prompt on the story's memory is as large as its addresses reach.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
from functools import cache
from typing import Any

import numpy as np

from gym_memory.core.errors import BackendError, CorruptGameError
from gym_memory.core.files import read_bytes
from gym_memory.core.optional import require

__all__ = ["Interpreter", "check_story"]

_HEADER = 64
_FACTOR = {3: 2, 4: 4, 5: 4, 6: 8, 7: 8, 8: 8}
"""Version of a story file to the unit of its length field, in bytes."""
_REACH = _FACTOR | {6: 12, 7: 12}
"""Version to what addresses of routines and strings can name, in units of 65,536 bytes."""
_BEYOND = b"\0\0\x80\0"
"""What stands beyond: strings that end, routines whose first instruction is none."""
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
    return _nameless(jericho)(story, jericho.__file__)


@cache  # a class for each story would be garbage until the next full collection
def _nameless(jericho: Any) -> Any:
    """A ``jericho.FrotzEnv`` that runs a story from memory: Frotz is shown another file for it."""

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
    """Make the memory of a story that was just begun that large, in bytes, and a little more."""
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
    """A machine with a story in it; :meth:`start` runs it.

    Args:
        path: The story file.

    Raises:
        CorruptGameError: The file is no intact story.
        MissingDependencyError: jericho is not installed.
    """

    def __init__(self, path: str | os.PathLike[str]):
        jericho = require("jericho", "textworld", "Z-machine games")
        story = check_story(path)
        self._frotz = _insert(jericho, story, os.path.abspath(path))
        # Frotz seeds itself from the clock unless told otherwise.
        self._frotz.seed((self._frotz.bindings or {}).get("seed", _DEFAULT_SEED))
        self._reach = _REACH[story[0]] << 16
        _extend(self._frotz.frotz_lib, self._reach)

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
        text = str(self._frotz.reset()[0])
        _extend(self._frotz.frotz_lib, self._reach)
        return text

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
            self.start()
        self._frotz.set_state(state)

    def close(self) -> None:
        """Free the story's memory; calling it twice is harmless."""
        self._frotz.close()
