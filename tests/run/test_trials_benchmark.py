"""The benchmark of trials: one small setting of it, played for real."""

from __future__ import annotations

import dataclasses
from types import ModuleType

import pytest
from benchmark import load

from gym_memory.core.names import Spec
from gym_memory.memory import make_memory
from gym_memory.run.play import play_job


@pytest.fixture(scope="module")
def trials() -> ModuleType:
    return load("benchmarks/trials.py")


@pytest.mark.slow
def test_a_small_setting(trials: ModuleType) -> None:
    config = dataclasses.replace(trials.CONFIG, envs=("FakeHouse",), seeds=(0, 1, 2))
    rows = [row for job in config.jobs() for row in play_job(job)]
    summary = trials.summarize(rows, config)
    cells = {(cell["env"], cell["memory"]): cell for cell in summary["cells"]}
    assert len(cells) == 2 * len(config.memories)
    for (_, memory), cell in cells.items():
        assert (cell["n"], cell["failed"], len(cell["trials"])) == (3, 0, 5)
        mine = [r.result.normalized for r in rows if r.job.memory == memory]
        assert cell["trials"][0]["score"] == pytest.approx(sum(mine[::5]) / 3, abs=1e-4)
        gap = cell["trials"][4]["score"] - cell["trials"][0]["score"]
        assert cell["last - first"]["mean"] == pytest.approx(gap, abs=2e-4)
        low, high = cell["last - first"]["ci"]
        assert low <= cell["last - first"]["mean"] <= high
    assert "last - placebo" in cells["all", "clin?inner=history"]
    table = trials.markdown(summary)
    assert table.count("\n") == 1 + len(cells)
    assert "| FakeHouse | `clin?inner=history` |" in table


def test_memories_differ_in_their_lessons_alone(trials: ModuleType) -> None:
    assert set(trials.CONTROLS) <= set(trials.CONFIG.memories)
    for spec in trials.CONFIG.memories:
        name, settings = Spec(spec).parts
        if name not in ("none", "history"):
            inner = make_memory(settings.get("of", spec)).inner
            assert inner.name == "history"
            assert inner.window is None
