"""A game plays with only the core's packages, and all others name their extra at once."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
CORE = ("gymnasium", "numpy", "packaging", "platformdirs", "rich", "typer")
MAKE_ALL = """
import json
import gymnasium as gym
import gym_memory
from gym_memory.core.errors import MissingDependencyError
from gym_memory.games.base import ENVIRONMENTS, env_id

found = {}
for name in ENVIRONMENTS.names():
    if name == "Foreign":
        continue
    try:
        env = gym.make(env_id(name))
    except MissingDependencyError as error:
        found[name] = str(error)
    else:
        obs, info = env.reset(seed=0)
        obs, reward, terminated, truncated, info = env.step(obs["valid_actions"][0])
        found[name] = "plays"
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with links to the core's packages and their requirements alone."""
    folder = tmp_path_factory.mktemp("core")
    todo, done = list(CORE), set()
    while todo:
        name = re.sub(r"[-_.]+", "-", todo.pop()).lower()
        if name in done:
            continue
        done.add(name)
        found = distribution(name)
        for wanted in map(Requirement, found.requires or ()):
            if wanted.marker is None or wanted.marker.evaluate({"extra": ""}):
                todo.append(wanted.name)
        for top in {Path(str(file)).parts[0] for file in found.files or ()} - {".."}:
            place = Path(str(found.locate_file(top)))
            if place.exists() and not (folder / top).exists() and top != "__pycache__":
                (folder / top).symlink_to(place)
    (folder / "gym_memory").symlink_to(ROOT / "gym_memory")
    return folder


def run(packages: Path, *words: str, cwd: Path) -> str:
    start = f"import sys; sys.path[:0] = [{str(packages)!r}]; "
    done = subprocess.run(
        [sys.executable, "-S", "-c", start + words[0], *words[1:]],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(packages), "ALFWORLD_DATA": ""},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
def test_each_game_plays_or_names_its_extra(packages: Path, tmp_path: Path) -> None:
    found = json.loads(run(packages, MAKE_ALL, cwd=tmp_path))
    assert found.pop("Fetch") == found.pop("MultiHopQA") == "plays"
    assert len(found) >= 9
    for text in found.values():
        assert re.fullmatch(r"\S+ is not installed \(.+\)\. Install it with: pip install .+", text)


@pytest.mark.slow
def test_the_command_line_compares_memories(packages: Path, tmp_path: Path) -> None:
    words = ["compare", "-e", "Fetch?level=hard", "-m", "none", "-m", "arigraph", "-p", "planner"]
    main = "from gym_memory.cli import main; main()"
    shown = run(packages, main, *words, "--seeds", "0:2", "-w", "1", "--json", cwd=tmp_path)
    none, arigraph = (json.loads(line) for line in shown.splitlines())
    assert none["score"] < 0.5 < arigraph["score"] == 1.0
