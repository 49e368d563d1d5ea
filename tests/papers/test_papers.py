"""Differences from the papers, presets, and measures checked by hand."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from gym_memory.core.names import Spec
from gym_memory.papers.experiments import experiment_names, load_experiment
from gym_memory.papers.measures import GAINS, MEASURES
from gym_memory.papers.presets import PRESETS
from gym_memory.run.results.score import Unit

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))
from paper_tables import (  # noqa: E402 - a module of the docs
    Difference,
    PaperSetting,
    differences,
    exhibits,
    fill,
    paper_settings,
    preset_value,
)


def names_in(path: Path) -> set[str]:
    """Return what a module defines: names, and methods as ``Class.method``."""
    found: set[str] = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{m.name}" for m in node.body if isinstance(m, ast.FunctionDef)}
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found.add(node.name)
        for target in [*getattr(node, "targets", []), getattr(node, "target", None)]:
            if isinstance(target, ast.Name):
                found.add(target.id)
    return found


@pytest.mark.parametrize("row", differences(), ids=lambda row: f"{row.paper}: {row.item}")
def test_named_files_symbols_and_tests_exist(row: Difference) -> None:
    assert all((row.paper, row.item, row.place))
    for folder, text in (("gym_memory", row.code), ("tests", row.test)):
        file, _, symbol = text.partition(":")
        path = ROOT / folder / file
        assert path.is_file()
        assert not symbol or symbol in names_in(path)


def test_every_equation_and_algorithm_has_a_row() -> None:
    for paper, equations, algorithms in (
        ("AriGraph", {1}, {1, 2, 3}),
        ("STMA", {1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3}),
        ("CLIN", set(), {1}),
        ("LDM2", set(range(1, 11)), set()),
    ):
        places = "; ".join(row.place for row in differences() if row.paper == paper)
        for what, numbers in ((r"(?:Eqs?\.|Equation) ([\d and]+)", equations),
                              (r"Algorithm (\d)", algorithms)):  # fmt: skip
            named = " ".join(re.findall(what, places))
            assert {int(number) for number in re.findall(r"\d+", named)} == numbers


@pytest.mark.parametrize("row", paper_settings(), ids=lambda row: f"{row.preset}: {row.name}")
def test_presets_are_the_papers(row: PaperSetting) -> None:
    assert preset_value(row.preset, row.name) == row.value
    assert PRESETS[row.preset].budget >= 4000 or PRESETS[row.preset].memory == "none"


def test_every_figure_and_table_has_a_command_or_a_reason() -> None:
    for paper, figures, tables in (
        ("AriGraph", 14, 4),
        ("STMA", 6, 3),
        ("CLIN", 12, 2),
        ("LDM2", 3, 6),
    ):
        named = {"Figure": set[int](), "Table": set[int]()}
        for row in (row for row in exhibits() if row.paper == paper):
            assert bool(row.experiments) != bool(row.reason), row
            first, *last = map(int, re.findall(r"\d+", row.name))
            named[row.name.split()[0].rstrip("s")] |= set(range(first, (last or [first])[0] + 1))
        assert named == {"Figure": set(range(1, figures + 1)), "Table": set(range(1, tables + 1))}
    played = {name for row in exhibits() for name in row.experiments}
    assert played == set(experiment_names())


@pytest.mark.slow
def test_the_page_has_the_tables_that_the_code_makes() -> None:
    page = (ROOT / "docs" / "papers.md").read_text("utf-8")
    assert fill(page) == page, "run 'python docs/paper_tables.py'"


@pytest.mark.slow
def test_a_learner_is_trained_for_each_task() -> None:
    parts = load_experiment("clin-table1").plan({"model": "m"}, memory_llm=True, train_steps=40)
    learners = {part.name: part for part in parts if part.learn}
    assert len(learners) == 18
    boil = learners["learners-boil"]
    (folder,) = boil.learn
    assert boil.learn[folder]["env"] == "ScienceWorld?simplification=easy&task=boil"
    assert boil.learn[folder]["steps"] == 40
    assert [str(folder) in policy for policy in boil.config.policies] == [True] * 3
    assert boil.config.memories == ("none",), "the paper's learner has no memory"
    assert boil.learn[folder]["memory"] == "none"
    assert all("trained for 40 steps" in doubts for doubts in boil.doubts.values())
    (short,) = load_experiment("arigraph-fig4").plan({}, memory_llm=False, max_steps=2)[2:3]
    assert all("max_steps=2" in what["env"] for what in short.learn.values())


def test_each_half_of_a_pair_reads_the_others_learnings() -> None:
    parts = {p.name: p for p in load_experiment("clin-gentask").plan({}, memory_llm=False)}
    for number in range(1, 10):
        for learnt, played in (("a", "second"), ("b", "first")):
            train = parts[f"train-{'first' if learnt == 'a' else 'second'}-{number}{learnt}"]
            test = parts[f"{played}-{number}{learnt}"]
            stores = {Spec(p.config.memories[0]).kwargs["store"] for p in (train, test)}
            assert stores == {f"learnt-{number}{learnt}.db"}
            assert train.config.seeds == test.config.seeds
            (env,), (learnt_in,) = test.config.envs, train.config.envs
            assert learnt_in.kwargs["world_of"] == env.kwargs["task"] != learnt_in.kwargs["task"]
    named = {cell.memory for part in parts.values() for cell in part.cells.values()}
    assert len(named) == 2, "all halves are in one line of the table"


def test_an_encoder_reaches_nested_memories_and_policies() -> None:
    parts = load_experiment("arigraph-fig3").plan({}, memory_llm=False, encoder="other")
    reflexion = next(part for part in parts if part.name.startswith("reflexion"))
    assert "by%3Dother" in reflexion.config.memories[0]
    clin = load_experiment("clin-table2").plan({}, memory_llm=False, encoder="other")[0]
    assert "encoder=other" in clin.config.policies[0]


def test_seeds_reach_the_explored_tasks() -> None:
    parts = load_experiment("ldm2-table1").plan({}, memory_llm=False, seeds="0:3")
    (refine,) = (part.refine for part in parts if part.refine)
    assert refine["seeds"] == "500:503"
    assert "batch=" not in refine["memory"]


def unit(score: float, trials: tuple[float, ...] = (), seed: int = 0) -> Unit:
    return Unit(
        "trials", "e", "m", "p", 1, seed, "t", "", score, False, score == 1.0, 1, 0.0, 0.0, 0.0,
        (), trials or (score,), {},
    )  # fmt: skip


def test_measures_by_hand() -> None:
    own = [unit(1.0, (0.5, 1.0)), unit(0.5, (0.5,)), unit(0.0, (0.2, 0.0)), unit(0.9, (0.1, 0.9))]
    found = {name: measure(own) for name, measure in MEASURES.items()}
    assert found["top3"] == pytest.approx(0.8)
    assert found["sigma"] is None, "four runs have no standard deviation worth showing"
    assert MEASURES["sigma"](own * 2) == pytest.approx(0.3937, abs=1e-4)
    assert found["success"] == 0.25
    assert found["trials"] == 2
    assert found["improved"] == 0.5
    assert found["first"] == pytest.approx(0.325)
    assert found["levels"] is None
    deep = [unit(0.1)._replace(counters={"max_depth": depth}) for depth in (1.0, 4.0)]
    assert MEASURES["levels"](deep) == 1.5, "levels completed"
    pairs = [(unit(0.9), unit(0.5)), (unit(0.1), unit(0.5)), (unit(0.5), unit(0.5))]
    gains = [GAINS[name](pairs) for name in ("gain", "better", "worse")]
    assert gains == pytest.approx([0.0, 1 / 3, 1 / 3])
