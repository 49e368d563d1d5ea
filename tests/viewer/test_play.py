"""A person's game without a browser: what is stored of it."""

from __future__ import annotations

import queue
import time
from pathlib import Path
from typing import Any

import pytest

from gym_memory.core.trajectory import read_rows
from gym_memory.run.results.report import read_source
from gym_memory.viewer.play import PlayDefaults, PlayedGame

pytestmark = pytest.mark.slow


def test_times_leave_out_what_the_person_took(tmp_path: Path) -> None:
    house = "FakeHouse?max_steps=3"
    said: queue.Queue[dict[str, Any]] = queue.Queue()
    request = {"env": house, "memory": "arigraph", "seed": 0, "budget": 500}
    game = PlayedGame(request, PlayDefaults(env=house, out=tmp_path / "out"), said.put)
    begun = time.perf_counter()
    game.start()
    while "over" not in (message := said.get(timeout=60)):
        assert "error" not in message, message
        if "heavy" in message and not message["light"]["end"]:
            time.sleep(0.5)
            game.say("look")
    game.join(10)
    assert time.perf_counter() - begun > 1.5
    (row,) = read_source(game.folder).rows
    assert row.result.seconds < 0.5
    assert all(row["stats"]["ms"] < 400 for row in read_rows(game.file))
