"""Run a Z-machine in this process, and parse its answers.

Answers of TextWorld games have a status line (room, score, turns) and, if requested, a trace of
actions.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
from functools import cache
from typing import Any

import numpy as np

from gym_memory.core.errors import BackendError, CorruptGameError
from gym_memory.core.files import read_bytes
from gym_memory.core.optional import require
from gym_memory.games.textworld.native_text import tidy_lines

__all__ = ["Interpreter", "check_story", "clean_text", "endings", "trace_on", "turns_of"]

_HEADER_BYTES = 64
_LENGTH_UNIT = {3: 2, 4: 4, 5: 4, 6: 8, 7: 8, 8: 8}
"""Unit of the length field, in bytes, by version of the story file."""
_ADDRESS_LIMIT = _LENGTH_UNIT | {6: 12, 7: 12}
"""Limit of addresses of routines and strings by version, in units of 65,536 bytes."""
_PADDING = b"\0\0\x80\0"
"""Padding after the story, which reads as ended strings and as invalid routines."""
_READ_CHAR = 0xF6
_MAX_PADDED_BYTES = 1 << 20
"""Twice the size limit of a story file, in bytes."""
_DEFAULT_SEED = 1


def check_story(path: str | os.PathLike[str]) -> bytes:
    """Read a story file and check its header, length and checksum (Z-machine standard 1.1, 11).

    Frotz trusts its input, and a damaged story makes it exit the process.

    Raises:
        CorruptGameError: The file is missing, truncated, altered, or no story file.
    """
    name = os.fspath(path)
    try:
        story = read_bytes(path, _MAX_PADDED_BYTES)
    except OSError as error:
        raise CorruptGameError(f"cannot read the game {name!r}: {error.strerror}") from error

    def corrupt(why: str) -> CorruptGameError:
        return CorruptGameError(f"{name!r} is not an intact Z-machine game: {why}")

    if story.startswith(b"Glul"):
        raise corrupt("it is a Glulx game (.ulx); expected .z3 to .z8")
    if len(story) < _HEADER_BYTES:
        raise corrupt(f"expected a header of {_HEADER_BYTES} bytes, got {len(story)} bytes")
    factor = _LENGTH_UNIT.get(story[0])
    if factor is None:
        raise corrupt(f"expected version 3 to 8 in the first byte, got {story[0]}")
    length = int.from_bytes(story[0x1A:0x1C], "big") * factor
    static = int.from_bytes(story[0x0E:0x10], "big")
    tables = [int.from_bytes(story[at : at + 2], "big") for at in (0x08, 0x0A, 0x0C)]
    if length > len(story):
        raise corrupt(f"expected {length} bytes, got {len(story)}; the file is cut short")
    if not _HEADER_BYTES <= static <= len(story) or not all(
        _HEADER_BYTES <= t < len(story) for t in tables
    ):
        raise corrupt("its header points outside of the file")
    if length:  # the oldest stories have neither length nor checksum
        expected = int.from_bytes(story[0x1C:0x1E], "big")
        content = np.frombuffer(story[_HEADER_BYTES:length], dtype=np.uint8)
        actual = int(content.sum(dtype=np.int64)) % 0x10000
        if actual != expected:
            raise corrupt(f"expected checksum {expected:04x}, got {actual:04x}")
    return story


def _insert(jericho: Any, story: bytes, path: str) -> Any:
    """Open a story by its path if jericho knows the game, else from its bytes.

    Frotz treats any file named ``tw-*`` as a supported game, and then omits the status line.
    """
    if hashlib.md5(story, usedforsecurity=False).hexdigest() in jericho.defines.BINDINGS_DICT:
        return jericho.FrotzEnv(path)
    return _frotz_from_memory(jericho)(story, jericho.__file__)


@cache  # a class for each story would be garbage until the next full collection
def _frotz_from_memory(jericho: Any) -> Any:
    """Return a ``jericho.FrotzEnv`` class that runs a story from memory."""

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
    """Extend the memory of a story to ``reach`` bytes, its whole address range.

    A broken story may call or print from beyond its end. Frotz reports the error but still reads
    there, which may crash the process.
    """
    memory, counter = (ctypes.c_void_p.in_dll(library, name) for name in ("zmp", "pcp"))
    size = ctypes.c_long.in_dll(library, "story_size").value
    if not memory.value or not counter.value:
        raise BackendError("Frotz has no memory for the story")
    at = counter.value - memory.value
    beyond = _PADDING * ((reach - size) // len(_PADDING) + 16)
    realloc = ctypes.CDLL(None).realloc
    realloc.argtypes, realloc.restype = [ctypes.c_void_p, ctypes.c_size_t], ctypes.c_void_p
    moved = realloc(memory, size + len(beyond))
    if not moved:
        raise MemoryError
    ctypes.memmove(moved + size, beyond, len(beyond))
    memory.value, counter.value = moved, moved + at


class Interpreter:
    """A Z-machine (Frotz, through jericho, in this process) with one story."""

    def __init__(self, path: str | os.PathLike[str]):
        jericho = require("jericho", "textworld", "Z-machine games")
        story = check_story(path)
        self.frotz = _insert(jericho, story, os.path.abspath(path))
        """``jericho.FrotzEnv``."""
        # by default, Frotz takes its seed from the clock
        self.frotz.seed((self.frotz.bindings or {}).get("seed", _DEFAULT_SEED))
        self._reach = _ADDRESS_LIMIT[story[0]] << 16
        _extend(self.frotz.frotz_lib, self._reach)

    @property
    def supported(self) -> bool:
        """True if jericho knows the game, so score, moves and endings can be read."""
        return bool(self.frotz.is_fully_supported)

    @property
    def halted(self) -> bool:
        """True if the story crashed, so it takes no further command."""
        return bool(self.frotz._emulator_halted())

    def start(self) -> str:
        """Run the story from its beginning to its first prompt; return the text."""
        text = str(self.frotz.reset()[0])
        _extend(self.frotz.frotz_lib, self._reach)
        return text

    @property
    def awaits_key(self) -> bool:
        """True if the story waits for a key rather than a line."""
        return bool(self.frotz.frotz_lib.get_opcode() == _READ_CHAR)

    def send(self, command: str) -> str:
        """Type one line (ASCII, no line break, at most 190 characters); return the answer.

        If the story waits for a key, a longer line becomes Enter, since Frotz would repeat its last
        answer forever.
        """
        if len(command) > 1 and self.awaits_key:
            command = ""
        # FrotzEnv.step also reads score and moves, which are meaningless here
        answer = self.frotz.frotz_lib.step(command.encode("ascii") + b"\n")
        return str(answer.decode("cp1252"))

    def save(self) -> Any:
        """Return a copy of the machine's state."""
        return self.frotz.get_state()

    def load(self, state: Any) -> None:
        """Restore a state of the same story."""
        if self.halted:  # not part of a state
            self.start()
        self.frotz.set_state(state)

    def close(self) -> None:
        """Free the story's memory."""
        self.frotz.close()


_WON, _LOST = "*** The End ***", "*** You lost! ***"
_FINAL_SCORE = re.compile(r"You scored (-?\d+) out of")
_TAG = re.compile(r"\[([^\]]*)\]\n?")
_SUCCEEDED = " - succeeded"
_END_PROMPT = re.compile(r"Would you like to RESTART, .*\Z", re.DOTALL)


def clean_text(raw: str) -> tuple[str, list[str], str, float | None]:
    """Split the interpreter's answer into text, trace tags, room and score.

    Tags are without brackets. Room and score come from the status line; without one, the score is
    None.
    """
    room, score = "", None
    body, mark, status = raw.rpartition(" -= ")
    title, end, numbers = status.rpartition(" =-")
    points = numbers.partition("/")[0].strip()
    if mark and end and points.lstrip("-").isdigit():
        raw, room, score = body.rstrip(), title, float(points)
        raw = raw.removesuffix(">")
    last = raw.rfind("]") + 2  # each open bracket after it would be followed to the end
    parts = _TAG.split(raw[:last])
    parts[-1] += raw[last:]
    text = _END_PROMPT.sub("", "".join(parts[::2]))
    return tidy_lines(text), parts[1::2], room, score


def turns_of(raw: str) -> int | None:
    """Return the number of turns in the status line; None without one."""
    _, mark, turns = raw.rpartition("/")
    return int(turns) if mark and turns.strip().isdigit() else None


def endings(raw: str) -> tuple[bool, bool, float | None]:
    """Return whether the answer wins, whether it loses, and the final score.

    The status line does not include the last point yet.
    """
    won, lost = _WON in raw, _LOST in raw
    final = _FINAL_SCORE.search(raw) if won or lost else None
    return won, lost, float(final[1]) if final else None


def trace_on(machine: Interpreter) -> None:
    """Make a TextWorld game report every action in brackets."""
    machine.send("tw-trace-actions")
