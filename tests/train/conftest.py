"""Twenty seeded games as ``gym-memory run`` plays them: what every door must show too."""

from __future__ import annotations

import pytest
from twenty import BUDGET, ENV, MEMORY, Games

from gym_memory.run.compare import compare
from gym_memory.run.config import RunConfig
from gym_memory.train.steps import played


@pytest.fixture(scope="session")
def games(tmp_path_factory: pytest.TempPathFactory) -> Games:
    pytest.importorskip("textworld")
    out = tmp_path_factory.mktemp("results") / "twenty"
    config = RunConfig((ENV,), (MEMORY,), ("walkthrough",), tuple(range(20)), budgets=(BUDGET,))
    rows = compare(config, out, workers=1)
    recorded = {episode.job.seed: episode for episode in played(out)}
    assert len(recorded) == len(rows) == 20
    assert sum(row.result.normalized for row in rows) > 0
    return Games(recorded, {row.job.seed: row for row in rows})
