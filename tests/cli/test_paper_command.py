"""Published experiments: well formed, planned as the papers have them, run and compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gym_memory.cli import main
from gym_memory.core.errors import MissingDependencyError, UnknownNameError
from gym_memory.memory import make_memory
from gym_memory.papers.comparison import TableCell
from gym_memory.papers.experiments import (
    PaperExperiment,
    PublishedNumbers,
    experiment_names,
    load_experiment,
)
from gym_memory.papers.measures import TokensPerStep
from gym_memory.run.config import Job
from gym_memory.testing.chat import ScriptedServer

RAW = ("trials", "levels")
"""Measures that are no share."""
MODEL = {"model": "scripted", "base_url": "http://127.0.0.1:9/v1"}


@pytest.mark.slow
@pytest.mark.parametrize("name", experiment_names())
def test_experiment_plays_the_rows_of_the_paper(name: str, tmp_path: Path) -> None:
    experiment = load_experiment(name)
    parts = experiment.plan(MODEL, memory_llm=False, folder=tmp_path)
    played = [cell for part in parts for cell in part.cells.values()]
    chosen = {("best", name) for name in experiment.best}
    single = {cell for cell in experiment.expected if cell.env not in ("all", *experiment.groups)}
    assert {cell for cell in single if cell[1:] not in chosen} <= set(played)
    agents = {cell[1:] for cell in played} | chosen
    assert {policy for own in experiment.best.values() for policy in own} <= {a[1] for a in agents}
    assert {cell[1:] for cell in experiment.expected} <= agents
    assert experiment.base is None or experiment.base in agents
    assert all(part.config.budgets[0] >= 1000 for part in parts)
    names = [part.name for part in parts]
    assert len(set(names)) == len(parts)
    for at, part in enumerate(parts):
        assert set(part.form) <= set(names[:at])
    assert experiment.tokens.keys() <= {cell.memory for cell in played}
    for expected in experiment.expected.values():
        assert expected
        assert all(-1 <= expected[name] <= 1 for name in expected if name not in RAW)
    for part in parts:
        for job in {(job.env, job.memory): job for job in part.config.jobs()}.values():
            try:
                make_memory(job.memory)
                Job(job.env, "none", "random", 0).make_env().close()
            except MissingDependencyError as missing:
                pytest.skip(str(missing))


def test_model_plays_policies_and_if_set_memories() -> None:
    experiment = load_experiment("arigraph-fig3")
    rules = experiment.plan(MODEL, memory_llm=False, seeds="3:5")[0]
    assert rules.config.seeds == (3, 4)
    assert any(memory.startswith("arigraph?") for memory in rules.config.memories)
    assert rules.config.envs == ("TreasureHunt?level=easy&navigate=true",)
    assert rules.config.task_id == "treasure_hunt/easy/test/0"
    other = experiment.plan(MODEL, memory_llm=False, encoder="facebook/contriever")[0]
    assert sum("facebook/contriever" in memory for memory in other.config.memories) == 5
    assert all("scripted" in policy for policy in rules.config.policies)
    model = experiment.plan(MODEL, memory_llm=True)[0]
    assert any(m.startswith("rag") for m in model.config.memories)  # has no part for a model
    assert sum("scripted" in memory for memory in model.config.memories) == 5
    assert list(rules.cells.values()) == list(model.cells.values())
    with pytest.raises(UnknownNameError, match="arigraph-fig3"):
        load_experiment("arigraph-fig9")


@pytest.mark.slow
def test_our_numbers_are_shown_beside_the_papers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    env = "Cooking?level=rl-1&max_steps=3"
    part = {"name": "main", "envs": [env], "memories": ["none", "arigraph"], "policies": ["plain"]}
    part |= {"seeds": "0", "budget": 1000}
    cell = TableCell(env, "none", "plain")
    small = PaperExperiment(
        "small", "A test", "", (part,), {cell: {"score": 0.5}},
        {"none": TokensPerStep(700, 9)}, (PublishedNumbers("HOLMES", {env: {"score": 0.7}}),),
        ("scores", "steps", "growth"),
    )  # fmt: skip
    load = "gym_memory.papers.experiments.load_experiment"
    monkeypatch.setattr(load, {"small": small}.__getitem__)
    with ScriptedServer() as server:
        words = ["paper", "small", "--model", "scripted", "--base-url", server.base_url]
        words += ["--out", str(tmp_path / "out"), "--workers", "1", "--max-tokens", "1000000"]
        with pytest.raises(SystemExit) as end:
            main([*words, "--json"])
        assert end.value.code == 0
        received = server.received
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [(row["memory"], row["paper_score"]) for row in rows] == [
            ("none", 0.5),
            ("arigraph", None),
            ("", 0.7),
        ]
        assert rows[0]["difference_score"] == pytest.approx(rows[0]["score"] - 0.5)
        assert [row["model"] for row in rows] == ["scripted rules"] * 2 + ["not played"]
        assert [(row["seeds"], row["max_steps"]) for row in rows[:2]] == [("0", 3)] * 2
        assert rows[0]["reasons"] == ["scripted rules answered"]
        assert not rows[0]["comparable"]
        for figure in ("scores", "steps", "growth"):
            assert "<svg" in (tmp_path / "out" / f"{figure}.svg").read_text()
        assert received > 0
        assert [row["paper_tokens"] for row in rows[:2]] == [[700, 9], None]
        for prompt, completion in (row["tokens"] for row in rows[:2]):
            assert prompt > 100
            assert completion > 0
        assert (tmp_path / "out" / "spending.sqlite").exists()
        with pytest.raises(SystemExit):
            main(words)  # all is there: only the table is printed
        assert server.received == received
        printed = capsys.readouterr().out
        assert "0.50" in printed
        assert "700+9" in printed
        assert printed.count("not comparable") == 2
        assert "Not comparable, since: scripted rules answered." in printed
        assert "Seeds 0. Steps of an episode: at most 3." in printed


def test_command_without_name_lists_experiments(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["paper"])
    assert end.value.code == 0
    printed = capsys.readouterr().out
    assert [line.partition(":")[0] for line in printed.splitlines()] == list(experiment_names())
