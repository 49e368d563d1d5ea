"""The plain reader on four batteries; each has a part that development never used."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.battery.run import LOCKS, is_locked, rows_of, score, summary


@pytest.mark.parametrize(("half", "least"), [("development", 0.95), ("untouched", 0.85)])
def test_the_facts_of_sentences_are_read(half: str, least: float) -> None:
    rows = list(rows_of(half))
    assert len(rows) == 150
    assert len({row["category"] for row in rows}) == 10
    recall, precision, _ = summary([score(row) for row in rows])
    assert min(recall, precision) >= least


@pytest.mark.parametrize("half", ["development", "untouched"])
def test_texts_of_fifteen_styles_are_read(half: str) -> None:
    rows = list(rows_of(half, "styles"))
    assert len(rows) == 150
    assert len({row["category"] for row in rows}) == 15
    recall, precision, _ = summary([score(row) for row in rows])
    assert recall >= 0.80
    assert precision >= 0.95


def test_texts_of_ten_kinds_are_read() -> None:
    rows = list(rows_of("development", "kinds"))
    assert len(rows) == 240
    recall, precision, _ = summary([score(row) for row in rows])
    assert min(recall, precision) >= 0.95


def test_texts_of_a_second_author_are_read() -> None:
    rows = list(rows_of("development", "second author"))
    assert len(rows) == 80
    recall, precision, _ = summary([score(row) for row in rows])
    assert recall >= 0.90
    assert precision >= 0.95


@pytest.mark.parametrize("battery", LOCKS)
def test_the_untouched_half_is_as_it_was_written(battery: str) -> None:
    assert is_locked(battery)
