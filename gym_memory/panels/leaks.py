"""Leaks: tasks of a panel that are in a training split, and runs that mix both."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gym_memory.core.errors import GymMemoryError
from gym_memory.core.names import Spec
from gym_memory.panels.digests import FILE, content_of
from gym_memory.panels.env import make_world
from gym_memory.panels.panel import Panel, load_panel, panel_names

__all__ = ["LeakReport", "find_leaks", "panels_with"]


_TRAINING = ("train", "valid", "dev")
"""Splits that learners train on and are chosen by."""


class LeakReport(NamedTuple):
    """The tasks of a training split, compared with a panel by content.

    Attributes:
        world: The panel's world with the other split.
        tasks: Tasks compared.
        shared: Pairs of a panel's task and the same one of the split, by id.
    """

    world: Spec
    tasks: int
    shared: tuple[tuple[str, str], ...]


def find_leaks(panel: Panel, most: int | None = None) -> Iterator[LeakReport]:
    """Compare a panel with the training splits of its worlds, by content and not by name.

    Args:
        panel: The panel.
        most: Tasks of a split to compare; None for all.
    """
    for world in panel.worlds:
        known = {
            task.content: task.task_id
            for task in panel.tasks
            if task.env == world and task.content and not task.content.startswith(FILE)
        }
        with contextlib.closing(make_world(panel, world)) as env:
            own, splits = env.get_wrapper_attr("split"), env.get_wrapper_attr("splits")
        for split in splits if known else ():
            if split == own or split not in _TRAINING:
                continue
            other = Spec.of(world.name, {**world.kwargs, "split": split})
            try:
                made = make_world(panel, other)
            except GymMemoryError:  # data of one split alone
                continue
            shared = []
            with contextlib.closing(made) as env:
                ids = list(env.get_wrapper_attr("task_ids"))[:most]
                for task_id in ids:
                    obs, _ = env.reset(options={"task_id": task_id})
                    same = known.get(content_of(env, obs))
                    if same is not None:
                        shared.append((same, task_id))
            yield LeakReport(other, len(ids), tuple(shared))


def panels_with(env: str, task_ids: Iterable[str]) -> dict[str, int]:
    """Return the panels of this package that hold some of an environment's tasks, and how many."""
    name, ids = Spec(env).name, frozenset(task_ids)
    found = {}
    for panel_name in panel_names():
        panel = load_panel(panel_name)
        held = sum(task.env.name == name and task.task_id in ids for task in panel.tasks)
        if held:
            found[panel_name] = held
    return found
