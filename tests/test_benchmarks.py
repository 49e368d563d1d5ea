"""Benchmarks are found by name, packed runs are replaced, and a step's files are counted."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from benchmark import ROOT, load

from gym_memory.baselines.base import POLICIES
from gym_memory.core.names import Spec
from gym_memory.memory.base import MEMORIES
from gym_memory.run.protocols import make_protocol


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.slow
def test_every_benchmark_is_listed_with_its_purpose() -> None:
    lines = run().stdout.partition("\n\n")[2].splitlines()
    about = dict(line.split(maxsplit=1) for line in lines)
    assert {"tables", "planner", "rl/sweep", "fuzz", "structure"} <= about.keys()
    assert all(text.endswith((".", "?")) and len(text) < 120 for text in about.values())


def test_a_name_runs_its_script_with_its_arguments() -> None:
    assert "--also" in run("keep", "--help").stdout
    wrong = run("tabels")
    assert (wrong.returncode, "tables" in wrong.stderr) == (1, True)


def test_keeping_a_run_again_replaces_it(tmp_path: Path) -> None:
    keep, run, into = load("benchmarks/keep.py"), tmp_path / "one", tmp_path / "kept"
    run.mkdir()
    into.mkdir()
    for score in (0.25, 0.5):
        report = (
            f"# Results\n\n| score |\n|---|\n| {score} |\n\n![Scores](scores.png)\n\nMade so.\n"
        )
        (run / "report.md").write_text(report)
        rows = [{"task_id": str(n), "normalized": score, "seconds": 1.23456} for n in range(2)]
        (run / "episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        for name in ("one", "two") if score == 0.25 else ("one",):
            keep.keep(run, into, name, ("episodes",))
    page = (into / "report.md").read_text()
    assert page.count("# one") == page.count("# two") == 1
    assert ("| 0.5 |" in page, "| 0.25 |" in page, "![" in page) == (True, True, False)
    kept = [*keep.read_rows(into / "episodes.jsonl.gz")]
    assert [(row["run"], row["normalized"]) for row in kept] == [
        *[("two", 0.25)] * 2,
        *[("one", 0.5)] * 2,
    ]
    assert kept[0]["seconds"] == 1.23


def test_docstrings_are_counted() -> None:
    text = (
        '"""One.\n\nTwo."""\nX = 1\n"""Meaning."""\n\n\ndef f():\n    """Do."""\n    return "no"\n'
    )
    assert load("benchmarks/structure.py").docstring_lines(ast.parse(text)) == 5


def test_helpers_of_text_are_counted_by_behaviour(tmp_path: Path) -> None:
    (tmp_path / "gym_memory").mkdir()
    (tmp_path / "gym_memory" / "a.py").write_text(
        'import re\n_RUN = re.compile(r"[a-z]+")\n_TOKEN = re.compile(r"[a-z]+|,")\n'
        'found = [*_RUN.finditer(""), *_TOKEN.finditer(""), *re.split(r"[.?]", "")]\n'
        'def drop_article(name: str) -> str:\n    return re.sub("^the ", "", name)\n',
        "utf-8",
    )
    structure = load("benchmarks/structure.py")
    homes = structure.helpers(structure.Library(tmp_path))
    assert {concept: len(where) for concept, where in homes.items()} == {
        "words": 1, "stems": 0, "sentences": 1, "articles": 2,
    }  # fmt: skip


@pytest.mark.slow
def test_a_step_visits_policy_environment_and_memory() -> None:
    pytest.importorskip("textworld", reason="needs the extra textworld")
    structure = load("benchmarks/structure.py")
    visited = structure.files_of_step(structure.Library(ROOT))
    assert {name.split("/")[0] for name in visited} == {"gym_memory", "wrappers", "baselines"}
    assert any("arigraph" in name for name in visited)


@pytest.mark.slow
def test_job_visits_command_and_loop() -> None:
    structure = load("benchmarks/structure.py")
    files = [file for file, _ in structure.way_of_job(structure.Library(ROOT))]
    assert files.index("gym_memory/cli/compare.py") < files.index("gym_memory/run/loop.py")


def test_parts_of_streams_agree_with_their_page() -> None:
    streams = load("benchmarks/streams/run.py")
    assert set(streams.GRID) <= set(streams.memories())
    sizes = {}
    for part in streams.PARTS:
        jobs = streams.config(part, ["none", "placebo?how=raw"]).jobs()
        turns = make_protocol(jobs[0].protocol).turns
        sizes[part] = len(jobs) // 2, sum(turn.phase == "learn" for turn in turns)
    assert sizes == {
        "alfworld": (3, 160),
        "scienceworld": (3, 30),
        "types": (6, 8),
        "grid": (5, 6),
    }
    assert make_protocol(jobs[0].protocol).tests == [*streams.WORLDS]


def test_the_one_table_has_language_agents_learners_and_rules() -> None:
    pytest.importorskip("torch", reason="needs the extra rl")
    beside, rivals = load("benchmarks/agents/beside.py"), load("benchmarks/agents/rivals.py")
    names = set()
    for memories, policies, _, protocol in beside.parts():
        make_protocol(protocol)
        assert all(Spec(memory).name in MEMORIES.names() for memory in memories)
        names |= {Spec(policy).name for policy in policies}
    assert names <= set(POLICIES.names())
    assert {"planner", "ariadne", "stma", "clin", "ldm2", "react", "reflexion"} <= names
    assert {"saycan", "calm", "adaplanner", "symbolic", *beside.LEARNERS} <= names
    scores = sorted(score for score, _ in rivals.published().values())
    assert scores == pytest.approx([0.0356, 0.3287, 0.906, 0.9179], abs=1e-4)


def test_ablated_parts_are_public_and_exist() -> None:
    parts = [
        part
        for player in load("benchmarks/ablate.py").PLAYERS.values()
        for part in player.parts.values()
    ]
    assert len(parts) > 30
    wrong = [name for owner, name, _ in parts if name.startswith("_") or not hasattr(owner, name)]
    assert wrong == []
