"""A clock of worker pools that does not know how busy the machine is."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pytest

from gym_memory.run import pool
from gym_memory.run.config import EpisodeRow


class HeardClock:
    """A clock that runs by half a second with every step that a worker reports.

    Once only the job that hangs is left, it runs a hundred times as fast as the machine's: then
    nothing else can be late.
    """

    def __init__(self) -> None:
        self._now, self._hung = 0.0, False
        self._left_alone: float | None = None

    def monotonic(self) -> float:
        alone = self._left_alone
        return self._now + (0.0 if alone is None else 100 * (time.monotonic() - alone))

    def hear(self, kind: str) -> None:
        self._now += 0.5 * (kind == "step")

    def progress(self, done: int, total: int, rows: Sequence[EpisodeRow]) -> None:
        """Follow a run, as its ``on_progress``."""
        self._hung |= any(row.result.failed.startswith("timeout") for row in rows)
        if total - done == 1 and not self._hung:
            self._left_alone = time.monotonic()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> HeardClock:
    """Give the pools of this process a clock that the load of the machine leaves alone."""
    made, hear = HeardClock(), pool._Play.hear

    def heard(play: Any, kind: str, content: Sequence[Any]) -> None:
        made.hear(kind)
        hear(play, kind, content)

    monkeypatch.setattr(pool, "time", made)
    monkeypatch.setattr(pool, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(pool._Play, "hear", heard)
    return made
