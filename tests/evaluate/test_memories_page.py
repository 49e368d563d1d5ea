"""The docs name every memory, layer and setting, and no other."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

import pytest

from gym_memory.evaluate.exam import KINDS
from gym_memory.memory import MEMORIES

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))
import memory_tables  # noqa: E402 - a module of the docs

PAGE = memory_tables.fill((DOCS / "memories.md").read_text(encoding="utf-8"))


def section(heading: str) -> str:
    return PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def cells(text: str) -> list[list[str]]:
    return [row.strip("|").split(" | ") for row in text.splitlines() if row.startswith("|")]


def names(cell: str) -> list[str]:
    return re.findall(r"`([\w-]+)", cell)


def test_every_memory_has_a_row() -> None:
    rows = cells(PAGE.partition("##")[0])[2:]
    assert [names(row[0])[0] for row in rows] == MEMORIES.builtin()
    assert all(len(row[1].strip()) > 20 for row in rows)
    lives = {
        name for row in cells(section("How long each layer lives"))[2:] for name in names(row[0])
    }
    assert lives == set(MEMORIES.builtin()) - {"none"}


@pytest.mark.parametrize("name", MEMORIES.builtin())
def test_every_setting_has_a_row_and_a_meaning(name: str) -> None:
    rows = cells(memory_tables.settings(name))[2:]
    parameters = list(inspect.signature(MEMORIES.get(name)).parameters)
    assert [names(row[0])[0] for row in rows] == parameters
    assert all(row[3].strip(" |") for row in rows), [row[0] for row in rows]


def test_a_memory_without_a_page_gets_one() -> None:
    page = memory_tables.page("history")
    assert page.startswith("# history\n\nLatest (action, observation) pairs")


def test_every_kind_of_question_has_a_row() -> None:
    assert [names(row[0])[0] for row in cells(section("The exam"))[2:]] == list(KINDS)
