"""Work in a copy of this process, which a story may break: the original is as it was."""

from __future__ import annotations

import gc
import json
import mmap
import os
import signal
import traceback
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from gym_memory.core.errors import BackendError

__all__ = ["COMMAND_CPU_S", "Attempt", "in_copy", "limit_cpu"]

Attempt = Callable[[str], bool]
"""Announces a command; False if it ended an earlier copy and must not be typed."""

COMMAND_CPU_S = 5.0
"""CPU seconds that a story may take for a command; the slowest known one takes 1."""
_MOST_BYTES = 256
_MOST_FATAL = 20
"""Commands that may end a copy; a story that breaks at more of them has no list."""


def limit_cpu(seconds: float) -> None:
    """End this process after a number of CPU seconds from now; 0 removes the limit."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def in_copy(work: Callable[[Attempt], Any], seconds: float) -> Any:
    """Return the JSON value of a function that runs in a copy of this process.

    A command that ends the copy is left out in the next one.

    Args:
        work: Function of an :data:`Attempt`, which it calls with each command before typing it.
        seconds: CPU seconds that a command may take.

    Raises:
        BackendError: The function raised an error, or copies ended at too many commands.
    """
    fatal: set[str] = set()
    with mmap.mmap(-1, _MOST_BYTES) as cell:
        while len(fatal) < _MOST_FATAL:

            def attempt(command: str) -> bool:
                if command in fatal:
                    return False
                note = command.encode()[: _MOST_BYTES - 1] + b"\0"
                cell[: len(note)] = note
                limit_cpu(seconds)
                return True

            cell[:] = b"\0" * _MOST_BYTES
            answer = _answer_of_copy(work, attempt)
            if answer is not None:
                kind, value = json.loads(answer)
                if kind == "error":
                    raise BackendError(value)
                return value
            fatal.add(bytes(cell).partition(b"\0")[0].decode())
    raise BackendError(f"the story breaks at {len(fatal)} commands, among them {min(fatal)!r}")


def _answer_of_copy(work: Callable[[Attempt], Any], attempt: Attempt) -> bytes | None:
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside a sleeping thread
        copy = os.fork()
    if not copy:
        _answer(work, attempt, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    return answer if os.waitpid(copy, 0)[1] == 0 else None


def _answer(work: Callable[[Attempt], Any], attempt: Attempt, writing: int) -> NoReturn:
    gc.disable()  # it would write to, and so copy, the pages of every object
    try:
        answer = ["ok", work(attempt)]
    except BaseException:
        answer = ["error", traceback.format_exc()]
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(json.dumps(answer).encode())
    os._exit(0)
