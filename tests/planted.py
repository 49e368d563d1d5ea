"""A stranger's folder, full of files that Python and its tools run or read by themselves."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MODULES = (
    *("gym_memory", "json", "multiprocessing", "selectors", "sitecustomize", "usercustomize"),
    *(
        "conftest",
        "numpy",
        "gymnasium",
        "typer",
        "textworld",
        "ray",
        "sqlite3",
        "uvicorn",
        "pickle",
    ),
    *("torch", "logging", "socket", "subprocess", "encodings", "runpy", "site", "random"),
)
NAMES = (*(f"{name}.py" for name in MODULES), ".env", "pyproject.toml", "setup.cfg")
_CODE = "import os\nopen({mark!r}, 'a').write(__file__ + '\\n')\nraise SystemExit('planted')\n"
_OPEN = 0x20
_EVENT = struct.Struct("iIII")


def plant(folder: Path, mark: Path) -> None:
    """Write the files; each module that runs adds a line to ``mark``."""
    for name in NAMES:
        (folder / name).write_text(
            _CODE.format(mark=str(mark)) if name.endswith(".py") else "X=1\n"
        )


@contextmanager
def opened(folder: Path) -> Iterator[set[str]]:
    """Collect the names of the planted files that any process opens meanwhile (Linux)."""
    libc, found = ctypes.CDLL(None, use_errno=True), set[str]()
    watch = libc.inotify_init1(os.O_NONBLOCK)
    assert watch >= 0
    assert libc.inotify_add_watch(watch, os.fsencode(folder), _OPEN) >= 0
    try:
        yield found
        while True:
            try:
                data = os.read(watch, 1 << 16)
            except BlockingIOError:
                break
            while data:
                length = _EVENT.unpack_from(data)[3]
                name, data = data[_EVENT.size :][:length], data[_EVENT.size + length :]
                found.add(os.fsdecode(name.rstrip(b"\0")))
        found.intersection_update(NAMES)
    finally:
        os.close(watch)
