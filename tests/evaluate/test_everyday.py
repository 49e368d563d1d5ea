"""Hand-written questions: all of them are asked, and the kept rows are reproduced."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("textworld")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "exam"))
from everyday import EPISODES, MEMORIES, ROWS, rows

KEPT: list[dict[str, Any]] = json.loads(ROWS.read_text("utf-8"))["rows"]


def test_each_question_was_put_to_each_memory() -> None:
    texts = [question["text"] for episode in EPISODES for question in episode["questions"]]
    assert len(set(texts)) == len(texts) == 60
    for memory in MEMORIES:
        assert [row["question"] for row in KEPT if row["memory"] == memory] == texts


def test_arigraph_answers_nine_of_ten() -> None:
    verdicts = [row["verdict"] for row in KEPT if row["memory"] == "arigraph"]
    assert verdicts.count("right") >= 0.9 * len(verdicts)


@pytest.mark.slow
@pytest.mark.parametrize("episode", EPISODES[3:4], ids=lambda episode: episode["env"])
def test_kept_rows_are_reproduced(episode: dict[str, Any]) -> None:
    kept = [row for row in KEPT if row["env"] == episode["env"]]
    assert list(rows(episode, MEMORIES, 500)) == kept
