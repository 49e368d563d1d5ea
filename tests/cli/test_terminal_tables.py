"""Tables fit a terminal of any width and cut no number; a pipe gets everything.

``WRITE_SNAPSHOTS=1`` writes the expected texts again.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from gym_memory.cli import doctor, main
from gym_memory.cli.compare import print_episodes
from gym_memory.cli.judge import print_exam
from gym_memory.cli.paper import print_records
from gym_memory.cli.show import print_scores
from gym_memory.cli.tables import shorten
from gym_memory.cli.train import print_curve
from gym_memory.core.names import specs
from gym_memory.evaluate.exam.scores import ALL, ExamScore
from gym_memory.papers.experiments import load_experiment
from gym_memory.papers.results import records
from gym_memory.run import EpisodeResult
from gym_memory.run.config import EpisodeRow, Job
from gym_memory.run.results.score import TableRow

SNAPSHOTS = Path(__file__).parent / "snapshots"
WIDTHS = (80, 100, 140)
LONG = "ariadne?base_url=http://localhost:8000/v1&model=qwen"
COMMANDS = {
    "rank": ["rank", "--tier", "standard"],
    "memory": ["list", "memories", "arigraph"],
    "policies": ["list", "policies"],
    "settings": ["list", "settings", "drrn"],
    "doctor": ["doctor"],
    "environments": ["list", "environments"],
    "exam": ["exam", "-e", "Fetch?level=easy", "-m", "none", "-m", "history", "-p", "random",
             "--seeds", "0:1", "--budgets", "200", "--lengths", "20"],
    "quality": ["quality", "-e", "Fetch?level=easy", "--seeds", "0:1"],
    "credit": ["credit", "-e", "Fetch?level=easy", "-p", "random", "--most", "3", "--max-steps",
               "10", "-m", "arigraph"],
    "run": ["run", "-e", "Fetch?level=easy", "-m", "none", "-w", "1"],
}  # fmt: skip


@pytest.fixture(params=WIDTHS)
def terminal(request: Any, monkeypatch: Any, capsys: Any) -> Callable[[Callable[[], None]], str]:
    """Return what a function prints on a terminal of this width, without colours."""
    for name, value in {"COLUMNS": str(request.param), "FORCE_COLOR": "1", "NO_COLOR": "1"}.items():
        monkeypatch.setenv(name, value)

    def printed(show: Callable[[], None]) -> str:
        with contextlib.suppress(SystemExit):
            show()
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().out)
        lines = [line.rstrip() for line in text.splitlines()]
        widest = max(lines, key=cell_len)
        assert cell_len(widest) <= request.param, widest
        return "\n".join(lines) + "\n"

    printed.width = request.param  # type: ignore[attr-defined]
    return printed


def rows() -> list[TableRow]:
    """Return rows of three memories in two environments, as in a report."""
    made = []
    for env in ("Cooking?level=hard&split=test", "TreasureHunt?level=hardest&split=test"):
        for n, memory in enumerate(("none", "history?window=5", "arigraph")):
            score = 0.25 + n / 3
            made.append(
                TableRow(
                    *(env, memory, LONG, 8, n, score, (score - 0.1, score + 0.1), score, 80.5),
                    *(n * 1.25, 900.0 * n, 0.125, "single_episode", 8, 1000),
                )
            )
    return made


def findings() -> list[doctor.Finding]:
    pip = "pip install 'gym-memory[scienceworld]'"
    about = "ScienceWorld (also needs Java)"
    return [
        doctor.Finding("core", "Python", "ok", "3.11.7"),
        doctor.Finding("scienceworld", "scienceworld", "missing", "absent", pip, about),
        doctor.Finding("scienceworld", "Java", "ok", "17.0.15 (/usr/bin/java)", "", about),
    ]


def episodes() -> list[EpisodeRow]:
    result = EpisodeResult("kitchen/7", score=3, max_score=5, normalized=0.6, steps=50, seconds=1.5)
    lost = EpisodeResult.failure("KeyError: 'kitchen'", task_id="kitchen/8")
    env, memory, policy = specs(("Cooking?level=hard", "arigraph", LONG))
    jobs = [Job(env, memory, policy, seed) for seed in (0, 1)]
    return [EpisodeRow(job, 0, of) for job, of in zip(jobs, (result, lost), strict=True)]


def answers() -> list[ExamScore]:
    kinds = ("where", "read", "near", "past", "did", "order", "route", "inside", "count", ALL)
    return [
        ExamScore(memory, budget, "unseen", kind, 12, 0.5, 0.25, 0.0, (0.3, 0.7), budget / 2)
        for budget in (200, 2000)
        for memory in ("history?window=5", "arigraph")
        for kind in kinds
    ]


def curve() -> list[dict[str, Any]]:
    names = ("steps", "updates", "train_score", "valid_score", "valid_steps", "cpu_seconds")
    return [dict(zip(names, (n * 1000, n * 50, 0.25, 0.125, 37.5, n * 12.25), strict=True))
            for n in (1, 2)]  # fmt: skip


def print_experiment(name: str) -> None:
    """Print a published experiment whose games all ended alike."""
    pytest.importorskip("yaml", reason="pip install 'gym-memory[llm]'")
    experiment = load_experiment(name)
    parts = experiment.plan({"model": "scripted"}, memory_llm=True, seeds="0:1", max_steps=2)
    result = EpisodeResult("a/0", score=1, max_score=4, normalized=0.25, models=("scripted",))
    played = [(p, [EpisodeRow(job, 0, result) for job in p.config.jobs()]) for p in parts]
    print_records(experiment, records(experiment, played))


PRINTED: dict[str, Callable[[], None]] = {
    "scores": lambda: print_scores(rows()),
    "episodes": lambda: print_episodes(episodes()),
    "doctor": lambda: doctor.print_findings(findings()),
    "exam": lambda: print_exam(answers()),
    "curve": lambda: print_curve(curve(), Path("runs/first")),
    "paper-ldm2": lambda: print_experiment("ldm2-table1"),
    "paper-stma": lambda: print_experiment("stma-table2"),
}


@pytest.mark.parametrize("name", PRINTED)
def test_table_is_its_snapshot(terminal: Any, name: str) -> None:
    file = SNAPSHOTS / f"{name}-{terminal.width}.txt"
    text = terminal(PRINTED[name])
    if os.environ.get("WRITE_SNAPSHOTS"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")
    assert "http" not in text


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_command_fits_the_terminal(
    terminal: Any, name: str, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    text = terminal(lambda: main(COMMANDS[name]))
    assert not re.search(r"[│ \[][-+]?[\d.]+…", text), "a number is cut"
    assert len(text.splitlines()) > 4


@pytest.mark.slow
def test_doctor_leaves_commands_whole(terminal: Any) -> None:
    text = terminal(lambda: main(["doctor"]))
    for command in re.findall(r"pip install.*", text):
        assert re.match(r"pip install '[^']+'", command), command


@pytest.mark.slow
def test_wide_shows_every_column(monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with pytest.raises(SystemExit):
        main(["rank", "--tier", "standard", "--wide"])
    assert "poisoned" in capsys.readouterr().out.splitlines()[2]  # the last one


def test_pipe_shows_every_column(capsys: Any) -> None:
    print_scores(rows())
    text = capsys.readouterr().out
    assert all(
        word in text for word in ("Cooking?level=hard&split=test", "memory ms/step", "USD", "0.12")
    )


@pytest.mark.parametrize("width", [3, 9, 15])
def test_shortened_name_keeps_both_ends(width: int) -> None:
    short = shorten("TreasureHunt?level=hardest", width)
    assert len(short) == width
    assert short.startswith("T")
    assert short.endswith("t")
