"""Files that stay whole when the process is killed, and reading with one kind of error."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import numbers
import os
import re
import stat
import sys
import uuid
import zlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, BinaryIO, NamedTuple, TypeVar, get_args, get_type_hints

import numpy as np

from gym_memory.core.errors import ResultsError

__all__ = ["LARGEST_JSON", "cache_dir", "encode", "file_sha256", "hold", "json_by_entry"]
__all__ += ["open_file", "open_to_append", "parse_json", "read_bytes", "read_json"]
__all__ += ["refuse_links", "seal", "typed", "unseal", "without_waiting", "write_atomic"]

N = TypeVar("N", bound=NamedTuple)
OpenFile = TypeVar("OpenFile", io.BufferedReader, io.FileIO)

LARGEST_JSON = 1 << 30
"""Most bytes of a JSON file that is read as a whole."""

_CRC = "crc"
_SEAL = re.compile(rf', "{_CRC}": "([0-9a-f]{{8}})"}}\s*$'.encode())
_SEAL_BYTES = 64

_KINDS: dict[Any, tuple[type, ...]] = {
    str: (str,),
    bool: (bool, np.bool_),
    int: (numbers.Integral,),
    float: (numbers.Real,),
    NoneType: (NoneType,),
    tuple[str, ...]: (list, tuple),
}


def cache_dir() -> Path:
    """Return ``$GYM_MEMORY_CACHE`` or the platform's cache folder, which may not exist."""
    import platformdirs

    chosen = os.environ.get("GYM_MEMORY_CACHE")
    return Path(chosen).expanduser() if chosen else Path(platformdirs.user_cache_dir("gym-memory"))


def encode(text: str) -> bytes:
    r"""Encode any text as UTF-8, with a lone surrogate as its JSON escape.

    >>> encode('"\ud800 \u00e9"')
    b'"\\ud800 \xc3\xa9"'
    """
    return text.encode("utf-8", "backslashreplace")


def parse_json(text: str | bytes) -> Any:
    """Parse a JSON text; NaN, infinity and too deep nesting are ValueErrors too."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _refuse_constant(name: str) -> float:
    raise ValueError(f"expected a number, got {name}")


def open_file(path: str | os.PathLike[str]) -> io.BufferedReader:
    """Open a file for reading; raise OSError for a pipe or device, which may never end."""
    file = open(path, "rb", opener=without_waiting)  # noqa: SIM115 - closed by the caller
    return _regular(file, path)


def open_to_append(path: str | os.PathLike[str]) -> io.FileIO:
    """Open a file of ours for reading and appending; raise OSError for a link, pipe or device.

    In an untrusted folder, the path may be a link to a file of the user.
    """
    kind = os.O_RDWR | os.O_CREAT | os.O_APPEND
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC"):
        kind |= getattr(os, name, 0)
    return _regular(io.FileIO(os.open(path, kind, 0o666), "a+"), path)


def _regular(file: OpenFile, path: str | os.PathLike[str]) -> OpenFile:
    """Return an open file; close it and raise OSError if it is a pipe or device."""
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "expected a file, got a pipe or device", os.fspath(path))
    return file


def refuse_links(folder: str | os.PathLike[str], inner: Iterable[str] = ()) -> None:
    """Raise OSError for a link in a folder or one of its ``inner`` folders.

    Writing through the link would change a file elsewhere.
    """
    for place in (Path(folder), *(Path(folder, name) for name in inner)):
        with contextlib.suppress(FileNotFoundError), os.scandir(place) as entries:
            for entry in entries:
                if entry.is_symlink():
                    what = f"expected no links in a folder to write into, {entry.name!r} is one"
                    raise OSError(errno.ELOOP, what, os.fspath(place))


def without_waiting(path: str, flags: int) -> int:
    """Open a path for ``open(opener=...)`` without waiting for the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def read_bytes(path: str | os.PathLike[str], most: int = sys.maxsize) -> bytes:
    """Read a file; raise OSError for more than ``most`` bytes, which might fill the memory."""
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            what = f"expected at most {most} bytes, got {size}"
            raise OSError(errno.EFBIG, what, os.fspath(path))
        return file.read(size)


def read_json(path: str | os.PathLike[str]) -> Any:
    """Parse a JSON file, sealed or not; raises OSError or ValueError."""
    return unseal(read_bytes(path, LARGEST_JSON))


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def json_by_entry(record: Mapping[str, Any]) -> str:
    """Return JSON for readable diffs, with each entry of each part on a line of its own."""
    parts = []
    for name, part in record.items():
        if isinstance(part, dict):
            lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in part.items()]
            start, end = "{", "}"
        else:
            lines, start, end = [json.dumps(value) for value in part], "[", "]"
        body = ",\n  ".join(lines)
        parts.append(f" {json.dumps(name)}: {start}\n  {body}\n {end}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def seal(text: str) -> bytes:
    r"""Encode a non-empty JSON object with its CRC-32 as the last value.

    >>> unseal(seal('{"score": 1}'))
    {'score': 1}
    >>> unseal(seal('{"score": 1}').replace(b"1", b"3", 1))
    Traceback (most recent call last):
    ValueError: it was changed after it was written (its checksum differs)
    """
    body = encode(text).rstrip()[:-1].rstrip()
    return body + f', "{_CRC}": "{zlib.crc32(body):08x}"}}'.encode()


def unseal(content: bytes) -> Any:
    """Parse JSON and check its seal; files of older versions have none."""
    record = parse_json(content)
    found = _SEAL.search(content, max(0, len(content) - _SEAL_BYTES))
    if found:
        if zlib.crc32(content[: found.start()]) != int(found[1], 16):
            raise ValueError("it was changed after it was written (its checksum differs)")
        del record[_CRC]
    return record


def write_atomic(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Replace a file atomically: a reader sees either the old or the new content."""
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


def hold(file: BinaryIO, busy: str) -> BinaryIO:
    """Lock a file until it is closed or the process ends, and return it.

    If another process has the lock, close the file and raise a ResultsError with ``busy``.
    """
    try:
        import fcntl
    except ImportError:  # no such locks on this platform
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise ResultsError(busy) from None
    return file


def typed(record: type[N], values: Iterable[Any]) -> N:
    """Build a NamedTuple from plain values of a file; raise TypeError for a value of another type.

    The caller first builds nested records, such as a tuple of NamedTuples.

    >>> from gym_memory.core.records import Triple
    >>> typed(Triple, ["apple", "is in", "fridge"])
    Triple(subject='apple', relation='is in', object='fridge')
    """
    made = record(*values)
    for value, (name, kind, types) in zip(made, _fields(record), strict=True):
        wrong = not isinstance(value, types) or (isinstance(value, bool) and bool not in types)
        if wrong or (kind == tuple[str, ...] and not all(type(v) is str for v in value)):
            raise TypeError(f"expected {record.__name__}.{name} as {kind}, got {value!r:.80}")
    return made


@lru_cache(maxsize=64)
def _fields(record: type[Any]) -> tuple[tuple[str, Any, tuple[type, ...]], ...]:
    """Return the name, annotation and accepted types of each field."""
    hints = get_type_hints(record, vars(sys.modules[record.__module__]))
    fields = []
    for name in record._fields:
        kind = hints[name]
        kinds = get_args(kind) if isinstance(kind, UnionType) else (kind,)
        types = tuple(part for one in kinds for part in _KINDS.get(one, (tuple,)))
        fields.append((name, kind, types))
    return tuple(fields)
