"""Intervals with the promised coverage, over tasks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_memory.run.results.intervals import gaps, holm, over_worlds, scores, values

SCORES = st.lists(st.floats(0, 1, allow_subnormal=False), min_size=2, max_size=30)
GAPS = st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=2, max_size=30)


@pytest.mark.slow
@settings(derandomize=True, max_examples=100, deadline=None)
@given(SCORES, GAPS)
def test_an_interval_holds_the_mean_and_stays_in_range(one: list[float], two: list[float]) -> None:
    for data, estimate, least in ((one, scores, 0), (two, gaps, -1)):
        low, high = estimate(data).interval() or (9, 9)
        assert least <= low <= np.mean(data) + 1e-9
        assert np.mean(data) - 1e-9 <= high <= 1


@settings(derandomize=True, max_examples=60, deadline=None)
@given(SCORES, st.randoms(use_true_random=False))
def test_the_order_of_values_does_not_matter(data: list[float], random: Any) -> None:
    rows = [(value, i % 3, i % 2) for i, value in enumerate(data)]
    mixed = list(rows)
    random.shuffle(mixed)
    for estimate in (scores, gaps, values):
        one, two = (estimate(*zip(*some, strict=True)).interval() for some in (rows, mixed))
        assert one == pytest.approx(two, abs=1e-12)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(GAPS)
def test_p_value_agrees_with_the_interval(data: list[float]) -> None:
    estimate = gaps(data)
    low, high = estimate.interval() or (0, 0)
    near = min(abs(low), abs(high)) < 1e-6
    assert near or (estimate.p_value() < 0.05) == (low > 0 or high < 0)


def test_agreement_leaves_doubt_and_one_value_no_interval() -> None:
    assert scores([1.0] * 20).interval() == pytest.approx((0.839, 1.0), abs=1e-3)
    assert scores([0.0] * 5).interval() == pytest.approx((0.0, 0.434), abs=1e-3)
    assert gaps([0.0] * 20).interval() == pytest.approx((-0.161, 0.161), abs=1e-3)
    assert scores([0.25]).interval() is None
    assert scores([]).interval() is None
    assert gaps([0.5]).p_value() == 1.0


def test_coins_have_wilsons_interval() -> None:
    # The roots of (0.3 - m)^2 = 1.96^2 m (1 - m) / 10.
    assert scores([1] * 3 + [0] * 7).interval() == pytest.approx((0.1078, 0.6032), abs=1e-4)


def test_values_without_bounds_have_students_interval() -> None:
    # t(9) = 2.262; the sample has mean 5.5 and standard error 0.957.
    assert values(range(1, 11)).interval() == pytest.approx((3.334, 7.666), abs=5e-3)


def test_a_game_played_twice_counts_once() -> None:
    once = scores([1.0, 0.0, 1.0, 1.0, 0.0])
    twice = scores([1.0, 0.0, 1.0, 1.0, 0.0] * 2, [0, 1, 2, 3, 4] * 2)
    assert twice.clusters == 5
    assert twice.interval() == pytest.approx(once.interval())
    wrong = scores([1.0, 0.0, 1.0, 1.0, 0.0] * 2)
    assert wrong.interval()[0] > twice.interval()[0]  # type: ignore[index]


def test_one_training_on_many_games_is_one_training() -> None:
    good_or_bad = np.repeat([0.9, 0.1, 0.8], 50)
    games, runs = np.tile(range(50), 3), np.repeat(range(3), 50)
    both = scores(good_or_bad, games, runs)
    assert both.clusters == 3
    (low, high), (least, most) = both.interval(), scores(good_or_bad, games).interval()  # type: ignore[misc]
    assert high - low > 2 * (most - least)


def test_doubt_about_gap_is_half_training_not_half_game() -> None:
    # Two trainings gain .4 each over twenty games, where single games gain from -.6 to 1.
    by_game = np.tile([1.0, -0.6, 0.8, 0.4], 5)
    games, runs = np.tile(range(20), 2), np.repeat(range(2), 20)
    estimate = gaps(np.tile(by_game, 2), games, runs)
    # Clustered by game 1/19, by training 0, less 1/39 for the forty cells; t(4) = 2.776.
    variance = by_game.var() * (1 / 19 - 1 / 39)
    wide = 2.776 * np.sqrt((2 * variance + 0.5 * 0.4**2) / (1.5 * 2))
    assert estimate.clusters == 2
    assert estimate.interval() == pytest.approx((0.4 - wide, min(1, 0.4 + wide)), abs=3e-3)


def test_higher_level_is_wider_and_more_values_are_narrower() -> None:
    rng = np.random.default_rng(1)
    few, many = rng.random(10), rng.random(1000)

    def width(data: Any, level: float = 0.95) -> float:
        low, high = scores(data).interval(level) or (0, 0)
        return high - low

    assert width(few, 0.99) > width(few) > width(few, 0.5)
    assert width(many) == pytest.approx(2 * 1.96 * many.std() / np.sqrt(1000), rel=0.05)


@pytest.mark.parametrize("n", [10, 30])
def test_interval_covers_as_often_as_promised(n: int) -> None:
    """A part of ``benchmarks/intervals.py``, which has all of it."""
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(400):
        skill = rng.beta(2, 1, n)  # three tries at each game
        tries = rng.random((3, n)) < skill
        low, high = scores(tries.ravel(), np.tile(range(n), 3)).interval() or (0, 0)
        hits += low <= 2 / 3 <= high
    assert 0.92 <= hits / 400 <= 0.98


def test_holm_multiplies_the_smallest_by_their_number() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_world_is_the_unit_whatever_its_number_of_games() -> None:
    few, many = over_worlds([0.0, 0.1], "AB"), over_worlds([0.0] * 9 + [0.1], "AAAAAAAAAB")
    assert (few.mean, few.clusters) == (many.mean, many.clusters) == (0.05, 2)
    assert few.interval() == many.interval() == pytest.approx((-0.585, 0.685), abs=0.001)
    assert over_worlds([0.1, 0.2], "AA").interval() is None
    assert over_worlds([-0.5, 0.5], "AB").interval() == (-1, 1)


@pytest.mark.parametrize("worlds", [2, 5, 7])
def test_interval_over_worlds_covers_where_games_agree(worlds: int) -> None:
    rng = np.random.default_rng(worlds)
    labels = np.repeat(range(worlds), 8).tolist()
    hits = []
    for _ in range(400):
        means = np.repeat(0.1 + 0.2 * rng.standard_normal(worlds), 8)
        found = over_worlds(means + 0.1 * rng.standard_normal(8 * worlds), labels).interval()
        hits.append(found is not None and found[0] <= 0.1 <= found[1])
    assert np.mean(hits) >= 0.93
