"""README's tables are those that the benchmarks' numbers make."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from tables import README, TABLES, differing


def test_readme_has_the_tables_that_the_numbers_make() -> None:
    new, wrong = differing(README.read_text(encoding="utf-8"))
    assert not wrong, f"run 'python benchmarks/tables.py': {', '.join(wrong)}"
    assert new == README.read_text(encoding="utf-8")


def test_a_number_that_was_changed_by_hand_is_found() -> None:
    text = README.read_text(encoding="utf-8")
    assert differing(text.replace("| 0.33 |", "| 0.34 |"))[1]
    missing = text.replace("<!-- table rl -->", "")
    assert differing(missing)[1] == ["rl"]
    emptied = text[: text.index("\n| games of others")] + text[text.index("<!-- end -->") :]
    assert differing(emptied) == (text, ["foreign_games"])
    assert len(TABLES) >= 4
