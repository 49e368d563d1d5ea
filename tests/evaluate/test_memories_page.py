"""docs/memories.md names every memory and every parameter that there is, and no other."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from gym_memory.evaluate.exam import KINDS
from gym_memory.memory import MEMORIES

PAGE = (Path(__file__).parents[2] / "docs" / "memories.md").read_text(encoding="utf-8")
SAME_AS_ARIGRAPH = {"oracle", "shuffled", "adversarial", "noise", "present"}


def section(heading: str) -> str:
    return PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def cells(text: str) -> list[list[str]]:
    return [row.strip("|").split("|") for row in text.splitlines() if row.startswith("|")]


def names(cell: str) -> list[str]:
    return re.findall(r"`([\w-]+)", cell)


def test_every_memory_has_a_row() -> None:
    builtin = set(MEMORIES.builtin())
    assert {name for row in cells(PAGE.partition("##")[0])[2:] for name in names(row[0])} == builtin
    lives = {
        name for row in cells(section("How long each layer lives"))[2:] for name in names(row[0])
    }
    assert lives == builtin - {"none"}


def test_every_parameter_has_a_row() -> None:
    told: dict[str, set[str]] = {}
    memory = ""
    for row in cells(section("Parameters"))[2:]:
        memory = (names(row[0]) or [memory])[0]
        told.setdefault(memory, set()).update(names(row[1]))
    for name in MEMORIES.builtin():
        parameters = set(inspect.signature(MEMORIES.get(name)).parameters)
        if name not in SAME_AS_ARIGRAPH:
            assert told.pop(name, set()) == parameters, name
    assert told == {}


def test_every_kind_of_question_has_a_row() -> None:
    assert [names(row[0])[0] for row in cells(section("The exam"))[2:]] == list(KINDS)
