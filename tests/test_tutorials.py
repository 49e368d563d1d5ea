"""Test that the figures of the tutorials are those that their commands give."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gym_memory.cli import main
from gym_memory.run.compare import compare
from gym_memory.run.config import RunConfig
from gym_memory.run.results.report import build_report
from gym_memory.testing.chat import ScriptedServer

pytestmark = pytest.mark.slow

pytestmark = pytest.mark.slow

TUTORIALS = Path(__file__).parents[1] / "docs" / "tutorials"
CONFIG = RunConfig(
    envs=("TreasureHunt?level=hardest&split=test",),
    memories=("none", "shuffled", "history", "arigraph"),
    policies=("planner",),
    seeds=tuple(range(5)),
)
"""What docs/tutorials/first-comparison.md plays."""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("textworld", reason="needs the extra textworld")
    folder = tmp_path_factory.mktemp("first")
    compare(CONFIG, folder, workers=1)
    build_report([folder], folder)
    return (folder / "report.md").read_text(encoding="utf-8")


def printed(page: str, table: str) -> list[dict[str, str]]:
    """Return the rows of a table that a tutorial prints between its marks."""
    text = (TUTORIALS / f"{page}.md").read_text(encoding="utf-8")
    found = re.search(rf"<!-- fresh {table} -->\n(.*?)<!-- end -->", text, re.DOTALL)
    assert found, f"{page}.md has no table '{table}'"
    return rows(found[1])


def rows(markdown: str) -> list[dict[str, str]]:
    head, _, *lines = (line for line in markdown.splitlines() if line.startswith("|"))
    names = cells(head)
    return [dict(zip(names, cells(line), strict=True)) for line in lines]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split(" |")]


@pytest.mark.parametrize(
    ("page", "table", "heading"),
    [
        ("first-comparison", "compare", "| environment | memory |"),
        ("reading-a-report", "compare differences", "| compared | with |"),
    ],
)
def test_tutorial_shows_the_output_of_a_fresh_run(
    page: str, table: str, heading: str, report: str
) -> None:
    fresh = rows(report[report.index(heading) :].partition("\n\n")[0])
    renamed = [{key.removeprefix("memory "): row[key] for key in row} for row in fresh]
    shown = printed(page, table)
    assert len(shown) == len(renamed) >= 3
    for row, true in zip(shown, renamed, strict=True):
        assert row == {name: true[name] for name in row}


def test_agent_tutorial_shows_the_output_of_fresh_run(
    server: ScriptedServer, tmp_path: Path
) -> None:
    pytest.importorskip("textworld", reason="needs the extra textworld")
    pytest.importorskip("openai", reason="needs the extra llm")
    game, out = "TreasureHunt?level=hardest&split=test", tmp_path / "ariadne"
    words = [
        "compare",
        "-e",
        game,
        "--preset",
        "ariadne?variant=ours",
        "-m",
        "none",
        "--model",
        "scripted",
    ]
    words += ["--base-url", server.base_url, "--seeds", "0:3", "--workers", "1", "--out", str(out)]
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert not stopped.value.code
    text = (out / "report.md").read_text(encoding="utf-8")
    fresh = [
        rows(text[text.index(heading) :].partition("\n\n")[0])
        for heading in (
            "| environment | memory | policy | n |",
            "| environment | memory | policy | llm calls |",
        )
    ]
    names = {
        "calls a game": "llm calls",
        "prompt tokens": "llm prompt tokens",
        "completion tokens": "llm completion tokens",
    }
    shown = printed("language-model-agent", "agent")
    assert len(shown) == 2
    for row, *true in zip(shown, *fresh, strict=True):
        found = true[0] | true[1]
        found["score"] = f"{float(found['score']):.3f}"
        assert row == {name: found[names.get(name, name)] for name in row}
