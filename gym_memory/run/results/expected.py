"""Expected rows of a panel: score and steps of each task, and a replay of some of them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.names import Spec
from gym_memory.panels.panel import Panel
from gym_memory.run.config import EpisodeRow, Job
from gym_memory.run.play import play_job
from gym_memory.run.results import intervals
from gym_memory.run.results.score import grouped, units

__all__ = ["ExpectedRow", "ReplayedJob", "expected_rows", "replay", "rows_of"]

_DIGITS = 4


class ExpectedRow(NamedTuple):
    """Scores of a memory and a policy on a panel, or on some of its tasks.

    ``scores`` and ``steps`` are keyed by seed, the index of the task in the panel.
    """

    memory: Spec
    policy: Spec
    budget: int
    scores: Mapping[int, float]
    steps: Mapping[int, int]

    @property
    def estimate(self) -> intervals.Estimate:
        """Return the mean score with its interval over tasks."""
        values = [*self.scores.values()]
        inside = all(0 <= value <= 1 for value in values)
        return (intervals.scores if inside else intervals.values)(values, [*self.scores])

    def to_json(self) -> dict[str, Any]:
        """Return JSON-able values, with the mean score and its interval."""
        found = self.estimate
        ci = found.interval()
        return {
            **{name: getattr(self, name) for name in ("memory", "policy", "budget")},
            "score": round(found.mean, _DIGITS),
            "score_ci": [round(end, _DIGITS) for end in ci] if ci else None,
            "seeds": [*self.scores],
            "scores": [*self.scores.values()],
            "steps": [*self.steps.values()],
        }


def expected_rows(panel: Panel) -> list[ExpectedRow]:
    """Return the rows that a panel expects."""
    try:
        return [
            ExpectedRow(
                Spec(record["memory"]), Spec(record["policy"]), record["budget"],
                dict(zip(record["seeds"], record["scores"], strict=True)),
                dict(zip(record["seeds"], record["steps"], strict=True)),
            )
            for record in panel.rows
        ]  # fmt: skip
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidArgumentError(f"expected rows in panel {panel.name!r}: {error!r}") from error


def rows_of(rows: Iterable[EpisodeRow]) -> list[ExpectedRow]:
    """Convert played rows to expected rows."""
    cells = grouped(units(rows), lambda unit: (unit.memory, unit.policy, unit.budget))
    return [
        ExpectedRow(
            memory, policy, budget,
            {unit.seed: round(unit.score, _DIGITS) for unit in group},
            {unit.seed: unit.steps for unit in group},
        )
        for (memory, policy, budget), group in cells.items()
    ]  # fmt: skip


class ReplayedJob(NamedTuple):
    """A job that was played again: score and steps as expected and as found."""

    job: Job
    expected: tuple[float, int]
    found: tuple[float, int]
    failed: str

    @property
    def equal(self) -> bool:
        """True if this installation plays the task as the panel expects."""
        return not self.failed and self.expected == self.found


def replay(panel: Panel, name: str, sample: int | None) -> Iterator[ReplayedJob]:
    """Replay ``sample`` tasks of each expected row, or all if None; the digest seeds the choice."""
    for row in expected_rows(panel):
        seeds: Sequence[int] = [*row.scores]
        if sample is not None and sample < len(seeds):
            chance = random.Random(f"{panel.digest} {row.memory} {row.policy}")
            seeds = sorted(chance.sample(seeds, sample))
        for seed in seeds:
            env = Spec.of("Panel", {"panel": name})
            job = Job(env, row.memory, row.policy, seed, Spec(panel.protocol), row.budget)
            (unit,) = units(play_job(job))
            found = round(unit.score, _DIGITS), unit.steps
            yield ReplayedJob(job, (row.scores[seed], row.steps[seed]), found, unit.failed)
