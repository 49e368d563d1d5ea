"""Faults of the machine, which say nothing about an agent, as opposed to faults of an episode."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator

from gym_memory.core.files import cache_dir

__all__ = ["machine_fault"]

_ERRORS = frozenset(
    getattr(errno, name)
    for name in (
        "ENOSPC", "EDQUOT", "EIO", "EROFS", "ENOMEM", "EMFILE", "ENFILE", "EAGAIN",
        "ENETDOWN", "ENETUNREACH", "ESTALE", "EREMOTEIO", "ENOBUFS",
    )
    if hasattr(errno, name)
)  # fmt: skip
"""Errors of disk, memory, processes and network that end when the machine has resources again."""
_SQLITE = (7, 10, 13)
"""SQLITE_NOMEM, SQLITE_IOERR and SQLITE_FULL."""
_POSTGRES = ("08", "53", "57P")
"""SQLSTATE classes: no connection, insufficient resources, server stopped."""
_THREAD = "can't start new thread"
_PROBE_BYTES = 1 << 16


def machine_fault(error: BaseException | None = None) -> str:
    """Return the resource that the machine lacks, by an error, its causes and a trial; "" for none.

    Engines hide errors of their files, so their folders are tried too.
    """
    for cause in _causes(error):
        if _is_machine_error(cause):
            return " ".join(f"{type(cause).__name__}: {cause}".split())
    return _trial()


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _is_machine_error(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in _ERRORS
    if isinstance(error, RuntimeError):
        return str(error).startswith(_THREAD)
    code, state = getattr(error, "sqlite_errorcode", None), getattr(error, "sqlstate", None)
    if isinstance(code, int):
        return code & 0xFF in _SQLITE
    return isinstance(state, str) and state.startswith(_POSTGRES)


def _trial() -> str:
    """Try to write into the folders for temporary and cached files."""
    folders = {os.environ.get("TMPDIR", ""), tempfile.gettempdir(), str(cache_dir())}
    for folder in sorted(filter(os.path.isdir, folders)):
        try:
            with tempfile.NamedTemporaryFile(dir=folder, prefix="gym-memory-") as file:
                file.write(os.urandom(_PROBE_BYTES))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            if error.errno in _ERRORS:
                return f"nothing can be written into {folder!r}: {error.strerror}"
    return ""
