"""A game in a package of its own: what docs/own-game.md says, with the files of that page.

The package is built and installed by pip, then everything runs in fresh processes that find it as
any installed package is found. Nothing of gym-memory knows its name.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "own-game.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`([\w/.]+)`:\n\n```\w+\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE))
SHOWN = re.findall(
    r"installed|^```python\n(import gymnasium.*?)```", PAGE, re.DOTALL | re.MULTILINE
)
COMMANDS = [line.split() for line in re.findall(r"^    gym-memory (.+)$", PAGE, re.MULTILINE)]

DIARY = """
from gym_memory.memory.history import History

class Diary(History):
    \"\"\"The latest steps.\"\"\"
    name = "diary"
"""
MEMORY = """
[project.entry-points."gym_memory.memories"]
diary = "lighthouse.diary:Diary"
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the page's package as pip installs it, and a memory."""
    source, target = (tmp_path_factory.mktemp(name) for name in ("source", "site"))
    files = {**FILES, "lighthouse/__init__.py": "", "lighthouse/diary.py": DIARY}
    files["pyproject.toml"] += MEMORY
    for name, text in files.items():
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_text(text, encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    alone = ["--no-deps", "--no-build-isolation", "--no-index", "--target", str(target)]
    done = subprocess.run([*pip, *alone, str(source)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return target


def fresh(installed: Path, *words: str, cwd: Path) -> str:
    """Return standard output of a new interpreter that finds the package."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(installed), str(ROOT)))},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows_of(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


def test_the_page_has_the_files_of_a_package() -> None:
    assert [*FILES] == [
        *("lighthouse/game.py", "lighthouse/rules.py", "lighthouse/keeper.py", "pyproject.toml")
    ]
    assert [words[0] for words in COMMANDS] == ["list", "doctor", "compare", "quality", "exam"]


NAMES = """
import json, sys
import gym_memory, gymnasium
from gym_memory.baselines import POLICIES
from gym_memory.games import ENVIRONMENTS
from gym_memory.memory import MEMORIES
from gym_memory.extract import EXTRACTORS
found = [
    (table.names().count(name), name in table.names())
    for table, name in (
        (ENVIRONMENTS, "Lighthouse"), (EXTRACTORS, "lighthouse"),
        (POLICIES, "keeper"), (MEMORIES, "diary"),
    )
]
imported = [name for name in sys.modules if name.startswith("lighthouse")]
print(json.dumps([found, imported, "gym_memory/Lighthouse-v0" in gymnasium.registry]))
"""


def test_names_of_plugin_are_known_without_import(installed: Path, tmp_path: Path) -> None:
    found, imported, registered = json.loads(fresh(installed, "-c", NAMES, cwd=tmp_path))
    assert found == [[1, True]] * 4
    assert imported == []
    assert registered


PLAY = """
import json
import gymnasium as gym
from gymnasium.utils.env_checker import check_env
import gym_memory
env = gym.make("gym_memory/Lighthouse-v0", memory="arigraph", split="train")
obs, info = env.reset(seed=0)
assert info["task_id"] == "lighthouse/train/cellar" and info["dialect"] == "lighthouse"
for action in ("go up", "go down", "go down", "dance", "take oil"):
    obs, reward, terminated, truncated, info = env.step(action)
graph = env.get_wrapper_attr("memory").graph
raw = env.unwrapped
snapshot = raw.snapshot()
raw.step("go up")
again, _ = raw.restore(snapshot)
print(json.dumps([
    sorted(graph.live()), sorted(raw.oracle().facts), obs["text"] == again["text"],
    info["n_invalid"], info["normalized_score"], info["backend_version"],
]))
check_env(gym.make("gym_memory/Lighthouse-v0").unwrapped, skip_render_check=True)
"""


def test_arigraph_has_the_facts_that_its_rules_read(installed: Path, tmp_path: Path) -> None:
    live, true, same, invalid, score, version = json.loads(
        fresh(installed, "-c", PLAY, cwd=tmp_path)
    )
    assert ["oil", "is in", "inventory"] in live
    assert ["you", "is in", "cellar"] in live
    assert ["lamp room", "is up of", "hall"] in live
    assert ["shed", "is out of", "hall"] not in live, "nobody went there"
    assert [fact for fact in live if fact not in true] == []
    assert (same, invalid, score, version) == (True, 1, 0.5, "lighthouse 1.0")


def test_the_page_plays_as_it_is_shown(installed: Path, tmp_path: Path) -> None:
    printed = fresh(installed, "-c", next(filter(None, SHOWN)), cwd=tmp_path)
    assert printed.startswith(
        "The log says: the oil stands in the shed.\nhall | ways: up, down, out"
    )
    assert "oil | is in | shed" in printed


def test_the_commands_of_the_page(installed: Path, tmp_path: Path) -> None:
    listed, doctor, compare, quality, exam = ([*words, "--json"] for words in COMMANDS)
    command = ("-m", "gym_memory")
    parameters = {row["name"] for row in rows_of(fresh(installed, *command, *listed, cwd=tmp_path))}
    assert {"split", "max_steps"} <= parameters

    packages = rows_of(fresh(installed, *command, *doctor, cwd=tmp_path))
    found = {row["name"]: row for row in packages if row["part"] == "plugins"}
    assert found["lighthouse-game"]["state"] == "ok"
    assert "Lighthouse" in found["lighthouse-game"]["found"]

    words = [*compare, "-m", "diary", "--workers", "1"]
    rows = rows_of(fresh(installed, *command, *words, cwd=tmp_path))
    assert {row["memory"]: row["score"] for row in rows} == {
        "arigraph": 1.0,
        "none": 0.5,
        "diary": 0.5,
    }
    assert [row["n_failed"] for row in rows] == [0, 0, 0]
    record = json.loads((tmp_path / "results/lighthouse/environment.json").read_text())
    assert record["backends"] == {"Lighthouse": "lighthouse 1.0"}
    plugins = {name: v for name, v in record["plugins"].items() if name != "gym-memory-belief"}
    assert plugins == {"lighthouse-game": "1.0"}

    (row,) = rows_of(fresh(installed, *command, *quality, cwd=tmp_path))
    assert (row["precision"], row["recall"], row["staleness"]) == (1.0, 1.0, 0.0)

    marks = rows_of(fresh(installed, *command, *exam, cwd=tmp_path))
    seen = [m for m in marks if m["kind"] == "all" and m["wording"] == "seen"]
    right = {mark["memory"]: mark["right"] for mark in seen}
    assert right == {"arigraph": 1.0, "none": 0.0}
