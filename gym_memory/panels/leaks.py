"""Find leaks: tasks of a panel that are also in a training split."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import gymnasium as gym

from gym_memory.core.errors import GymMemoryError
from gym_memory.core.names import Spec
from gym_memory.panels.digests import FILE, content_of, observe, shown
from gym_memory.panels.env import make_world
from gym_memory.panels.panel import Panel, PanelTask, load_panel, panel_names

__all__ = ["LeakReport", "find_leaks", "panels_with"]

_TRAINING = ("train", "valid", "dev")
"""Splits for training and for selecting learners."""


class LeakReport(NamedTuple):
    """A comparison, by content, of a training split with panels.

    Attributes:
        world: World of a panel, with the training split.
        tasks: Number of compared tasks.
        alike: Number of pairs of tasks with equal goal, first text and engine facts.
        shared: Panel, its task, and the id of the same task in the split.
    """

    world: Spec
    tasks: int
    alike: int
    shared: tuple[tuple[str, str, str], ...]


def find_leaks(panels: Iterable[Panel], most: int | None = None) -> Iterator[LeakReport]:
    """Compare panels with the training splits of all their worlds, by content and not by name.

    A panel is compared with the splits of every world of the same environment, whatever its level.
    Where an engine has neither a solution nor facts beyond what was seen, tasks that begin alike
    are the same if they also answer alike along the panel's way.

    Args:
        panels: The panels.
        most: Tasks of a split to compare; None for all.
    """
    panels = tuple(panels)
    for other, drawn_from in _training_worlds(panels).items():
        own = [(p.name, t) for p in panels for t in p.tasks if t.env.name == other.name]
        known, alike = _by_content(own), 0
        first = {t.shown[0].text if t.shown else None for _, t in own if t.content}
        try:
            made = make_world(drawn_from, other)
        except GymMemoryError:  # the data has one split only
            continue
        shared: list[tuple[str, str, str]] = []
        with contextlib.closing(made) as env:
            ids = list(env.get_wrapper_attr("task_ids"))[:most]
            for task_id in ids:
                obs, _ = env.reset(options={"task_id": task_id})
                if None in first or shown(obs, 0).text in first:  # facts may take a second
                    candidates = known.get(content_of(env, obs), ())
                    alike += len(candidates)
                    for name, task in candidates:
                        if _goes_alike(env, task, task_id):
                            shared.append((name, task.task_id, task_id))
        yield LeakReport(other, len(ids), alike, tuple(shared))


def _goes_alike(env: gym.Env[Any, str], task: PanelTask, task_id: str) -> bool:
    """True if a task with the same beginning as a panel's also answers alike along its actions."""
    if not task.shown or env.get_wrapper_attr("oracle")().walkthrough:
        return True
    seen = observe(env, task_id, way_of=task.task_id)
    return all(
        shown(obs, step) == known
        for (step, obs), known in zip(enumerate(seen), task.shown, strict=False)
    )


def _training_worlds(panels: Iterable[Panel]) -> dict[Spec, Panel]:
    """Return the worlds of panels with their training splits, without duplicates."""
    found: dict[Spec, Panel] = {}
    for panel in panels:
        for world in panel.worlds:
            tasks = [task for task in panel.tasks if task.env == world]
            if not any(task.content and not task.content.startswith(FILE) for task in tasks):
                continue
            with contextlib.closing(make_world(panel, world)) as env:
                own, splits = env.get_wrapper_attr("split"), env.get_wrapper_attr("splits")
            for split in splits:
                if split != own and split in _TRAINING:
                    found.setdefault(Spec.of(world.name, {**world.kwargs, "split": split}), panel)
    return found


def _by_content(tasks: Iterable[tuple[str, PanelTask]]) -> dict[str, list[tuple[str, PanelTask]]]:
    known: dict[str, list[tuple[str, PanelTask]]] = {}
    for name, task in tasks:
        if task.content and not task.content.startswith(FILE):
            known.setdefault(task.content, []).append((name, task))
    return known


def panels_with(env: str, task_ids: Iterable[str]) -> dict[str, int]:
    """Return the number of an environment's tasks in each included panel that has any."""
    name, ids = Spec(env).name, frozenset(task_ids)
    found = {}
    for panel_name in panel_names():
        panel = load_panel(panel_name)
        held = sum(task.env.name == name and task.task_id in ids for task in panel.tasks)
        if held:
            found[panel_name] = held
    return found
