"""Citation data of a row: panel, digest and the terms of its protocol."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from gym_memory.core.names import Spec, specs
from gym_memory.panels.panel import load_panel, write_panel
from gym_memory.run import EpisodeResult
from gym_memory.run.compare import compare
from gym_memory.run.config import EpisodeRow, Job, RunConfig
from gym_memory.run.play import play_job
from gym_memory.run.results.citing import panel_findings
from gym_memory.run.results.expected import replay, rows_of
from gym_memory.run.results.verify import verify
from gym_memory.train.export import write_card


@pytest.mark.parametrize(
    ("memory", "protocol", "trial", "terms"),
    [
        ("none", "single_episode", 0, ("empty", "", False)),
        ("clin?store=x.db", "single_episode", 0, ("online", "as played", True)),
        ("memp?learn=false&store=x.db", "single_episode", 0, ("frozen", "", True)),
        ("fusion?parts=memp%3Fstore%3Dx.db", "single_episode", 0, ("online", "as played", True)),
        ("reflexion", "trials?k=3", 1, ("online", "trials of one task", True)),
        ("memp", "stream?again=1&shown=1&tasks=3", 1, ("online", "shuffled", False)),
        ("memp", "stream?again=1&shown=1&tasks=3", 3, ("frozen", "shuffled", True)),
        ("memp", "stream?again=1&shown=1&tasks=3", 4, ("empty", "shuffled", False)),
    ],
)
def test_row_carries_the_terms_of_its_protocol(
    memory: str, protocol: str, trial: int, terms: tuple[Any, ...]
) -> None:
    job = Job(Spec("Fetch"), Spec(memory), Spec("random"), 0, Spec(protocol))
    record = EpisodeRow(job, trial, EpisodeResult(task_id="x")).to_json()
    assert (record["memory_at_start"], record["order"], record["same_task"]) == terms
    assert record["panel"] == ""


def clockless(rows: list[EpisodeRow]) -> list[dict[str, Any]]:
    records = [row.to_json() for row in rows]
    return [{k: v for k, v in r.items() if k not in EpisodeResult.CLOCKS} for r in records]


@pytest.fixture
def config(panel_file: str) -> RunConfig:
    env = Spec.of("Panel", {"panel": panel_file})
    return RunConfig((env,), specs(("none", "history")), specs(("walkthrough",)), (0, 1, 2))


@pytest.mark.slow
def test_rows_are_equal_for_any_number_of_workers(config: RunConfig, tmp_path: Path) -> None:
    one = compare(config, tmp_path / "one", workers=1)
    two = compare(config, tmp_path / "two", workers=2)
    assert clockless(one) == clockless(two)
    assert sorted(row.result.task_id[-2:] for row in one) == ["q0", "q0", "q1", "q1", "q2", "q2"]


@pytest.mark.slow
def test_folder_carries_the_digest_and_verify_holds_it(
    config: RunConfig, tmp_path: Path, panel_file: str
) -> None:
    folder = tmp_path / "run"
    compare(config, folder, workers=1)
    panel = load_panel(panel_file)
    name = f"mine@{panel.digest}"
    assert (
        f"| {name} | none | walkthrough | 3 of 3 | empty | any | no |"
        in (folder / "report.md").read_text()
    )
    assert json.loads((folder / "summary.json").read_text())["panels"][0]["panel"] == name
    assert f"| {name} | history | walkthrough | 3 of 3 |" in write_card(folder).read_text()
    (found,) = [f for f in verify(folder) if f.part == config.envs[0]]
    assert (found.state, found.text) == ("ok", f"{name}: each of its 3 tasks")
    lines = (folder / "episodes.jsonl").read_bytes()
    changed = lines.replace(panel.digest.encode(), b"0123456789ab", 1)
    (folder / "episodes.jsonl").write_bytes(changed)
    assert next(f.state for f in verify(folder) if f.part == "episodes.jsonl") == "damaged"


def rows_with(panel_file: str, version: str, seeds: int) -> list[list[EpisodeRow]]:
    env = Spec.of("Panel", {"panel": panel_file})
    results = (EpisodeResult(task_id=f"t{n}", backend_version=version) for n in range(seeds))
    return [
        [EpisodeRow(Job(env, Spec("none"), Spec("random"), n), 0, result)]
        for n, result in enumerate(results)
    ]


def test_other_digest_in_a_row_is_damage(panel_file: str) -> None:
    env = str(Spec.of("Panel", {"panel": panel_file}))
    digest = load_panel(panel_file).digest
    environment = {"backends": {env: f"panel mine@{digest} qa 1"}}
    whole = rows_with(panel_file, f"panel mine@{digest} qa 1", 3)
    assert [f[0] for f in panel_findings(whole, environment)] == ["ok"]
    other = [*whole[:2], *rows_with(panel_file, "panel mine@0123456789ab qa 1", 1)]
    ((state, _, text),) = panel_findings(other, environment)
    assert (state, "'mine@0123456789ab'" in text) == ("damaged", True)


def test_part_of_a_panel_is_no_number_of_it(panel_file: str) -> None:
    env = str(Spec.of("Panel", {"panel": panel_file}))
    version = f"panel mine@{load_panel(panel_file).digest} qa 1"
    found = list(panel_findings(rows_with(panel_file, version, 2), {"backends": {env: version}}))
    assert [(state, "2 of 3 tasks" in text) for state, _, text in found] == [("note", True)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "each of its 3 tasks"),
        ({"seed": 3}, "other seeds than 0:3, which play each task once"),
        ({"protocol": Spec("trials?k=2")}, "played under trials?k=2, not under single_episode"),
    ],
)
def test_departure_from_the_protocol_is_noted(
    panel_file: str, change: dict[str, Any], said: str
) -> None:
    env = str(Spec.of("Panel", {"panel": panel_file}))
    version = f"panel mine@{load_panel(panel_file).digest} qa 1"
    rows = rows_with(panel_file, version, 3)
    rows[0] = [dataclasses.replace(r, job=dataclasses.replace(r.job, **change)) for r in rows[0]]
    ((state, _, text),) = panel_findings(rows, {"backends": {env: version}})
    assert (state, said in text) == ("note" if change else "ok", True)


def test_failed_episode_is_noted(panel_file: str) -> None:
    env = str(Spec.of("Panel", {"panel": panel_file}))
    version = f"panel mine@{load_panel(panel_file).digest} qa 1"
    rows = rows_with(panel_file, version, 3)
    rows[1] = [dataclasses.replace(r, result=EpisodeResult(failed="lost")) for r in rows[1]]
    ((state, _, text),) = panel_findings(rows, {"backends": {env: version}})
    assert (state, "1 of 3 episodes failed" in text) == ("note", True)


def test_file_under_the_name_of_another_panel_is_noted(panel_file: str) -> None:
    panel = dataclasses.replace(load_panel(panel_file), name="gata-1")
    write_panel(panel, panel_file)
    env, version = str(Spec.of("Panel", {"panel": panel_file})), f"panel gata-1@{panel.digest} qa 1"
    ((state, _, text),) = panel_findings(
        rows_with(panel_file, version, 3), {"backends": {env: version}}
    )
    assert (state, "a panel of this package has its name" in text) == ("note", True)


def test_other_installed_panel_is_noted(panel_file: str) -> None:
    env = str(Spec.of("Panel", {"panel": panel_file}))
    version = "panel mine@0123456789ab qa 1"
    found = list(panel_findings(rows_with(panel_file, version, 3), {"backends": {env: version}}))
    assert [(state, "this installation has" in text) for state, _, text in found] == [
        ("note", True)
    ]


def test_expected_row_is_replayed(panel_file: str) -> None:
    env = Spec.of("Panel", {"panel": panel_file})
    jobs = (Job(env, Spec("none"), Spec("walkthrough"), seed) for seed in range(3))
    (row,) = rows_of(played for job in jobs for played in play_job(job))
    assert (row.estimate.mean, [*row.steps.values()]) == (1.0, [3, 3, 3])
    panel = load_panel(panel_file)
    for scores, equal in ((row.scores, True), ({**row.scores, 1: 0.5}, False)):
        expected = row._replace(scores=scores)
        write_panel(dataclasses.replace(panel, rows=(expected.to_json(),)), panel_file)
        jobs_again = [*replay(load_panel(panel_file), panel_file, None)]
        assert [job.equal for job in jobs_again] == [True, equal, True]
