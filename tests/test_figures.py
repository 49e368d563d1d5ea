"""Check figures outside generated tables against the code or another test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "examples" / "README.md",
]
GENERATED = {"poison.md": "tests/run/test_poison_benchmark.py"}
"""Pages that are compared whole."""
UNIT = r"%|[kMG]i?B\b|(?:CPU[- ])?(?:seconds?|minutes?|hours?|s|ms|min|h)\b|times\b"
WORDS = "two|three|four|five|six|seven|eight|nine|ten|twenty|fifty|hundred|thousand"
FIGURE = re.compile(
    rf"(?<![\w.:])(?:\d*\.\d+(?![\d.])|\d[\d,]* ?(?:{UNIT})|(?:{WORDS}) (?:{UNIT}))"
)
NAMES = re.compile(
    r"arXiv \d+\.\d+|[Ss]ections? [\d.]+|Python 3\.\d+|95 %"
    r"|\[?(?:NetHack|NLE|OpenEnv|verifiers|version)\]? (?:\d+\.)+\d+"
)
"""Numbers that are no figures: papers, versions, the level of all intervals."""
STATED = {
    "most training games (`common`, 0.8)": ("baselines/rl/shared/bags.py", "] = 0.8"),
    "1.5 for ScienceWorld": ("gym_memory/games/scienceworld/env.py", "worker_gib = 1.5"),
    "before the first game: no server within 6 s": (
        "gym_memory/llm/client.py",
        "_PREFLIGHT_SECONDS = 6.0",
    ),
    "more than 5 % of the steps": ("gym_memory/run/results/score.py", "MOST_FALLBACKS = 0.05"),
    "and 8 MiB": ("gym_memory/llm/endpoint.py", "_MAX_BYTES = 1 << 23"),
    "waits at most five minutes": ("gym_memory/memory/stores/postgres.py", "PATIENCE = 300.0"),
    "limits memory (4 GiB)": ("gym_memory/games/isolate.py", "MEMORY = 4 << 30"),
    "a step (60 s) and of a reset (300 s)": (
        "gym_memory/games/isolate.py",
        "RESET_SECONDS, STEP_SECONDS = 300.0, 60.0",
    ),
    "starts at .5": ("gym_memory/memory/experience/simutil.py", "utility=0.5"),
    "at temperature .5": ("gym_memory/memory/experience/simutil.py", "_TEMPERATURE = 0.5"),
    "| 6, 0.5 |": ("packages/belief/gym_memory_belief/memory.py", 'recall.", 0, 1)] = 0.5'),
    "fall below 40 %": ("gym_memory/games/nethack/play.py", "_LOW_HP_SHARE = 0.4"),
    "the 120 seconds that a solution may take": (
        "gym_memory/games/scienceworld/engine.py",
        "_ANSWER_SECONDS = 120.0",
    ),
    ".65\nand .81, .69 and .88, .84 and .90, and .76 and .81": (
        "benchmarks/battery/first_readings.json",
        '"fourth": {"recall": 0.76, "precision": 0.81}',
    ),
    ".70 and .93, and .68 and\n.93": (
        "benchmarks/battery/first_readings.json",
        '"second author, untouched": {"recall": 0.68, "precision": 0.93}',
    ),
    "vector search, .6,": (
        "packages/external/gym_memory_external/graphiti.py",
        "least similarity of .6",
    ),
    "is 0.07 without memory and 0.42": (
        "tests/test_examples.py",
        r"none: mean score 0\.07.*\nhistory: .*\narigraph: mean score 0\.42",
    ),
    "read in two seconds and 200 MB": (
        "tests/test_hostile_input.py",
        "In two seconds of the processor, and in 200 MB",
    ),
    "wait ten seconds for headers": ("gym_memory/core/serving.py", "HEADER_SECONDS = 10.0"),
    "more than five CPU seconds": (
        "gym_memory/games/jericho/copies.py",
        "COMMAND_CPU_S = 5.0",
    ),
    "at most 512 MB of heap": ("gym_memory/games/scienceworld/engine.py", "-Xmx512m"),
}
"""Words around a figure, to the file that states it too and its words there."""


def prose(page: str) -> str:
    """Return a page without generated tables, code and addresses."""
    page = re.sub(r"<!-- (?:table|fresh) .*?<!-- end -->", "", page, flags=re.DOTALL)
    page = re.sub(r"^( *)```.*?^\1```", "", page, flags=re.DOTALL | re.MULTILINE)
    for words in STATED:
        page = page.replace(words, "")
    return NAMES.sub("", re.sub(r"`[^`]*`|\]\([^)]*\)", "]", page))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_figure_is_generated_or_known(path: Path) -> None:
    if path.name not in GENERATED:
        found = FIGURE.findall(prose(path.read_text(encoding="utf-8")))
        assert not found, "generate the figure, leave it out, or name its source in STATED"


@pytest.mark.parametrize("words", STATED)
def test_a_figure_is_the_one_of_its_source(words: str) -> None:
    file, there = STATED[words]
    assert there in (ROOT / file).read_text(encoding="utf-8")
    assert any(words in path.read_text(encoding="utf-8") for path in PAGES), "no page says so"


@pytest.mark.parametrize(
    "figure", [".83 instead", "2.5 MB", "100 times as fast", "ten CPU seconds"]
)
def test_a_new_figure_is_found(figure: str) -> None:
    assert FIGURE.search(prose(f"It takes {figure}, section 3.2, within 95 % on Python 3.11."))
