"""Writing files that a kill in the middle leaves whole."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

__all__ = ["write_atomic"]


def write_atomic(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Replace a file as a whole: a reader sees the old content or the new one.

    A process that is killed in the middle leaves ``.NAME.*.tmp`` beside it, nothing else.

    Args:
        path: The file; its folder must be there.
        content: Text (written as UTF-8) or bytes.

    Raises:
        OSError: The file cannot be written there; the old one stands as it was.
    """
    target = Path(path)
    handle, temporary = tempfile.mkstemp(
        dir=target.parent, prefix=f".{target.name}.", suffix=".tmp"
    )
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
