"""No terminal gets control characters from a stranger's folder."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gym_memory.cli import main
from gym_memory.run.config import Job, RunConfig
from gym_memory.run.play import play_job

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eevil"
RAW = ("\x1b", "\x07", "\x9b", "\u202e")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a results folder whose name, task and file hold control characters."""
    config = RunConfig(("FakeHouse?max_steps=5",), (EVIL,), ("random",), (0,), task_id=EVIL)
    made = tmp_path / "runs" / EVIL
    (job,) = config.jobs()
    file = made / "steps" / f"{job.config}-seed0.jsonl.gz"
    list(play_job(Job("FakeHouse?max_steps=5", "arigraph", "random", 0), record=str(file)))
    (made / "config.json").write_text(json.dumps({"format": 1, **config.to_json()}))
    (made / "manifest.json").write_text(json.dumps({EVIL: {"bytes": 1, "sha256": EVIL}}))
    return made


def wrong_format(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({"format": EVIL}))


def torn_episode(folder: Path) -> None:
    (folder / "episodes.jsonl").write_text(json.dumps({"last": EVIL}) + "\n{}\n")


@pytest.mark.parametrize("spoil", [None, wrong_format, torn_episode])
@pytest.mark.parametrize(
    "words",
    [
        *(("verify", "{}"), ("verify", "{}", "--json"), ("view", "{}", "--list"), ("report", "{}")),
        *(("view", "{}", "--html", "{}.html"), ("memory", "inspect", "{}/config.json")),
    ],
    ids=" ".join,
)
def test_no_command_prints_control_characters(
    capsys: Any, folder: Path, words: tuple[str, ...], spoil: Callable[[Path], None] | None
) -> None:
    if spoil:
        spoil(folder)
    with contextlib.suppress(SystemExit):
        main([word.format(folder) for word in words])
    printed = "".join(capsys.readouterr())
    assert printed
    assert [character for character in RAW if character in printed] == []
    assert "2J" in printed


def test_json_keeps_control_characters_escaped(capsys: Any, folder: Path) -> None:
    with pytest.raises(SystemExit):
        main(["verify", str(folder), "--json"])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["folder"] for row in rows} == {str(folder)}
    assert EVIL in [row["part"] for row in rows]
