"""Files: written so that a kill in the middle leaves them whole, read with one kind of error."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import uuid
from pathlib import Path
from typing import Any

__all__ = ["LARGEST_JSON", "encode", "parse_json", "read_bytes", "read_json", "write_atomic"]

LARGEST_JSON = 1 << 30
"""Bytes of a file of JSON that is read as a whole, at most."""


def encode(text: str) -> bytes:
    r"""UTF-8 of any text.

    A lone surrogate, which UTF-8 cannot hold and which an error message may, becomes ``\uXXXX``:
    within JSON that is its very escape, so it is read back as it was.

    >>> encode('"\ud800 \u00e9"')
    b'"\\ud800 \xc3\xa9"'
    """
    return text.encode("utf-8", "backslashreplace")


def parse_json(text: str | bytes) -> Any:
    """The value that a JSON text holds.

    Raises:
        ValueError: It holds none, or one nested so deep that no program here wrote it.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


def read_bytes(path: str | os.PathLike[str], most: int) -> bytes:
    """The content of a file of at most ``most`` bytes.

    Raises:
        OSError: It cannot be read, or is larger: no program here wrote it, and reading it might
            take all memory.
    """
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            what = f"expected at most {most} bytes, got {size}"
            raise OSError(errno.EFBIG, what, os.fspath(path))
        return file.read(size)


def read_json(path: str | os.PathLike[str]) -> Any:
    """The value that a JSON file holds.

    Raises:
        OSError: The file cannot be read.
        ValueError: It holds none, see :func:`parse_json`.
    """
    return parse_json(read_bytes(path, LARGEST_JSON))


def write_atomic(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Replace a file as a whole: a reader sees the old content or the new one.

    A process that is killed in the middle leaves ``.NAME.*.tmp`` beside it, nothing else.

    Args:
        path: The file; its folder must be there.
        content: Text, written as UTF-8 (see :func:`encode`), or bytes.

    Raises:
        OSError: The file cannot be written there; the old one stands as it was.
    """
    target = Path(path)
    temporary = target.parent / f".{target.name}.{uuid.uuid4().hex}.tmp"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)  # less the umask
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(encode(content) if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
