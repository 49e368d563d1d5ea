"""Protocol ``stream``: its phases, one memory over environments, and tests that only read it."""

from __future__ import annotations

import pytest

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.run.jobs import EpisodeRow, Job, play_job
from gym_memory.run.streams import Stream

HOUSE = "ALFWorld?path=generated&split=train&max_steps=8"
SPEC = "stream?tasks=5&shown=2&again=2&probe=1&also=FakeHouse&tests=FakeHouse"


def play(spec: str, memory: str = "memrl?inner=history", seed: int = 0) -> list[EpisodeRow]:
    rows = list(play_job(Job(HOUSE, memory, "learner", seed, spec)))
    assert not any(row.result.failed for row in rows), rows[-1].result.detail
    return rows


def test_only_the_stream_changes_what_the_memory_keeps() -> None:
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


def test_a_seed_draws_the_order_and_no_task_is_played_twice() -> None:
    pytest.importorskip("alfworld", reason="needs the extra alfworld")
    orders = [[row.result.task_id for row in play("stream?tasks=5&shown=2", "none", s)]
              for s in (0, 0, 1)]  # fmt: skip
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])
    assert len(set(orders[0])) == 5


@pytest.mark.parametrize("given", [{"shown": 30}, {"again": 25}, {"tests": "FakeHouse"}])
def test_wrong_numbers(given: dict[str, object]) -> None:
    with pytest.raises(InvalidArgumentError, match="expected"):
        Stream(**given)  # type: ignore[arg-type]
