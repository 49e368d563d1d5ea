"""Score against token budget: areas, tokens of the best score, and reports."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

from gym_memory.draw.figures import place
from gym_memory.run import EpisodeResult
from gym_memory.run.config import EpisodeRow, Job, RunConfig
from gym_memory.run.results import ResultsFolder
from gym_memory.run.results.report import build_report
from gym_memory.run.results.score import Unit, differences, units
from gym_memory.run.results.sweep import at_largest, comparable, curves

BUDGETS = (100, 1000, 10_000)
NEEDS = {"small": 50, "large": 2000, "oracle": 10, "whole": 3000}


def episode(job: Job) -> EpisodeRow:
    """Return a row that scores 0.9 if the budget covers what the memory needs."""
    need = NEEDS.get(job.memory, math.inf)
    score = 1.0 if job.memory == "oracle" else 0.9 * (need <= job.budget or job.memory == "whole")
    tokens = need if job.memory == "whole" else min(need, job.budget)
    result = EpisodeResult(
        task_id=f"{job.env}/{job.seed}", normalized=score, steps=9, tokens=tokens,
        curve=((0, 0.0), (5, score)),
    )  # fmt: skip
    return EpisodeRow(job, 0, result)


def config(*memories: str, budgets: tuple[int, ...] = BUDGETS) -> RunConfig:
    return RunConfig(("Maze",), memories, ("random",), (0, 1, 2), budgets=budgets)


def played(*memories: str) -> list[Unit]:
    return units([episode(job) for job in config(*memories).jobs()])


def test_the_area_is_over_the_logarithm_of_the_budget() -> None:
    small, large, none = curves(played("small", "large", "none"))
    assert small.area == pytest.approx(0.9)
    assert large.area == pytest.approx(0.9 / 4)  # half of the second of two decades
    assert none.area == 0
    assert small.area_ci is not None
    assert small.area_ci[0] < 0.9 < small.area_ci[1]


def test_tokens_of_the_best_score_are_found() -> None:
    by_name = {c.memory: c for c in curves(played("small", "large", "none", "whole", "oracle"))}
    enough = {name: curve.enough for name, curve in by_name.items()}
    assert enough == {"small": 50, "large": 2000, "none": None, "whole": 3000, "oracle": 10}


def test_memory_over_its_budget_has_place_and_no_area() -> None:
    small, whole = curves(played("small", "whole"))
    assert whole.area is None
    assert [place(row) for row in whole.points] == [3000, 3000, 10_000]
    assert [place(row) for row in small.points] == [100, 1000, 10_000]
    assert {unit.memory for unit in comparable(played("small", "whole"))} == {"small"}


def test_memories_of_a_sweep_differ_by_their_areas() -> None:
    (gap,) = differences(comparable(played("none", "large")), "memory")
    assert (gap.n, gap.difference) == (3, pytest.approx(0.9 / 4))
    assert (
        comparable(units([episode(j) for j in config("none", budgets=(7,)).jobs()]))[0].score == 0
    )


def test_a_memory_without_some_budget_has_no_area() -> None:
    rows = [episode(job) for job in config("small", "large").jobs()]
    short = [row for row in rows if (row.job.memory, row.job.budget) != ("large", 100)]
    small, large = curves(units(short))
    assert small.area is not None
    assert large.area is None
    assert large.enough == 2000


def test_the_largest_budget_of_each() -> None:
    assert {unit.budget for unit in at_largest(played("small", "none"))} == {10_000}


def test_a_report_of_a_sweep(tmp_path: Path) -> None:
    run = config("none", "small", "large", "whole")
    with ResultsFolder(tmp_path, run) as folder:
        folder.set_backends({"Maze": "engine 1"})
        for job in folder.todo():
            folder.append([episode(job)])
    rows = build_report([tmp_path], tmp_path)
    assert len(rows) == 12
    assert {row.budget for row in rows} == set(BUDGETS)
    report = (tmp_path / "report.md").read_text()
    assert "| `Maze` | small | random | 0.900 |" in report
    assert "| `Maze` | whole | random | – | – | 3,000 | 0.90 | 0.90 | 0.90 |" in report
    assert "areas under the score" in report
    assert "--budget 100 --budget 1000 --budget 10000" in report
    assert (tmp_path / "budgets-single-episode.svg").read_text().count('class="line') == 4
    assert json.loads((tmp_path / "summary.json").read_text())["table"][0]["budget"] == 100
    page = (tmp_path / "report.html").read_text()
    figure = page[page.index('<figure data-name="budgets-single-episode">') :]
    figure = figure[: figure.index("</figure>")]
    assert "Maze,small,random,small,1k,0.9," in figure
    assert "Maze,whole,random,whole,3k,0.9," in figure  # where it belongs, whatever was allowed
    places = [re.search(rf'text-anchor="middle">{n}<', figure) for n in ("100", "1k", "10k")]
    at = [float(re.findall(r'x="([\d.]+)"', figure[: found.start()])[-1]) for found in places]
    assert at[1] - at[0] == pytest.approx(at[2] - at[1], abs=0.2)


def test_a_run_with_one_budget_has_no_sweep(tmp_path: Path) -> None:
    with ResultsFolder(tmp_path, config("none", budgets=(100,))) as folder:
        folder.set_backends({"Maze": "engine 1"})
        for job in folder.todo():
            folder.append([episode(job)])
    build_report([tmp_path], tmp_path)
    assert "budgets-" not in (tmp_path / "report.md").read_text()
    assert 'data-name="budgets-' not in (tmp_path / "report.html").read_text()
    assert not list(tmp_path.glob("budgets-*"))
