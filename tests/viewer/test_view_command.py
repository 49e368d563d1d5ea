"""``gym-memory view`` and ``play --web`` on the command line, without a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gym_memory.cli import main
from gym_memory.run.config import Job
from gym_memory.run.play import play_job
from gym_memory.viewer.recordings import find

pytestmark = pytest.mark.slow


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    file = tmp_path / "steps.jsonl.gz"
    list(play_job(Job("FakeHouse?max_steps=5", "arigraph", "random", 0), record=str(file)))
    return file


def say(capsys: Any, *words: str) -> tuple[int, str, str]:
    code = 0
    try:
        main(words)
    except SystemExit as end:
        code = int(end.code or 0)
    output = capsys.readouterr()
    return code, output.out, " ".join(output.err.split())


def test_replay_is_written_and_is_the_same_each_time(
    capsys: Any, recorded: Path, tmp_path: Path
) -> None:
    pages = []
    for name in ("a.html", "b.html"):
        code, _, error = say(capsys, "view", str(recorded), "--html", str(tmp_path / name))
        assert code == 0, error
        pages.append((tmp_path / name).read_bytes())
    assert pages[0] == pages[1]
    assert b"https://" not in pages[0].split(b"<script>")[0]


def test_recordings_are_listed(capsys: Any, recorded: Path) -> None:
    code, out, _ = say(capsys, "view", str(recorded), "--list")
    assert code == 0
    assert out.startswith("0: arigraph")


def test_lost_games_command_opens_the_first_difference(
    capsys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("uvicorn", reason="pip install 'gym-memory[viewer]'")
    words = ("-e", "Fetch?level=easy", "-m", "none", "-m", "history", "-p", "planner")
    code, out, error = say(
        capsys, "compare", *words, "--seeds", "2", "--workers", "1", "--out", str(tmp_path / "run")
    )
    assert code == 0, error
    (command,) = (line.split() for line in out.splitlines() if line.startswith("    gym-memory"))
    assert command[1:] == ["view", str(tmp_path / "run"), "--episode", "0", "--episode", "1"]
    monkeypatch.setattr("gym_memory.viewer.server.run_server", lambda *_, **__: None)
    _, out, _ = say(capsys, *command[1:], "--no-browser")
    keys = [each.key for each in find([tmp_path / "run"])]
    assert out.split()[2].endswith(f"/replay?a={keys[0]}&b={keys[1]}#difference")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("view", "{0}", "--html", "x.html", "--episode", "nobody"), "got 'nobody'"),
        (("view", "{1}", "--html", "x.html"), "not a results folder"),
        (("view", "{0}", "--html", "{1}/no/x.html"), "cannot write a page"),
        (("view", "{0}", *(("--episode", "0") * 3), "--html", "x"), "expected one or two episodes"),
        (("view", "{0}", *(("--episode", "0") * 3)), "expected one or two episodes"),
        (("view", "{0}", "--host", "256.0.0.1"), "cannot listen on 256.0.0.1"),
    ],
)
def test_view_mistakes_are_named(
    capsys: Any, recorded: Path, words: tuple[str, ...], message: str
) -> None:
    pytest.importorskip("uvicorn", reason="pip install 'gym-memory[viewer]'")
    code, _, error = say(capsys, *(word.format(recorded, recorded.parent) for word in words))
    assert code == 2
    assert message in error
