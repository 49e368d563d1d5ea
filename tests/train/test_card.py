"""A card describes a run or a training from its own files, with its use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gym_memory.core.errors import ResultsError
from gym_memory.run.compare import compare
from gym_memory.run.config import RunConfig
from gym_memory.train.export import export, write_card

CONFIG = RunConfig(("Fetch?level=easy",), ("none", "arigraph"), ("planner",), (0, 1))


def front_of(card: Path) -> dict[str, object]:
    yaml = pytest.importorskip("yaml", reason="needs the extra llm")
    _, front, _ = card.read_text().split("---\n", 2)
    return dict(yaml.safe_load(front))


@pytest.mark.slow
def test_card_of_run_has_its_scores_command_and_files(tmp_path: Path) -> None:
    rows = compare(CONFIG, tmp_path / "a: b")
    place, count = export(tmp_path / "a: b", "card")
    assert count == 1
    text = Path(place).read_text()
    steps = sum(row.result.steps for row in rows)
    assert f"4 episodes with {steps} steps" in text
    assert "| Fetch?level=easy | arigraph | planner | 2 | 0 | 1.000 |" in text
    assert CONFIG.command("results/NAME") in text
    assert "gym-memory export FOLDER" in text
    front = front_of(Path(place))
    assert front["pretty_name"] == "Episodes of a: b"
    assert front["size_categories"] == ["n<1K"]
    assert front["license"] == "other"
    (tmp_path / "a: b" / "steps.parquet").write_bytes(b"")
    assert "- `steps.parquet`" in write_card(tmp_path / "a: b", tmp_path / "x.md").read_text()


@pytest.mark.slow
def test_folder_with_card_opens_in_datasets(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets", reason="needs the extra export")
    folder = tmp_path / "first"
    compare(CONFIG, folder, workers=1)
    rows = {form: export(folder, form)[1] for form in ("stepwise", "chat")}
    export(folder, "card")
    cache = str(tmp_path / "cache")
    for form, count in rows.items():
        found = datasets.load_dataset(str(folder), form, split="train", cache_dir=cache)
        assert len(found) == count
    assert "reply" in datasets.load_dataset(str(folder), cache_dir=cache)["train"].column_names


@pytest.mark.slow
def test_card_of_player_names_a_command_that_plays_it(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs the extra rl")
    from typer.testing import CliRunner

    from gym_memory.cli import app

    words = ["train", "drrn", "-e", "Fetch?level=easy", "-m", "none", "--steps", "40"]
    words += ["--games", "2", "--valid-games", "1", "--valid-max-steps", "5"]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "player")])
    assert done.exit_code == 0, done.output
    card = write_card(tmp_path / "player")
    text = card.read_text()
    best = json.loads((tmp_path / "player" / "result.json").read_text())["best"]
    assert f"| valid_score | {best['valid_score']} |" in text
    assert 'run -p drrn --checkpoint FOLDER -e "Fetch?level=easy&split=test" -m "none"' in text
    assert front_of(card)["library_name"] == "gym-memory"
    assert front_of(card)["license"] == "mit"
    played = ["run", "-p", "drrn", "--checkpoint", str(tmp_path / "player"), "-m", "none"]
    played += ["-e", "Fetch?level=easy&split=test", "--out", str(tmp_path / "r")]
    assert CliRunner().invoke(app, played).exit_code == 0


def test_any_other_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="expected a results folder"):
        write_card(tmp_path)
