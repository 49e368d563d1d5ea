"""``gym-memory new``: write a policy, a memory or a game that runs, to be changed."""

from __future__ import annotations

import re
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.settings import check_name

__all__ = ["new"]

NEXT = {
    "policy": ("compare -e 'Fetch?level=hard' -m none -m arigraph -p {place} --seeds 0:4",),
    "memory": (
        "compare -e 'Fetch?level=hard' -m none -m {place} -p planner --seeds 0:4",
        "rank {place} --tier smoke",
    ),
    "game": ("compare -e {place} -m none -m arigraph -p planner --seeds 0:3",),
}
"""Kind to the commands that play it, after the check."""


def new(
    kind: Annotated[str, Argument(help="policy, memory or game.")],
    name: Annotated[str, Argument(help="Name of the class; the file is named after it.")],
    folder: Annotated[Path, Option("--out", "-o", metavar="FOLDER", help="Where to write.")] = Path(
        "."
    ),
) -> None:
    """Write a policy, memory or game that runs as it is, and print how to play it.

    Example: `gym-memory new policy Scout`
    """
    check_name("kind to write", kind, list(NEXT))
    words = [*filter(None, re.split(r"[_-]|(?<=[a-z0-9])(?=[A-Z])", name))]
    if not re.fullmatch(r"[A-Za-z][\w-]*", name):
        raise InvalidArgumentError(f"expected a name such as RoomNotes or room-notes, got {name!r}")
    path = folder / f"{'_'.join(words).lower()}.py"
    elsewhere = [place for place in sys.path if Path(place).resolve() != folder.resolve()]
    if path.stem in sys.stdlib_module_names or PathFinder.find_spec(path.stem, elsewhere):
        raise InvalidArgumentError(
            f"expected a name that no module has, got {name!r}: {path.name} would hide a module"
        )
    title = "".join(word[0].upper() + word[1:] for word in words)
    text = Path(__file__).with_name(f"{kind}.py").read_text("utf-8")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text.replace("Template", title))
    except FileExistsError:
        raise InvalidArgumentError(f"expected no {str(path)!r} yet: choose another name") from None
    place = f"{path if path.is_absolute() else f'./{path}'}:{title}"
    print(f"Wrote {path}. Change it, check it, and play it:")
    for command in ("check {place}", *NEXT[kind]):
        print(f"  gym-memory {command.format(place=place)}")
