"""README's tables are those that the benchmarks' numbers make."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from tables import PAGES, README, differing


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.parent.name)
def test_a_page_has_the_tables_that_the_numbers_make(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    new, wrong = differing(page, PAGES[path])
    assert not wrong, f"run 'python benchmarks/tables.py': {', '.join(wrong)}"
    assert new == page


def test_a_number_that_was_changed_by_hand_is_found() -> None:
    page, tables = README.read_text(encoding="utf-8"), PAGES[README]
    assert differing(page.replace("| 0.33 |", "| 0.34 |"), tables)[1]
    missing = page.replace("<!-- table rl -->", "")
    assert differing(missing, tables)[1] == ["rl"]
    start = page.index("\n| games of others")
    emptied = page[:start] + page[page.index("<!-- end -->", start) :]
    assert differing(emptied, tables) == (page, ["foreign_games"])
    assert len(tables) >= 4
