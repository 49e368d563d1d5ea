"""Show a failure of the user's own code: the exception, the line, and where the traceback is."""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from gym_memory.cli import SHOWN
from gym_memory.cli.show import progress
from gym_memory.draw.svg import short_spec
from gym_memory.run.results.score import Unit, combination

__all__ = ["Frame", "print_failures", "users_frame"]

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


def print_failures(all_units: Sequence[Unit], folder: Path) -> None:
    """Print how many jobs failed, the first failure, and the traceback under ``--debug``."""
    failed = [unit for unit in all_units if unit.failed]
    if not failed:
        return
    console, first = progress(), failed[0]
    console.print(
        f"{len(failed)} of {len(all_units)} jobs failed and score 0, the first one: "
        f"{' '.join(map(short_spec, combination(first)))} seed {first.seed}: {first.failed}",
        markup=False,
    )
    detail = next((result.detail for result in first.episodes if result.failed), "")
    frame = users_frame(detail)
    if SHOWN["debug"] and detail:
        console.print(detail.rstrip(), markup=False, soft_wrap=True)
    elif frame is not None:
        console.print(f"  {frame}", markup=False, soft_wrap=True)
    if frame is not None and not SHOWN["debug"]:
        where = f"in {folder / 'logs'} and under --debug"
        console.print(f"The whole traceback is {where}.", markup=False, soft_wrap=True)
