"""A person's game without a browser: what is stored of it."""

from __future__ import annotations

import queue
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gym_memory.core.trajectory import read_rows
from gym_memory.run.results.report import read_source
from gym_memory.viewer.play import PlayDefaults, PlayedGame

pytestmark = pytest.mark.slow


def test_times_leave_out_the_persons_thinking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]  # it goes on while a person thinks, and then only

    class Person(queue.Queue[str | None]):
        def get(self, *args: Any, **kwargs: Any) -> str | None:
            said = super().get(*args, **kwargs)
            clock[0] += 100
            return said

    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr("gym_memory.viewer.play.queue", SimpleNamespace(Queue=Person))
    house = "FakeHouse?max_steps=3"
    said: queue.Queue[dict[str, Any]] = queue.Queue()
    request = {"env": house, "memory": "arigraph", "seed": 0, "budget": 500}
    game = PlayedGame(request, PlayDefaults(env=house, out=tmp_path / "out"), said.put)
    game.start()
    while "over" not in (message := said.get(timeout=600)):
        assert "error" not in message, message
        if "heavy" in message and not message["light"]["end"]:
            game.say("look")
    game.join(600)
    assert clock == [300.0]
    (row,) = read_source(game.folder).rows
    assert row.result.seconds == 0
    assert all(row["stats"]["ms"] == 0 for row in read_rows(game.file))
