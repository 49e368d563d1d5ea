"""Twenty seeded games of ``gym-memory run``, the reference for every door."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from gym_memory.run.compare import compare
from gym_memory.run.config import EpisodeRow, RunConfig
from gym_memory.train.steps import RecordedEpisode, played

ENV, MEMORY, BUDGET = "Cooking?level=rl-1&max_steps=10&split=train", "arigraph", 200


class Games(NamedTuple):
    """The recorded episodes and their results, by seed."""

    recorded: dict[int, RecordedEpisode]
    results: dict[int, EpisodeRow]


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


def observation(row: Any) -> dict[str, Any]:
    """Return the parts of a recorded step that prompts show."""
    keys = ("text", "task", "inventory", "memory")
    valid = tuple(row.get("valid_actions", ()))
    return {k: row.get(k, "") for k in keys} | {"valid_actions": valid}
