"""Test that the wheel holds every file of the packages and works outside the repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
LINKED = ("wrappers", "baselines")
FOLDERS = ("gym_memory", *LINKED)
BUILT_FROM = ("pyproject.toml", "README.md", "LICENSE", "NOTICE.md")


def files() -> list[str]:
    """Return the files of the packages on disk, without caches and links."""
    names = [
        path.relative_to(ROOT).as_posix()
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    ]
    links = tuple(f"gym_memory/{name}" for name in LINKED)
    return [name for name in names if not name.startswith(links)]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the working tree."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in [*files(), *BUILT_FROM]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    for name in LINKED:
        (folder / "gym_memory" / name).symlink_to(f"../{name}")
    return folder


def run(folder: Path, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder.parent,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert not check or done.returncode == 0, done.stderr
    return done


def wheel_of(folder: Path, to: Path) -> Path:
    """Return the wheel that pip builds."""
    words = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    run(folder, *words, "--disable-pip-version-check", "-w", str(to), str(folder))
    (wheel,) = to.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel_of(checkout, tmp_path_factory.mktemp("wheel"))


def test_the_wheel_holds_every_file_of_the_packages(wheel: Path) -> None:
    expected = {
        name if name.startswith("gym_memory/") else f"gym_memory/{name}" for name in files()
    }
    assert len(expected) > 300
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert found == expected


OUTSIDE = """
import gym_memory, gymnasium as gym
env = gym.make("gym_memory/Cooking-v0", level="rl-1", memory="arigraph")
obs, info = env.reset(seed=0)
obs, *_ = env.step(obs["valid_actions"][0])
print(gym_memory.__file__, len(obs["triples"]) > 3)
"""


def test_the_wheel_works_outside_the_repository(wheel: Path, tmp_path: Path) -> None:
    """``benchmarks/bare_wheel.sh`` does the same in a venv that holds nothing else."""
    pytest.importorskip("textworld", reason="needs the extra textworld")
    site = tmp_path / "site"
    pip = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(site)]
    run(site, *pip, "--disable-pip-version-check", str(wheel))
    where, learnt = run(site, "-c", OUTSIDE).stdout.split()
    assert (where, learnt) == (str(site / "gym_memory" / "__init__.py"), "True")
    command = ("-m", "gym_memory")
    assert "arigraph" in run(site, *command, "list", "memories").stdout
    printed = run(site, *command, "doctor", "--json").stdout.splitlines()
    state = {row["name"]: row["state"] for row in map(json.loads, printed)}
    assert state["textworld"] == "ok"
    words = ("compare", "-e", "TreasureHunt?level=easy", "-m", "arigraph", "-p", "planner")
    printed = run(site, *command, *words, "--seeds", "0:1", "--out", "results", "--json").stdout
    assert json.loads(printed)["score"] == 1.0
    assert "<html" in (tmp_path / "results" / "report.html").read_text(encoding="utf-8")
