"""Many episodes at once in a worker: the same episodes, and each is accounted for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_pool import clockless, config, outcomes

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.trajectory import read_trajectory
from gym_memory.run.compare import compare
from gym_memory.run.pool import Limits, WorkerPool


@pytest.mark.slow
def test_results_are_equal_at_any_concurrency(tmp_path: Path) -> None:
    setup = config("random", "bad?how=raise", seeds=6, memories=("none", "arigraph"))
    one = compare(setup, tmp_path / "one", workers=1)
    many = compare(setup, tmp_path / "many", workers=2, concurrency=9)
    assert clockless(one) == clockless(many)
    names = sorted(path.name for path in (tmp_path / "one" / "steps").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "many" / "steps").iterdir())
    for name in names:
        first, second = (tmp_path / folder / "steps" / name for folder in ("one", "many"))
        assert list(read_trajectory(first)) == list(read_trajectory(second))


@pytest.mark.slow
def test_neighbours_of_a_dead_episode_are_replayed(tmp_path: Path) -> None:
    setup = config("bad?how=kill", "walkthrough", seeds=3)
    rows = compare(setup, tmp_path, workers=1, concurrency=6)
    assert len(rows) == 6
    failed = {key: reason for key, reason in outcomes(rows).items() if reason}
    assert failed == {("bad?how=kill", 1): "worker died of SIGKILL"}
    assert all(row.result.success for row in rows if not row.result.failed)


@pytest.mark.slow
def test_neighbours_of_a_hanging_episode_are_replayed(tmp_path: Path, clock: Any) -> None:
    setup = config("bad?how=hang", "walkthrough", seeds=3)
    at_once = {"workers": 1, "concurrency": 6, "on_progress": clock.progress}
    rows = compare(setup, tmp_path, timeout=6.0, **at_once)
    failed = {key: reason for key, reason in outcomes(rows).items() if reason}
    assert failed == {("bad?how=hang", 1): "timeout: no end within 6 s"}
    hung = next(row.result for row in rows if row.result.failed)
    assert "run_plugin.py" in hung.detail


def test_fewer_at_once_than_workers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="concurrency"):
        WorkerPool(2, limits_in_time=Limits(5), logs=tmp_path, concurrency=1)
