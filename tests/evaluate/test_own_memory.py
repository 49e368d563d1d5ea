"""The example of docs/own-memory.md does what the page says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "own-memory.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
TESTS = str(ROOT / "tests")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "room_notes.py").write_text(BLOCKS[0], encoding="utf-8")
    return tmp_path


def python(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(folder), TESTS))},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_second_block_plays_a_real_game(folder: Path) -> None:
    pytest.importorskip("textworld")
    python(folder, "-c", BLOCKS[1])


CONTRACT = """
import json
from gym_memory.testing import fake_env
fake_env.register_fake()
import gymnasium as gym, room_notes
from gym_memory.memory import make_memory
from gym_memory.memory.base import count_tokens
from gym_memory.core.records import Cue
env = gym.make(fake_env.FAKE_ID, memory="room-notes?rooms=2", budget=60)
obs, info = env.reset(seed=3)
memory = env.get_wrapper_attr("memory")
seen = []
for step in range(25):
    obs, _, done, cut, info = env.step(obs["valid_actions"][step * 7 % len(obs["valid_actions"])])
    assert count_tokens(obs["memory"]) <= 60
    seen.append(obs["memory"])
    if done or cut:
        break
twin = make_memory("room-notes?rooms=2")
twin.load_state(json.loads(json.dumps(memory.state())))
cue = Cue(obs["text"], focus="go to the study")
assert memory.recall(cue, 200) == twin.recall(cue, 200) == memory.fork().recall(cue, 200)
assert any(seen)
memory.begin(None, 0)
assert memory.recall(cue, 200).text == ""
"""


def test_the_memory_keeps_the_contract(folder: Path) -> None:
    python(folder, "-c", CONTRACT)


def test_it_can_be_compared_and_examined_from_command_line(folder: Path) -> None:
    (folder / "house.py").write_text(
        "from gym_memory.testing.fake_env import register_fake\nregister_fake()\n"
    )
    common = ("--import", "room_notes", "--import", "house", "-e", "FakeHouse", "-p", "random")
    words = ("-m", "gym_memory", "compare", *common, "--json", "--workers", "1")
    rows = [
        json.loads(line)
        for line in python(folder, *words, "-m", "none", "-m", "room-notes").splitlines()
    ]
    assert {row["memory"] for row in rows} == {"none", "room-notes"}
    assert not any(row["n_failed"] for row in rows)
    words = ("-m", "gym_memory", "exam", *common, "--json", "--seeds", "0:2", "--lengths", "30")
    marks = [json.loads(line) for line in python(folder, *words, "-m", "room-notes").splitlines()]
    where = max(mark["right"] for mark in marks if mark["kind"] == "where")
    assert where > 0.5  # its notes are read as transcripts are


def test_an_entry_point_makes_the_name_known(folder: Path) -> None:
    toml = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert toml is not None
    header, line = toml[1].strip().split("\n")
    group = re.search(r'"(.+)"', header)
    assert group is not None
    info = folder / "room_notes-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: room-notes\nVersion: 1.0\n")
    point = line.replace('"', "")
    (info / "entry_points.txt").write_text(f"[{group[1]}]\n{point}\n")
    code = """
from gym_memory.memory import MEMORIES, make_memory
assert "room-notes" in MEMORIES.names()
print(type(make_memory("room-notes?rooms=1")).__name__)
import room_notes  # importing it as well does no harm
"""
    assert python(folder, "-c", code).strip() == "RoomNotes"
