"""Statistics: intervals with the promised coverage, counted failures, fair pairs."""

from __future__ import annotations

from typing import Any

import pytest

from gym_memory.core.errors import UnknownNameError
from gym_memory.run import EpisodeResult
from gym_memory.run.config import EpisodeRow, Job
from gym_memory.run.results.score import (
    differences,
    score_by_trial,
    step_curve,
    table,
    units,
)


def row(
    score: float,
    seed: int = 0,
    memory: str = "none",
    policy: str = "random",
    env: str = "E",
    protocol: str = "single_episode",
    trial: int = 0,
    **result: Any,
) -> EpisodeRow:
    values: dict[str, Any] = {"task_id": f"{env}/{seed}", "steps": 10, "curve": ((0, score),)}
    values |= {"normalized": score, "success": score == 1, **result}
    return EpisodeRow(Job(env, memory, policy, seed, protocol), trial, EpisodeResult(**values))


def test_failed_job_counts_as_zero_and_is_shown() -> None:
    rows = [row(1.0, seed=0), row(1.0, seed=1, failed="timeout", steps=3, tokens=99.0)]
    (line,) = table(units(rows))
    assert (line.n, line.n_failed) == (2, 1)
    assert line.score == 0.5
    assert line.success == 0.5
    assert line.steps == 10
    assert line.tokens == 0


def test_failed_jobs_alone_make_a_row() -> None:
    (line,) = table(units([row(0, failed="x"), row(0, seed=1, failed="x", cost_usd=2.0)]))
    assert (line.score, line.success, line.steps, line.tokens) == (0, 0, None, None)
    assert line.cost_usd == 2.0
    assert line.to_json()["score_ci"] is None


def test_the_row_has_the_promised_fields_in_order() -> None:
    record = table(units([row(0.5), row(1.0, seed=1)]))[0].to_json()
    promised = "env memory policy n n_failed score score_ci success steps memory_ms tokens cost_usd"
    assert list(record)[:12] == promised.split()
    assert record["score_ci"][0] <= record["score"] == 0.75 <= record["score_ci"][1]


def test_protocols_never_share_a_row() -> None:
    rows = [row(0.0), row(1.0, protocol="trials?k=2"), row(1.0, protocol="trials?k=2", trial=1)]
    assert [(r.protocol, r.score) for r in table(units(rows))] == [
        ("single_episode", 0.0),
        ("trials?k=2", 1.0),
    ]


def test_trials_count_the_last_and_show_all() -> None:
    spec = "trials?k=3"
    rows = [row(s, protocol=spec, trial=i) for i, s in enumerate((0.0, 0.25, 0.5))]
    rows += [row(0.5, 1, protocol=spec), row(0, 1, protocol=spec, trial=1, failed="died")]
    found = units(rows)
    assert [u.score for u in found] == [0.5, 0.0]
    assert [mean for mean, _ in score_by_trial(found)] == [0.25, 0.125, 0.25]


def test_differences_are_paired_by_seed_and_environment() -> None:
    # Seeds differ a lot, memories by a constant: only pairing sees it.
    rows = [row(0.1 * s, s, env=e) for e in "AB" for s in range(8)]
    rows += [row(0.1 * s + 0.05, s, "graph", env=e) for e in "AB" for s in range(8)]
    rows.append(row(1.0, 99, "graph", env="A"))  # has no partner
    gaps = differences(units(rows), "memory")
    assert [(g.name, g.against, g.env, g.n) for g in gaps] == [
        ("graph", "none", "A", 8),
        ("graph", "none", "B", 8),
        ("graph", "none", "all", 16),
    ]
    for gap in gaps:
        assert gap.difference == pytest.approx(0.05)
        assert 0.03 < gap.ci[0] < 0.05 < gap.ci[1] < 0.07
        assert gap.p < 0.001
        assert (gap.better, gap.equal, gap.worse) == (gap.n, 0, 0)


def test_a_failed_job_takes_part_in_its_pair() -> None:
    rows = [row(0.5, 0), row(0.5, 1), row(0.9, 0, "graph")]
    rows.append(row(0.0, 1, "graph", failed="died", task_id=""))
    (gap,) = differences(units(rows), "memory")
    assert gap.n == 2
    assert gap.difference == pytest.approx((0.4 - 0.5) / 2)


def test_other_tasks_are_no_pair() -> None:
    rows = [row(0.5, 0), row(0.5, 1), row(1, 0, "graph"), row(1, 1, "graph", task_id="other")]
    (gap,) = differences(units(rows), "memory")
    assert gap.n == 1
    assert gap.ci is None


def test_comparisons_have_the_right_baseline() -> None:
    rows = [row(0.1 * i, s, m) for i, m in enumerate(("b", "none", "c")) for s in (0, 1)]
    assert {(g.name, g.against) for g in differences(units(rows), "memory")} == {
        ("b", "none"),
        ("c", "none"),
    }
    assert {(g.name, g.against) for g in differences(units(rows), "memory", "c")} == {
        ("b", "c"),
        ("none", "c"),
    }
    assert differences(units(rows), "policy") == []
    with pytest.raises(UnknownNameError, match="unknown memory 'd'"):
        differences(units(rows), "memory", "d")


def test_policies_are_compared_within_a_memory() -> None:
    rows = [
        row(s, seed, m, p)
        for m in ("none", "b")
        for p, s in (("random", 0), ("best", 1))
        for seed in (0, 1)
    ]
    gaps = differences(units(rows), "policy")
    assert [(g.name, g.against, g.other, g.difference) for g in gaps] == [
        ("best", "random", "none", 1.0),
        ("best", "random", "b", 1.0),
    ]


def test_curves_keep_the_last_score() -> None:
    rows = [row(1, 0, curve=((0, 0.0), (4, 1.0)), steps=4), row(0, 1, curve=((0, 0.0),), steps=10)]
    steps, mean, band = step_curve(units(rows), 10)
    assert steps.tolist() == list(range(11))
    assert mean.tolist() == [0.0] * 4 + [0.5] * 7
    assert band.shape == (11, 2)
    assert (band[:, 0] <= mean).all()
    assert (mean <= band[:, 1]).all()


def test_times_and_tokens_are_weighted_by_steps() -> None:
    spec = "trials?k=2"
    rows = [
        row(0, protocol=spec, steps=9, tokens=100.0, memory_ms=1.0),
        row(0, protocol=spec, trial=1, steps=29, tokens=200.0, memory_ms=3.0),
    ]
    (unit,) = units(rows)
    assert (unit.tokens, unit.memory_ms) == pytest.approx((175.0, 2.5))


def test_repeated_seeds_are_named_and_count_once() -> None:
    rows = [row(float(s % 2), s, task_id=f"E/{s % 4}") for s in range(8)]
    (twice,) = table(units(rows))
    (once,) = table(units(rows[:4]))
    assert (twice.n, twice.n_tasks) == (8, 4)
    assert twice.score_ci == pytest.approx(once.score_ci)


def test_comparisons_are_corrected_for_their_number() -> None:
    def p_of(names: str) -> float:
        rows = [row(0.0, s) for s in range(6)]
        rows += [row(float(s < 5), s, name) for name in names for s in range(6)]
        return differences(units(rows), "memory")[0].p

    assert p_of("ab") == pytest.approx(2 * p_of("a"))
    assert p_of("abc") == pytest.approx(3 * p_of("a"))
