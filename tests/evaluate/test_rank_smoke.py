"""The tier smoke: its results come from those of standard, with the same order."""

from __future__ import annotations

import pytest
from agreement import agreement, kendall
from rank import outcome, shipped_cells, taken

from gym_memory.core.errors import ResultsError
from gym_memory.evaluate.rank.suite import load_suite


def test_results_of_smoke_are_those_of_standard() -> None:
    standard, smoke = load_suite("standard"), load_suite("smoke")
    small, large = shipped_cells("smoke"), shipped_cells("standard")
    assert list(small) == list(large)
    for memory, cells in large.items():
        assert outcome(taken(cells, standard, smoke)) == outcome(small[memory]), memory


def test_results_with_failures_are_not_taken() -> None:
    standard, smoke = load_suite("standard"), load_suite("smoke")
    cells = shipped_cells("standard")["none"]
    broken = [cells[0].__class__(**{**vars(cells[0]), "failed": 1}), *cells[1:]]
    with pytest.raises(ResultsError, match="no failure"):
        taken(broken, standard, smoke)


@pytest.mark.slow
def test_smoke_orders_memories_as_standard_on_other_seeds() -> None:
    found = dict(agreement())
    tau = next(value for what, value in found.items() if what.startswith("Kendall"))
    assert float(tau) >= 0.9
    top, lines = next(v for what, v in found.items() if "lines" in what).split(" of ")
    assert 3 * int(top) <= int(lines)


def test_tau_counts_pairs_and_corrects_for_ties() -> None:
    assert kendall([1, 2, 3, 4], [4, 3, 2, 1]) == -1
    assert kendall([1, 2, 3], [1, 3, 2]) == pytest.approx(1 / 3)
    assert kendall([1, 1, 2, 3], [1, 2, 3, 4]) == pytest.approx(5 / 30**0.5)
