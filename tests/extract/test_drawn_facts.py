"""Facts that were drawn and judged: the shares in the benchmark's table are those of the files."""

from __future__ import annotations

import csv
import gzip
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "foreign"
TABLE = re.compile(r"^\| (agentodyssey|colossal-cave|zork1) .*\| (\d+) of 100 \|", re.MULTILINE)
SHARES = dict(TABLE.findall((FOLDER / "README.md").read_text("utf-8")))
with gzip.open(FOLDER / "facts.csv.gz", "rt", newline="", encoding="utf-8") as file:
    DRAWN = list(csv.DictReader(file))


@pytest.mark.parametrize("name", ["agentodyssey", "colossal-cave", "zork1"])
def test_the_table_states_the_share_of_right_facts(name: str) -> None:
    rows = [row for row in DRAWN if row["set"] == name]
    assert len(rows) == 100
    assert {row["verdict"] for row in rows} <= {"y", "n"}
    assert all(row["why"] for row in rows if row["verdict"] == "n")
    right = sum(row["verdict"] == "y" for row in rows)
    assert right == int(SHARES[name]) >= 90
