"""The lines of a traceback that are the user's own."""

from __future__ import annotations

import re
import sysconfig
import traceback as tracebacks
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["Frame", "raised_at", "users_frame"]

_FRAME = re.compile(
    r'^ *File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<name>.+)\n(?P<code> +.+)?', re.MULTILINE
)
_LIBRARY = Path(__file__).resolve().parents[1]
_LINKED = (_LIBRARY, *((_LIBRARY / name).resolve() for name in ("wrappers", "baselines")))
"""Folders of this library, with those behind its links."""
_PACKAGES = {"site-packages", "dist-packages"}
"""Names of folders that contain packages, also of other Python environments on the path."""


class Frame(NamedTuple):
    """A line of a traceback."""

    file: str
    line: int
    name: str
    code: str

    def __str__(self) -> str:
        place = Path(self.file)
        shown = place.relative_to(Path.cwd()) if place.is_relative_to(Path.cwd()) else place
        return f"{shown}:{self.line}, in {self.name}: {self.code}".removesuffix(": ")


def users_frame(traceback: str) -> Frame | None:
    """Return the last frame of a traceback outside installed packages; None if there is none."""
    found = None
    for frame in _frames(traceback):
        if not _is_installed(frame.file):
            found = frame
    return found


def raised_at(error: BaseException) -> str:
    """Return the end of a message, ``at FILE:LINE``, for a fault of the user's; else empty."""
    frame = users_frame("".join(tracebacks.format_exception(error)))
    return f" at {frame}" if frame else ""


def _frames(traceback: str) -> Iterator[Frame]:
    for match in _FRAME.finditer(traceback):
        code = (match["code"] or "").strip()
        yield Frame(match["file"], int(match["line"]), match["name"], code)


def _is_installed(file: str) -> bool:
    if not Path(file).is_absolute():  # <frozen ...>, or the source of a compiled module
        return True
    place = Path(file).resolve()
    paths = sysconfig.get_paths()
    installed = {Path(paths[name]).resolve() for name in ("stdlib", "purelib", "platlib")}
    return not _PACKAGES.isdisjoint(place.parts) or any(
        place.is_relative_to(folder) for folder in (*installed, *_LINKED)
    )
