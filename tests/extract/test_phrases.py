"""Phrases of many authors, a table of data: what each of them states."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gym_memory.extract.notes import read_writing
from gym_memory.extract.notes.recipes import read_prose_recipe
from gym_memory.extract.notes.statements import read_statements
from gym_memory.graph.schema import QUOTED

TABLE = json.loads(Path(__file__).with_name("phrases.json").read_text(encoding="utf-8"))
"""``by`` names what reads the ``texts`` of a row: statements, writing (a whole note), or recipe
(only what needs to be done); ``known`` is what play has shown of names."""


def read(row: dict[str, Any], text: str) -> set[str]:
    kind_of = row["known"].get
    if row["by"] == "statements":
        mentions = read_statements(text, kind_of, note=row["note"]).facts
    elif row["by"] == "writing":
        mentions = read_writing("label", text, kind_of)
    else:
        mentions = read_prose_recipe(text, kind_of)
    ignored = QUOTED if row["by"] == "writing" else ("requires",) * (row["by"] == "recipe")
    return {" | ".join(m.triple) for m in mentions if m.triple.relation not in ignored}


@pytest.mark.parametrize(
    ("row", "text"),
    [
        pytest.param(row, text, id=f"{row['group']}: {text}")
        for row in TABLE
        for text in row["texts"]
    ],
)
def test_a_phrase_states_its_facts(row: dict[str, Any], text: str) -> None:
    assert read(row, text) == set(row["facts"])
