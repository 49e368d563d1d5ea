"""ScienceWorld's tasks, variations and splits, and the selection of CLIN's paper.

It is data, so that a list of tasks needs no Java; a test compares it with the engine.
"""

from __future__ import annotations

from typing import NamedTuple

from gym_memory.core.errors import InvalidArgumentError, UnknownNameError

__all__ = ["CLIN", "ELECTRICAL", "SIMPLIFICATIONS", "SPLITS", "TASKS", "ClinTask", "clin_task"]
__all__ += ["find_task", "variations"]

SPLITS = ("train", "dev", "test", "clin")
"""The official splits, and CLIN's part of the test split."""

TASKS = {
    "boil": ("1-1", 30),
    "melt": ("1-2", 30),
    "freeze": ("1-3", 30),
    "change-the-state-of-matter-of": ("1-4", 30),
    "use-thermometer": ("2-1", 540),
    "measure-melting-point-known-substance": ("2-2", 436),
    "measure-melting-point-unknown-substance": ("2-3", 300),
    "power-component": ("3-1", 20),
    "power-component-renewable-vs-nonrenewable-energy": ("3-2", 20),
    "test-conductivity": ("3-3", 900),
    "test-conductivity-of-unknown-substances": ("3-4", 600),
    "find-living-thing": ("4-1", 300),
    "find-non-living-thing": ("4-2", 300),
    "find-plant": ("4-3", 300),
    "find-animal": ("4-4", 300),
    "grow-plant": ("5-1", 126),
    "grow-fruit": ("5-2", 126),
    "chemistry-mix": ("6-1", 32),
    "chemistry-mix-paint-secondary-color": ("6-2", 36),
    "chemistry-mix-paint-tertiary-color": ("6-3", 36),
    "lifespan-longest-lived": ("7-1", 125),
    "lifespan-shortest-lived": ("7-2", 125),
    "lifespan-longest-lived-then-shortest-lived": ("7-3", 125),
    "identify-life-stages-1": ("8-1", 14),
    "identify-life-stages-2": ("8-2", 10),
    "inclined-plane-determine-angle": ("9-1", 168),
    "inclined-plane-friction-named-surfaces": ("9-2", 1386),
    "inclined-plane-friction-unnamed-surfaces": ("9-3", 162),
    "mendelian-genetics-known-plant": ("10-1", 120),
    "mendelian-genetics-unknown-plant": ("10-2", 480),
}
"""Name of a task to its number in the ScienceWorld paper and its number of variations."""

SIMPLIFICATIONS = (
    "easy", "noElectricalAction", "openContainers", "openDoors", "selfWateringFlowerPots",
    "teleportAction",
)  # fmt: skip
"""What may be made easier. ``easy`` is what the engine means by it: all of it but
``openContainers``, and but ``noElectricalAction`` where a task needs electricity."""

ELECTRICAL = frozenset(
    name for name in TASKS if "power-component" in name or "conductivity" in name
)
"""Tasks that need the actions which ``noElectricalAction`` takes away."""


class ClinTask(NamedTuple):
    """Hold a row of CLIN's Table 1 (arXiv 2310.10134).

    Attributes:
        short: The paper's name of the row.
        length: ``S`` where the oracle takes fewer than 37 steps, else ``L`` (the paper's mark).
        task: ScienceWorld's name of the task.
        n: Test variations used, the first ones of the test split.
        published: Mean final score in [-100, 100] by system, as printed in Tables 1 and 2.
    """

    short: str
    length: str
    task: str
    n: int
    published: dict[str, float]


_SYSTEMS = (
    "DRRN", "KGA2C", "CALM", "SayCan", "ReAct", "Reflexion",
    "CLIN base", "CLIN Gen-Env", "CLIN Gen+Adapt", "CLIN Adapt",
)  # fmt: skip
_ROWS = (
    ("Temp1", "S", "use-thermometer", 10,
     (6.6, 6.0, 1.0, 26.4, 7.2, 5.9, 25.2, 15.7, 13.8, 14.3)),
    ("Temp2", "S", "measure-melting-point-known-substance", 10,
     (5.5, 11.0, 1.0, 8.0, 6.1, 28.6, 53.2, 49.7, 58.2, 51.8)),
    ("Pick&Place1", "S", "find-plant", 10,
     (15.0, 18.0, 10.0, 22.9, 26.7, 64.9, 92.5, 59.2, 100.0, 100.0)),
    ("Pick&Place2", "S", "find-living-thing", 10,
     (21.7, 16.0, 10.0, 20.9, 53.3, 16.4, 55.0, 100.0, 100.0, 100.0)),
    ("Chemistry1", "S", "chemistry-mix", 8,
     (15.8, 17.0, 3.0, 47.8, 51.0, 70.4, 44.5, 42.2, 51.7, 44.4)),
    ("Chemistry2", "S", "chemistry-mix-paint-secondary-color", 9,
     (26.7, 19.0, 6.0, 39.3, 58.9, 70.7, 56.7, 85.6, 93.3, 56.7)),
    ("Lifespan1", "S", "lifespan-longest-lived", 10,
     (50.0, 43.0, 6.0, 80.0, 60.0, 100.0, 85.0, 65.0, 100.0, 100.0)),
    ("Lifespan2", "S", "lifespan-shortest-lived", 10,
     (50.0, 32.0, 10.0, 67.5, 67.5, 84.4, 70.0, 75.0, 90.0, 90.0)),
    ("Biology1", "S", "identify-life-stages-1", 5,
     (8.0, 10.0, 0.0, 16.0, 8.0, 8.0, 10.0, 32.0, 32.0, 8.0)),
    ("Boil", "L", "boil", 9, (3.5, 0.0, 0.0, 33.1, 3.5, 4.2, 7.0, 4.4, 16.3, 15.2)),
    ("Freeze", "L", "freeze", 9, (0.0, 4.0, 0.0, 3.9, 7.8, 7.8, 10.0, 8.9, 10.0, 10.0)),
    ("GrowPlant", "L", "grow-plant", 10,
     (8.0, 6.0, 2.0, 9.9, 9.1, 7.3, 10.2, 10.9, 11.2, 11.1)),
    ("GrowFruit", "L", "grow-fruit", 10,
     (14.3, 11.0, 4.0, 13.9, 18.6, 13.0, 35.9, 70.8, 94.5, 71.6)),
    ("Biology2", "L", "identify-life-stages-2", 4,
     (21.0, 5.0, 4.0, 20.9, 27.7, 2.6, 70.0, 42.8, 85.6, 81.0)),
    ("Force", "L", "inclined-plane-determine-angle", 10,
     (10.0, 4.0, 0.0, 21.9, 40.5, 50.6, 53.5, 70.0, 100.0, 100.0)),
    ("Friction", "L", "inclined-plane-friction-named-surfaces", 10,
     (10.0, 4.0, 3.0, 32.3, 44.0, 100.0, 56.5, 70.0, 94.0, 72.5)),
    ("Genetics1", "L", "mendelian-genetics-known-plant", 10,
     (16.8, 11.0, 2.0, 67.5, 25.7, 50.9, 77.4, 84.5, 100.0, 100.0)),
    ("Genetics2", "L", "mendelian-genetics-unknown-plant", 10,
     (17.0, 11.0, 2.0, 59.5, 16.8, 23.7, 62.3, 61.4, 100.0, 92.6)),
)  # fmt: skip
CLIN = tuple(
    ClinTask(short, length, task, n, dict(zip(_SYSTEMS, scores, strict=True)))
    for short, length, task, n, scores in _ROWS
)
"""CLIN's 18 tasks with their 164 test variations; tasks with electricity are left out there."""


def _plain(name: str) -> str:
    return name.lower().replace("&", "")


_CALLED = {
    **{name: name for name in TASKS},
    **{number: name for name, (number, _) in TASKS.items()},
    **{_plain(row.short): row.task for row in CLIN},
}


def find_task(name: str) -> str:
    """Return ScienceWorld's name of a task, given by name, number or CLIN's short name.

    >>> find_task("1-1"), find_task("Temp1"), find_task("boil")
    ('boil', 'use-thermometer', 'boil')
    """
    task = _CALLED.get(_plain(str(name)))
    if task is None:
        raise UnknownNameError("task", str(name), [*TASKS, *(row.short for row in CLIN)])
    return task


def clin_task(task: str) -> ClinTask | None:
    """Return CLIN's row of a task; None where the paper leaves the task out."""
    return next((row for row in CLIN if row.task == task), None)


def variations(task: str, split: str) -> range:
    """Return the numbers of the variations of a task that belong to a split.

    The first half is for training, the third quarter for development, the rest for testing;
    quarters are rounded down.

    >>> variations("boil", "train"), variations("boil", "test"), variations("boil", "clin")
    (range(0, 14), range(21, 30), range(21, 30))

    Raises:
        InvalidArgumentError: The split is ``clin`` and CLIN did not use the task.
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
