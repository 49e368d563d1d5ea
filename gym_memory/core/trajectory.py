"""Recorded trajectories: a gzip file of JSON lines, one per step."""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from gym_memory.core.errors import GymMemoryError, InvalidArgumentError, ResultsError
from gym_memory.core.files import hold, open_file, open_to_append, parse_json
from gym_memory.core.records import Outcome, Step, Task, check_bounded
from gym_memory.draw.escape import cut
from gym_memory.draw.page import table

__all__ = ["Row", "RowWriter", "Trajectory", "last_way", "outcome_of", "read_rows"]
__all__ += ["read_trajectory", "reading_rows", "step_of", "task_of"]

Row = Mapping[str, Any]
"""One step as plain values."""

_GZIP = 31  # the value of zlib's wbits that means a gzip member
_BLOCK = 1 << 16
_LONGEST_LINE = 1 << 26
_SHOWN = 200
"""Steps that a notebook shows."""

_KINDS: dict[str, Any] = {
    **dict.fromkeys(("episode", "t"), int),
    **dict.fromkeys(("task_id", "task", "dialect", "action", "text", "inventory"), str),
    **dict.fromkeys(("lost", "terminated", "truncated"), bool),
    "success": bool | None,
}
_NUMBERS = ("reward", "score", "max_score", "normalized_score")


class Trajectory(NamedTuple):
    """A recorded episode, with the reset observation (``t`` 0) first.

    ``episode`` is its number in the file, ``outcome`` that of its last step; it is ``finished`` if
    the environment ended it.
    """

    episode: int
    task: Task
    steps: tuple[Step, ...]
    outcome: Outcome
    finished: bool

    def _repr_html_(self) -> str:
        """Show the steps as a table in a notebook."""
        how = "won" if self.outcome.success else "lost" if self.outcome.lost else "not won"
        return table(
            ("step", "action", "reward", "seen"),
            [(s.t, s.action, f"{s.reward:g}", cut(s.text)) for s in self.steps[:_SHOWN]],
            caption=f"{self.task.id}, episode {self.episode}: {how}, score "
            f"{self.outcome.score:g} of {self.outcome.max_score:g} in {self.outcome.steps} steps"
            + (f"; the first {_SHOWN} are shown" if len(self.steps) > _SHOWN else ""),
            numbers=("step", "reward"),
        )


def read_rows(path: str | os.PathLike[str]) -> Iterator[Row]:
    """Yield the rows of a file up to a torn end."""
    try:
        with open_file(path) as file:
            rest = b""
            for _, piece, _ in _members(file):
                *lines, rest = (rest + piece).split(b"\n")
                if len(rest) > _LONGEST_LINE:
                    raise ValueError(f"a line is longer than {_LONGEST_LINE} bytes")
                for line in lines:
                    yield parse_json(line)
    except (OSError, ValueError, zlib.error) as error:
        raise ResultsError(
            f"expected a recorded trajectory at {os.fspath(path)!r}: {error}"
        ) from error


def read_trajectory(path: str | os.PathLike[str]) -> Iterator[Trajectory]:
    """Return the episodes of a file, in the order of recording."""
    with reading_rows(path):
        for episode, rows in groupby(read_rows(path), key=lambda row: row["episode"]):
            yield _trajectory(episode, rows)


@contextlib.contextmanager
def reading_rows(path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise ResultsError inside the block if rows of a file lack the fields of a recording."""
    try:
        yield
    except GymMemoryError as error:
        if isinstance(error, InvalidArgumentError):
            raise ResultsError(f"expected a trajectory at {os.fspath(path)!r}: {error}") from error
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ResultsError(
            f"expected a recorded trajectory at {os.fspath(path)!r}, got rows of another kind: "
            f"{type(error).__name__}: {error}"
        ) from error


def _trajectory(episode: int, rows: Iterator[Row]) -> Trajectory:
    kept = last_way(map(_checked, rows))
    steps, last = tuple(map(step_of, kept)), kept[-1]
    return Trajectory(episode, task_of(last), steps, outcome_of(last), finished=steps[-1].done)


def _checked(row: Row) -> Row:
    for name, kind in _KINDS.items():
        if name in row and not isinstance(row[name], kind):
            raise TypeError(f"expected {name} as {kind}, got {row[name]!r:.80}")
    _check_numbers(row)
    if not all(isinstance(action, str) for action in row.get("valid_actions", ())):
        raise TypeError("expected valid_actions as texts")
    return row


def last_way(rows: Iterable[Row]) -> list[Row]:
    """Return the rows of an episode without undone steps."""
    kept: list[Row] = []
    for row in rows:
        while kept and kept[-1]["t"] >= row["t"]:
            kept.pop()
        kept.append(row)
    return kept


def task_of(row: Row) -> Task:
    """Return the task of a row's episode."""
    return Task(row["task_id"], row["task"], row["dialect"])


def step_of(row: Row) -> Step:
    """Return a row as a step."""
    return Step(
        t=row["t"],
        text=row["text"],
        action=row["action"],
        reward=row["reward"],
        inventory=row["inventory"],
        valid_actions=tuple(row.get("valid_actions", ())),
        done=row["terminated"] or row["truncated"],
    )


def outcome_of(row: Row) -> Outcome:
    """Return the outcome of an episode as of a row."""
    return Outcome.from_info({**row, "moves": row["t"]})


def _check_numbers(row: Row) -> None:
    for name in _NUMBERS:
        if row.get(name) is not None:
            check_bounded(name, row[name])


class RowWriter:
    """An append-only file of rows with one writer at a time.

    ``next_episode`` is the number of the next episode; 0 for a new file.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self._path = os.fspath(path)
        try:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            # Unbuffered, so that a row is one write.
            self._file: BinaryIO = open_to_append(path)
        except OSError as error:
            raise ResultsError(f"cannot record to {self._path!r}: {error}") from error
        self._deflate: Any = None
        try:
            busy = "is being recorded to already: give each environment its own file"
            hold(self._file, f"{self._path!r} {busy}")
            last = self._repair()
            self.next_episode: int = 0 if last is None else last["episode"] + 1
        except (ValueError, KeyError, TypeError, zlib.error) as error:
            self._file.close()
            raise ResultsError(
                f"expected a recorded trajectory to append to at {self._path!r}: {error}"
            ) from error
        except ResultsError:
            self._file.close()
            raise

    def write(self, row: Row) -> None:
        """Append a row of plain values and hand it to the operating system."""
        _check_numbers(row)
        try:
            line = json.dumps(row, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        except (TypeError, ValueError) as error:
            raise InvalidArgumentError(f"expected a step as plain values: {error}") from error
        if self._deflate is None:
            self._deflate = _deflater()
        self._append(self._deflate.compress(line) + self._deflate.flush(zlib.Z_SYNC_FLUSH))

    def end_episode(self) -> None:
        """Close the gzip member of the rows so far."""
        if self._deflate is not None:
            self._append(self._deflate.flush(zlib.Z_FINISH))
            self._deflate = None

    def close(self) -> None:
        """Close the file; calling it twice is harmless."""
        if not self._file.closed:
            self.end_episode()
            self._file.close()

    def _append(self, data: bytes) -> None:
        try:
            while data:
                data = data[self._file.write(data) or 0 :]
        except (OSError, ValueError) as error:  # ValueError: it failed before and is closed
            # Rows after a torn row would be unreadable.
            self._deflate = None
            self._file.close()
            raise ResultsError(f"cannot record to {self._path!r}: {error}") from error

    def _repair(self) -> Row | None:
        """Close an open member, drop a torn line, and return the last whole row."""
        self._file.seek(0)
        start, whole_member, text, line = 0, True, bytearray(), b""
        for offset, piece, ended in _members(self._file):
            if offset != start:
                line = _last_line(text) or line
                start, text = offset, bytearray()
            text += piece
            whole_member = ended
        line = _last_line(text) or line
        if not whole_member:
            self._file.truncate(start)
            whole = bytes(text[: text.rfind(b"\n") + 1])
            if whole:
                deflate = _deflater()
                self._append(deflate.compress(whole) + deflate.flush(zlib.Z_FINISH))
        row: Row | None = parse_json(line) if line else None
        return row


def _members(file: BinaryIO) -> Iterator[tuple[int, bytes, bool]]:
    """Yield pieces of the inflated file: start of the member, bytes, and whether it is whole."""
    start, inflate, data = 0, None, b""
    while data := data or file.read(_BLOCK):
        if inflate is None:
            start, inflate = file.tell() - len(data), zlib.decompressobj(_GZIP)
        piece = inflate.decompress(data)
        yield start, piece, inflate.eof
        data = inflate.unused_data
        if inflate.eof:
            inflate = None


def _deflater() -> Any:
    return zlib.compressobj(level=6, wbits=_GZIP)


def _last_line(text: bytearray) -> bytes:
    end = text.rfind(b"\n")
    return bytes(text[text.rfind(b"\n", 0, max(end, 0)) + 1 : end]) if end > 0 else b""
