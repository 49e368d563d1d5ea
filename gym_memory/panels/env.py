"""An environment of a panel: its tasks, order and settings, with checked texts."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

import gymnasium as gym

from gym_memory.core.errors import BackendError, InvalidArgumentError, UnknownNameError
from gym_memory.core.names import Spec
from gym_memory.core.settings import check_int
from gym_memory.games.base import ENVIRONMENTS
from gym_memory.panels.digests import differences
from gym_memory.panels.panel import Panel, PanelTask, load_panel

__all__ = ["PanelEnv", "make_world"]

_checked: set[tuple[str, str]] = set()
"""Digests of panels with tasks whose texts were checked in this process."""


def make_world(panel: Panel, world: Spec, **more: Any) -> gym.Env[Any, str]:
    """Build a world of a panel; a setting ``$NAME`` is a folder from the environment."""
    settings = {**world.kwargs, **more}
    for key, value in settings.items():
        if isinstance(value, str) and value.startswith("$"):
            settings[key] = os.environ.get(value[1:])
            if not settings[key]:
                raise BackendError(
                    f"panel {panel.name!r} needs data that is not shipped: {panel.get}, "
                    f"and name its folder in {value}"
                )
    made: gym.Env[Any, str] = ENVIRONMENTS.get(world.name)(**settings)
    return made


class PanelEnv(gym.Wrapper[dict[str, Any], str, dict[str, Any], str]):
    """A fixed list of tasks whose texts are checked: ``panel:NAME``, see ``gym-memory panel``.

    ``reset(seed=s)`` plays task ``s`` modulo their number, and a bare ``reset()`` the next one. In
    ``k`` vector environments ``reset(seed=0, options={"stride": k})`` makes it the ``k``-th next,
    so that together they play each task once; ``info["panel_round"]`` is 0 until then. The first
    time in a process a task's way is played before it, and a task with another text is refused.

    Args:
        panel: Name of a panel, or the path of a file.
        render_mode: As of :class:`.TextEnv`.
        **settings: The panel's own, repeated; any other value is refused.
    """

    def __init__(self, panel: str, *, render_mode: str | None = None, **settings: Any):
        self.panel = load_panel(panel)
        self._render_mode = render_mode
        for key, value in settings.items():
            if any(world.kwargs.get(key) != value for world in self.panel.worlds):
                raise InvalidArgumentError(
                    f"expected panel {panel!r} without {key}={value!r}: a panel has its own "
                    "settings. Play the world itself for others (gym-memory panel show)"
                )
        self._places = {task.task_id: at for at, task in enumerate(self.panel.tasks)}
        self._made: dict[Spec, gym.Env[Any, str]] = {}
        self._place, self._stride = -1, 1
        super().__init__(self._world(self.panel.worlds[0]))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "env":
            raise AttributeError(name)
        return getattr(self.env, name)

    def _world(self, world: Spec) -> gym.Env[Any, str]:
        if world not in self._made:
            self._made[world] = make_world(self.panel, world, render_mode=self._render_mode)
        return self._made[world]

    @property
    def task_ids(self) -> tuple[str, ...]:
        """Return the ids of the panel's tasks, in its order."""
        return tuple(self._places)

    @property
    def splits(self) -> tuple[str, ...]:
        """Return no splits."""
        return ()

    def versions(self) -> dict[str, str]:
        """Return the versions of the worlds, and the panel with its digest."""
        found = {"panel": f"{self.panel.name}@{self.panel.digest}"}
        for world in self.panel.worlds:
            found |= self._world(world).get_wrapper_attr("versions")()
        return found

    @cached_property
    def _version(self) -> str:
        return " ".join(f"{name} {number}" for name, number in sorted(self.versions().items()))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start the task of ``seed`` or of ``options={"task_id": ...}``, else the next one."""
        options = dict(options or {})
        self._stride = check_int("stride", options.pop("stride", self._stride), 1)
        if "task_id" in options:
            name = options.pop("task_id")
            if name not in self._places:
                raise UnknownNameError("task_id", str(name), self._places)
            self._place = self._places[name]
        elif seed is not None:
            self._place = seed
        else:
            self._place += self._stride if self._place >= 0 else 1
        task = self._task
        self.env = self._world(task.env)
        if task.task_id not in self.env.get_wrapper_attr("task_ids"):
            raise BackendError(f"task {task.task_id} is not here: {self.panel.get}")
        self._check(task)
        obs, info = self.env.reset(seed=seed, options={**options, "task_id": task.task_id})
        return obs, self._named(info)

    def _check(self, task: PanelTask) -> None:
        """Raise an error if a task's texts differ from the panel's."""
        key = self.panel.digest, task.task_id
        for found in differences(self.env, task) if key not in _checked else ():
            where = f"has, at step {found.step}," if found.step else "begins with"
            other = f"{where} another {found.part} than that of panel {self.panel.name!r}"
            raise BackendError(
                f"task {task.task_id} {found.found if found.part == 'task' else other}: see "
                f"gym-memory panel check {self.panel.name}"
            )
        _checked.add(key)

    @property
    def _task(self) -> PanelTask:
        return self.panel.tasks[self._place % len(self.panel.tasks)]

    def step(self, action: str) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Play one command."""
        obs, reward, terminated, truncated, info = self.env.step(action)
        return obs, float(reward), terminated, truncated, self._named(info)

    def _named(self, info: dict[str, Any]) -> dict[str, Any]:
        played = self._place // len(self.panel.tasks)
        return {**info, "backend_version": self._version, "panel_round": played}

    def snapshot(self) -> Any:
        """Return the present state, for :meth:`restore`."""
        return self._place, self.env.get_wrapper_attr("snapshot")()

    def restore(self, snapshot: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Restore a snapshot and return its observation and info."""
        self._place, state = snapshot
        self.env = self._world(self._task.env)
        obs, info = self.env.get_wrapper_attr("restore")(state)
        return obs, self._named(info)

    def close(self) -> None:
        """Close all worlds."""
        for world in self._made.values():
            world.close()
