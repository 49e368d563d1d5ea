"""Test that the tables of every page are made from the benchmarks' data."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from figures import FIGURES
from tables import PAGES, RESULTS, differing

from gym_memory import __version__

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_tables_of_a_page_equal_the_data(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    new, wrong = differing(page, PAGES[path])
    assert not wrong, f"run 'python benchmarks/tables.py': {', '.join(wrong)}"
    assert new == page


@pytest.mark.parametrize("path", FIGURES, ids=lambda path: path.stem)
def test_figure_equals_the_data(path: Path) -> None:
    assert FIGURES[path]() == path.read_text(encoding="utf-8"), "run 'python benchmarks/tables.py'"


def test_a_number_that_was_changed_by_hand_is_found() -> None:
    path = RESULTS / "other-authors.md"
    page, tables = path.read_text(encoding="utf-8"), PAGES[path]
    assert differing(page.replace("| 0.33 |", "| 0.34 |"), tables)[1]
    missing = page.replace("<!-- table foreign_games -->", "")
    assert differing(missing, tables)[1] == ["foreign_games"]
    start = page.index("\n| games of others")
    emptied = page[:start] + page[page.index("<!-- end -->", start) :]
    assert differing(emptied, tables) == (page, ["foreign_games"])


def test_readme_has_at_most_1000_words_and_three_tables() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(page.split()) <= 1000
    assert len(re.findall(r"^\|[-:|]+\|$", page, re.MULTILINE)) == 3


def test_the_version_is_the_same_in_changelog_and_citation() -> None:
    changelog, citation = (
        (ROOT / name).read_text(encoding="utf-8") for name in ("CHANGELOG.md", "CITATION.cff")
    )
    release = __version__.partition(".dev")[0]
    assert f"\nversion: {__version__}\n" in citation
    assert "\n## Unreleased\n" in changelog
    assert ("dev" in __version__) != bool(
        re.search(rf"^## {re.escape(release)} \(\d{{4}}-\d\d-\d\d\)$", changelog, re.MULTILINE)
    )
    assert max(map(len, changelog.splitlines())) <= 120
