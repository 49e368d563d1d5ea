"""List ScienceWorld's tasks, variations and splits, and the selection of CLIN's paper.

This is data, so listing tasks needs no Java; a test compares it with the engine.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import NamedTuple

from gym_memory.core.errors import InvalidArgumentError, UnknownNameError

__all__ = ["CLIN", "ELECTRICAL", "SIMPLIFICATIONS", "SPLITS", "TASKS", "ClinTask", "clin_task"]
__all__ += ["find_task", "variations"]

SPLITS = ("train", "dev", "test", "clin")
"""Official splits, and CLIN's part of the test split."""

_DATA = tomllib.loads((files(__package__) / "catalog.toml").read_text("utf-8"))
TASKS: dict[str, tuple[str, int]] = {name: tuple(task) for name, task in _DATA["tasks"].items()}
"""Tasks by name, with their number in the ScienceWorld paper and number of variations."""

SIMPLIFICATIONS = (
    "easy", "noElectricalAction", "openContainers", "openDoors", "selfWateringFlowerPots",
    "teleportAction",
)  # fmt: skip
"""Simplifications of the game. As in the engine, ``easy`` means all but ``openContainers``, and
in tasks with electricity all but ``noElectricalAction``."""

ELECTRICAL = frozenset(
    name for name in TASKS if "power-component" in name or "conductivity" in name
)
"""Tasks that need the actions removed by ``noElectricalAction``."""


class ClinTask(NamedTuple):
    """A row of CLIN's Table 1 (arXiv 2310.10134).

    ``short`` is the paper's name of the task, ``length`` its class ``S`` or ``L``, ``n`` the number
    of test variations that it uses, and ``published`` the mean final score by system.
    """

    short: str
    length: str
    task: str
    n: int
    published: dict[str, float]


CLIN = tuple(
    ClinTask(short, length, task, n, dict(zip(_DATA["clin"]["systems"], scores, strict=True)))
    for short, length, task, n, scores in _DATA["clin"]["rows"]
)
"""CLIN's 18 tasks with 164 test variations; the paper omits tasks with electricity."""


def _plain(name: str) -> str:
    return name.lower().replace("&", "")


_TASK_BY_NAME = {
    **{name: name for name in TASKS},
    **{number: name for name, (number, _) in TASKS.items()},
    **{_plain(row.short): row.task for row in CLIN},
}


def find_task(name: str) -> str:
    """Return the name of a task, given its name, number or CLIN's short name.

    >>> find_task("1-1"), find_task("Temp1"), find_task("boil")
    ('boil', 'use-thermometer', 'boil')
    """
    task = _TASK_BY_NAME.get(_plain(str(name)))
    if task is None:
        raise UnknownNameError("task", str(name), [*TASKS, *(row.short for row in CLIN)])
    return task


def clin_task(task: str) -> ClinTask | None:
    """Return CLIN's row of a task; None if the paper omits it."""
    return next((row for row in CLIN if row.task == task), None)


def variations(task: str, split: str) -> range:
    """Return the numbers of the variations of a task that belong to a split.

    The first half is for training, the third quarter for development, the rest for testing;
    quarters are rounded down.

    >>> variations("boil", "train"), variations("boil", "test"), variations("boil", "clin")
    (range(0, 14), range(21, 30), range(21, 30))
    """
    quarter = TASKS[task][1] // 4
    if split == "train":
        return range(2 * quarter)
    if split == "dev":
        return range(2 * quarter, 3 * quarter)
    if split == "test":
        return range(3 * quarter, TASKS[task][1])
    if split != "clin":
        raise UnknownNameError("split", str(split), SPLITS)
    row = clin_task(task)
    if row is None:
        raise InvalidArgumentError(
            f"split 'clin' has no variations of {task!r}: the paper left it out"
        )
    return range(3 * quarter, 3 * quarter + row.n)
