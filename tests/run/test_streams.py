"""Protocol ``stream``: its phases, one memory over environments, and tests that only read it."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.run.compare import compare
from gym_memory.run.config import EpisodeRow, Job, RunConfig
from gym_memory.run.play import play_job
from gym_memory.run.results.folder import read_episodes
from gym_memory.run.streams import Stream

HOUSE = "ALFWorld?path=generated&split=train&max_steps=8"
SPEC = "stream?tasks=5&shown=2&again=2&probe=1&also=FakeHouse&tests=FakeHouse"


def play(spec: str, memory: str = "memrl?inner=history", seed: int = 0) -> list[EpisodeRow]:
    rows = list(play_job(Job(HOUSE, memory, "learner", seed, spec)))
    assert not any(row.result.failed for row in rows), rows[-1].result.detail
    return rows


@pytest.mark.slow
def test_only_the_stream_changes_the_memory() -> None:
    pytest.importorskip("alfworld", reason="needs the extra alfworld")
    rows = play(SPEC)
    phases = [turn.phase for turn in Stream(
        tasks=5, shown=2, again=2, probe=1, also="FakeHouse", tests="FakeHouse"
    ).turns]  # fmt: skip
    learns = [phase in ("shown", "learn") for phase in phases]
    assert [bool(row.result.counters["store_changed"]) for row in rows] == learns
    assert len({row.result.task_id.split("/")[0] for row in rows}) == 2
    again = rows[phases.index("again")].result.task_id
    assert again == rows[phases.index("fresh")].result.task_id


def test_seed_draws_order_and_no_task_is_played_twice() -> None:
    pytest.importorskip("alfworld", reason="needs the extra alfworld")
    orders = [[row.result.task_id for row in play("stream?tasks=5&shown=2", "none", s)]
              for s in (0, 0, 1)]  # fmt: skip
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])
    assert len(set(orders[0])) == 5


@pytest.mark.parametrize("given", [{"shown": 30}, {"again": 25}, {"tests": "FakeHouse"}])
def test_wrong_numbers_are_refused(given: dict[str, object]) -> None:
    with pytest.raises(InvalidArgumentError, match="expected"):
        Stream(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize("order", ["easy", "hard"])
def test_orders_by_length(order: str) -> None:
    pytest.importorskip("alfworld", reason="needs the extra alfworld")
    rows = play(f"stream?tasks=6&shown=5&order={order}", "none")
    lengths = [row.result.steps for row in rows[:5]]  # the walkthrough plays the first five
    assert lengths == sorted(lengths, reverse=order == "hard")
    assert len(set(lengths)) > 1


@pytest.mark.slow
def test_blocks_play_one_environment_after_the_other() -> None:
    pytest.importorskip("alfworld", reason="needs the extra alfworld")
    spec = "stream?tasks=8&shown=4&also=FakeHouse"
    worlds = {order: [row.result.task_id.split("/")[0] for row in play(f"{spec}&order={order}")]
              for order in ("blocks", "shuffled")}  # fmt: skip
    assert worlds["blocks"] == ["household"] * 4 + [worlds["blocks"][-1]] * 4
    assert sorted(worlds["shuffled"]) == sorted(worlds["blocks"])
    assert worlds["shuffled"] != worlds["blocks"]


KILLED = """
import os
from gym_memory.run.compare import compare
from gym_memory.run.config import RunConfig

if __name__ == "__main__":
    compare(RunConfig(**{config!r}), {out!r}, on_progress=lambda done, *_: done and os._exit(9))
"""


def without_clocks(rows: list[EpisodeRow]) -> list[EpisodeRow]:
    return [
        dataclasses.replace(row, result=dataclasses.replace(row.result, seconds=0.0, memory_ms=0.0))
        for row in rows
    ]


@pytest.mark.slow
def test_killed_stream_is_resumed_with_equal_results(tmp_path: Path) -> None:
    pytest.importorskip("alfworld", reason="needs the extra alfworld")
    config: dict[str, Any] = {
        "envs": (HOUSE,),
        "memories": ("memrl?inner=history",),
        "policies": ("learner",),
        "seeds": (0, 1),
        "protocol": "stream?tasks=4&shown=2&again=1",
    }
    script, killed = tmp_path / "run.py", tmp_path / "killed"
    script.write_text(KILLED.format(config=config, out=str(killed)))
    died = subprocess.run([sys.executable, str(script)], check=False, timeout=300)
    assert died.returncode == 9
    assert {rows[0].job.seed for rows in read_episodes(killed)} == {0}
    again, calm = (
        without_clocks(compare(RunConfig(**config), folder))
        for folder in (killed, tmp_path / "calm")
    )
    assert again == calm
    assert len(calm) == 2 * 6
