"""Read, replay and write the record: a JSON file with one line a cell, sorted."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from pathlib import Path

from gym_memory.core.names import Spec

from .cells import cell_name, cells
from .known import Known
from .play import play, scripted_model
from .train import LEARNERS, train

__all__ = ["PLAYS", "TRAINING", "read", "replay", "write"]

PATH = Path(__file__).with_name("manifest.json")
TRAINING = "training"
"""Name under which trainings are listed among the games."""

Record = dict[str, str]
Make = Callable[[Known], Record]
"""A function of what was played before, see :class:`.KnownPlays`."""


def _plays() -> dict[str, dict[str, Make]]:
    found: dict[str, dict[str, Make]] = {}
    for job in cells():
        game = found.setdefault(Spec(job.env).name, {})
        game[cell_name(job)] = functools.partial(play, job)
    trained = {f"{TRAINING} | {name}": lambda known, name=name: train(name) for name in LEARNERS}
    return {**found, TRAINING: trained}


PLAYS = _plays()
"""Game to its cells: name to a function that plays it and returns the hashes."""


def replay(game: str) -> dict[str, Record]:
    """Play all cells of a game."""
    known: Known = {}
    with scripted_model():
        return {name: make(known) for name, make in PLAYS[game].items()}


def read() -> dict[str, Record]:
    """Read the record."""
    recorded: dict[str, Record] = json.loads(PATH.read_text(encoding="utf-8"))
    return recorded


def write(games: Mapping[str, Mapping[str, Record]]) -> None:
    """Replace the cells of some games, keep their notes, and drop cells that no longer exist."""
    old = read() if PATH.exists() else {}
    known = {name for cells in PLAYS.values() for name in cells}
    new = {name: record for cells in games.values() for name, record in cells.items()}
    for name, record in new.items():
        if "note" in old.get(name, {}):
            record["note"] = old[name]["note"]
    kept = {name: record for name, record in {**old, **new}.items() if name in known}
    lines = (
        f"{json.dumps(name)}: {json.dumps(kept[name], sort_keys=True)}" for name in sorted(kept)
    )
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
