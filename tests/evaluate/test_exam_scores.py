"""Marks, plots and files of an exam; the exam on real games."""

from __future__ import annotations

import dataclasses
import gzip
import json
from pathlib import Path

import pytest

from gym_memory.evaluate.exam import ExamAnswer, ExamConfig, ExamScore, exam_scores, examine
from gym_memory.evaluate.exam.questions import QuestionText, Unseen, Where
from gym_memory.evaluate.exam.scores import (
    ahead,
    by_age,
    by_game,
    by_length,
    exam_record,
    leads,
    write_exam,
)
from gym_memory.evaluate.exam.session import SILENCE


def answer(verdict: str = "right", **more: object) -> ExamAnswer:
    age = more.pop("age", 3)
    unseen = more.pop("unseen", False)
    text = QuestionText("?", "?!")
    question = Unseen(text, "", None, "x", "y") if unseen else Where(text, "box", age, "x")  # type: ignore[arg-type]
    base = ExamAnswer("E", "random", 0, 50, question, "unseen", "m", 100, 40, verdict)  # type: ignore[arg-type]
    return base._replace(**more)  # type: ignore[arg-type]


def test_shares_of_right_and_wrong() -> None:
    answers = [answer("right"), answer("wrong"), answer("silent"), answer("right", tokens=80)]
    where, every = exam_scores(answers)
    assert (where.kind, every.kind) == ("where", "all")
    assert (where.n, where.right, where.wrong, where.tokens) == (4, 0.5, 0.25, 50)
    assert where.unproven == 0
    assert exam_scores([answer("unproven"), answer("right")])[0].unproven == 0.5


def test_wordings_are_distinguished() -> None:
    answers = [answer("right", wording="seen"), answer("silent"), answer("right", wording="focus")]
    assert [(m.wording, m.right) for m in exam_scores(answers) if m.kind == "all"] == [
        ("seen", 1.0),
        ("unseen", 0.0),
        ("focus", 1.0),
    ]
    assert [row["right"] for row in by_game(answers)] == [0.0]  # of the unseen alone


def test_unseen_things_count_separately() -> None:
    answers = [answer("silent"), answer("right", unseen=True)]
    found = {mark.kind: mark for mark in exam_scores(answers)}
    assert found["all"].right == 0
    assert found["unseen"].right == 1


def test_intervals_are_over_games_not_questions() -> None:
    one_game = [answer("right"), answer("wrong")] * 50
    assert exam_scores(one_game)[0].ci is None
    games = [answer("right", seed=s) for s in range(10)]
    games += [answer("wrong", seed=s) for s in range(10, 20)]
    low, high = exam_scores(games * 20)[0].ci or (0, 0)
    assert 0.2 < low < 0.4  # as wide as for 20 values, not as for 400
    assert 0.6 < high < 0.8


def test_order_of_answers_does_not_matter() -> None:
    answers = [answer("right", seed=s, tokens=s) for s in range(5)] + [answer("wrong", seed=7)]
    assert exam_scores(answers) == exam_scores(answers[::-1])


def test_rows_by_age_length_and_game() -> None:
    answers = [
        answer("right", age=0),
        answer("wrong", age=5),
        answer("right", age=16, length=150),
        answer("right", unseen=True),
    ]
    assert [(row["age"], row["n"], row["right"]) for row in by_age(answers)] == [
        (5, 2, 0.5),
        (50, 1, 1.0),
    ]
    assert [(row["length"], row["n"]) for row in by_length(answers)] == [(50, 2), (150, 1)]
    assert by_game(answers)[0]["game"] == "E random"


def test_leading_memory_is_found() -> None:
    def mark(memory: str, right: float, kind: str = "where") -> ExamScore:
        return ExamScore(memory, 100, "unseen", kind, 10, right, 0.0, 0.0, None, 10.0)

    table = [mark("arigraph", 0.5), mark("history", 0.6), mark("none", 0.5), mark("oracle", 0.9)]
    table += [mark("history", 1.0, "near")]
    found = ahead(table, "arigraph", apart=["oracle"])
    assert [(better.memory, other.right) for better, other in found] == [("history", 0.5)]
    assert leads(table) == ["history is ahead of arigraph in where at 100 (0.60, 0.50)."]


@pytest.mark.slow
def test_files_of_an_exam(tmp_path: Path) -> None:
    config = ExamConfig(
        ("FakeHouse",), ("none", "arigraph"), ("random",), (0, 1), (50, 500), (10, 40)
    )
    answers = list(examine(config))
    first, second = tmp_path / "a", tmp_path / "b"
    paths = write_exam(first, config, answers)
    write_exam(second, config, list(examine(config)))
    for path in paths:
        assert path.read_bytes() == (second / path.name).read_bytes(), path.name
    record = json.loads(paths[0].read_text())
    assert record == json.loads(json.dumps(exam_record(config, answers)))
    assert record["settings"] == json.loads(json.dumps(dataclasses.asdict(config)))
    lines = [json.loads(line) for line in gzip.decompress(paths[1].read_bytes()).splitlines()]
    assert len(lines) == len({(a.seed, a.length, a.question, a.wording) for a in answers})
    assert {line["wording"] for line in lines} == {
        "seen",
        "unseen",
        "partial",
        "everyday",
    }  # who plays by chance has no plan
    for line in lines:
        assert set(line["answers"]) == {"none", "arigraph"}
        assert all(len(letters) == 2 for letters in line["answers"].values())
        assert line["answers"]["none"] == ("++" if line["kind"] in SILENCE else "..")
    assert "| arigraph | 1.00 |" in paths[2].read_text()
    pictures = [path.read_text() for path in paths if path.suffix == ".svg"]
    assert [drawn.count('class="line') > 2 for drawn in pictures] == [True, True]


def test_exam_without_questions_is_kept_without_plots(tmp_path: Path) -> None:
    config = ExamConfig(
        envs=("TreasureHunt?level=easy",), memories=("none",), policies=("random",), seeds=(0,),
        budgets=(100,), lengths=(5,), wordings=("focus",),
    )  # fmt: skip
    paths = write_exam(tmp_path, config, [])  # who plays by chance has no plan
    assert [path.name for path in paths] == ["exam.json", "questions.jsonl.gz", "exam.md"]
    page = paths[2].read_text()
    assert "Questions, focus: none." in page
    assert "| none | – | – | – | – |" in page
    assert ".svg" not in page


@pytest.fixture(scope="module")
def real() -> dict[tuple[str, int, str], ExamScore]:
    pytest.importorskip("textworld")
    config = ExamConfig(
        ("TreasureHunt?level=easy&split=test", "Cooking?level=medium&split=test"),
        ("none", "history", "arigraph"),
        ("planner", "random"),
        (0,),
        (500, 20_000),
        (60,),
        per_kind=6,
        wordings=("seen",),
    )
    return {(mark.memory, mark.budget, mark.kind): mark for mark in exam_scores(examine(config))}


@pytest.mark.slow
def test_arigraph_knows_real_games_at_500_tokens(
    real: dict[tuple[str, int, str], ExamScore],
) -> None:
    for kind in ("where", "read", "near", "past", "did", "order"):
        assert real["arigraph", 500, kind].n >= 12
        assert real["arigraph", 500, kind].right >= 0.95, kind
    assert real["arigraph", 500, "all"].wrong <= 0.02
    assert real["arigraph", 500, "unseen"].right == 1


@pytest.mark.slow
def test_fitting_full_history_answers_everything(
    real: dict[tuple[str, int, str], ExamScore],
) -> None:
    assert real["history", 20_000, "all"].right >= 0.98
    assert real["history", 500, "all"].right < 0.5
    assert real["none", 20_000, "all"].right == 0
