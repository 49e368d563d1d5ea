"""Trainings are reported: curves of several runs in one figure, against steps and time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gym_memory.cli import main
from gym_memory.core.errors import ResultsError
from gym_memory.run.results.learning import is_training, learning_page, read_training

CONFIG = {"baseline": "drrn", "env": "Fetch?level=easy", "memory": "arigraph"}


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    made = []
    for seed in (1, 2):
        folder = tmp_path / f"drrn-{seed}"
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps(CONFIG))
        rows = [
            {"steps": n * 500, "train_score": None if n == 1 else 0.2 * seed, "loss": 0.5 / n,
             "valid_score": 0.1 * n * seed, "cpu_seconds": n * 10.0 * seed}
            for n in (1, 2, 3)
        ]  # fmt: skip
        (folder / "curve.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        made.append(folder)
    return made


def test_report_of_trainings_overlays_their_curves(folders: list[Path], capsys: Any) -> None:
    out = folders[0].parent / "both"
    main_ends(["report", *map(str, folders), "--out", str(out)])
    page = (out / "learning.html").read_text()
    for title in ("Score on the valid games", "Score of training", "Loss", "steps per CPU second"):
        assert title in page
    assert page.count("against CPU seconds") >= 4
    assert {"drrn-1", "drrn-2"} <= {word for word in ("drrn-1", "drrn-2") if word in page}
    figure = (out / "valid_score.svg").read_text()
    assert figure.count('class="line ') == 4  # two runs, against steps and time
    text = capsys.readouterr().out
    assert "drrn-2" in text
    assert "0.600" in text


def test_folder_of_trainings_reports_them_all(folders: list[Path], capsys: Any) -> None:
    main_ends(["report", str(folders[0].parent)])
    assert (folders[0].parent / "learning.html").is_file()
    text = capsys.readouterr().out
    assert "drrn-1" in text
    assert "drrn-2" in text


def main_ends(words: list[str], status: int = 0) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert (ended.value.code or 0) == status


def test_speed_is_that_since_the_last_measurement(folders: list[Path]) -> None:
    run = read_training(folders[1])
    assert [row["speed"] for row in run.rows] == [25.0, 25.0, 25.0]
    assert run.best["steps"] == 1500


def test_training_without_a_measurement_has_a_page(folders: list[Path]) -> None:
    (folders[0] / "curve.jsonl").unlink()
    assert is_training(folders[0])
    run = read_training(folders[0])
    assert run.rows == []
    assert "drrn-1" in learning_page([run])


def test_runs_and_trainings_are_reported_apart(folders: list[Path], capsys: Any) -> None:
    other = folders[0].parent / "run"
    other.mkdir()
    (other / "config.json").write_text('{"format": 1}')
    assert not is_training(other)
    main_ends(["report", str(folders[0]), str(other), "--out", str(other)], status=2)
    assert "runs or trainings, got both" in capsys.readouterr().err


@pytest.mark.parametrize("row", ['{"steps": "x", "cpu_seconds": 1}', "{}", "[", '{"steps": 1}'])
def test_damaged_curve_is_one_error(folders: list[Path], row: str) -> None:
    (folders[0] / "curve.jsonl").write_text(row + "\n")
    with pytest.raises(ResultsError, match="expected a training"):
        read_training(folders[0])
