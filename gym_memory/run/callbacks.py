"""Callbacks follow a run: one of yours, ``./hooks.py:Mine``, or a logger of :mod:`.loggers`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.names import Registry
from gym_memory.run.jobs import EpisodeRow, Job

__all__ = ["CALLBACKS", "Callback", "following", "make_callback", "watches_steps"]

CALLBACKS = Registry("callback", "gym_memory.callbacks", "CALLBACKS", ["gym_memory.run"])
"""Callbacks by name; other packages add theirs by the entry-point group."""


class Callback:
    """Follow a run; this one does nothing.

    ``step`` is called in the worker that plays, on an object of its own; everything else in the
    main process. An error in it ends the run; what is finished is kept.
    """

    def begin(self, config: Mapping[str, Any], folder: Path) -> None:
        """Take note of the configuration of a run, and of its folder."""

    def step(self, job: Job, trial: int, t: int, info: Mapping[str, Any]) -> None:
        """Take note of a played step; ``t`` 0 is the reset."""

    def episode(self, row: EpisodeRow) -> None:
        """Take note of a finished episode."""

    def measure(self, row: Mapping[str, Any]) -> None:
        """Take note of a measurement of a training, a row of its curve."""

    def end(self) -> None:
        """Take note of the end of the run, also of an interrupted one."""


def make_callback(spec: str) -> Callback:
    """Build a callback from a name with parameters."""
    found = CALLBACKS.make(spec)
    if not isinstance(found, Callback):
        raise InvalidArgumentError(
            f"expected {spec!r} as a subclass of gym_memory.run.callbacks.Callback, got {found!r}"
        )
    return found


def watches_steps(spec: str) -> bool:
    """True if a worker has to build the callback."""
    return getattr(CALLBACKS.get(spec.partition("?")[0]), "step", None) is not Callback.step


@contextlib.contextmanager
def following(
    specs: Sequence[str], config: Mapping[str, Any], folder: Path
) -> Iterator[list[Callback]]:
    """Build callbacks and begin them; end them in any case."""
    callbacks = [make_callback(spec) for spec in specs]
    with contextlib.ExitStack() as stack:
        for callback in callbacks:
            callback.begin(config, folder)
            stack.callback(callback.end)
        yield callbacks
