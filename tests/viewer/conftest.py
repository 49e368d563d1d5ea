"""A real server, a real headless Chromium, and recorded runs to look at."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import GET_CHROMIUM, Browser, open_window, serving

from gym_memory.run.compare import compare
from gym_memory.run.config import RunConfig


@pytest.fixture(scope="session")
def window() -> Iterator[Browser]:
    """Yield a browser for all tests."""
    if not shutil.which("chromedriver"):
        pytest.skip(GET_CHROMIUM)
    pytest.importorskip("selenium", reason=GET_CHROMIUM)
    with open_window() as browser:
        yield browser


@pytest.fixture
def browser(window: Browser) -> Iterator[Browser]:
    """Yield a blank window; at the end its console must have no error."""
    window.open("about:blank", ready=False)
    window.dark(False)
    window.errors()
    yield window
    assert window.errors() == []


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a results folder of two memories on the same games."""
    pytest.importorskip("textworld", reason="pip install 'gym-memory[textworld]'")
    folder = tmp_path_factory.mktemp("runs") / "memories"
    config = RunConfig(
        ("TreasureHunt?level=easy&max_steps=40",), ("none", "arigraph"), ("planner",), (0, 1)
    )
    rows = compare(config, folder)
    assert not any(row.result.failed for row in rows)
    return folder


@pytest.fixture(scope="session")
def site(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a server for ``runs``."""
    with serving("view", str(runs), cwd=tmp_path_factory.mktemp("site")) as address:
        yield address


AXE = "4.14.1"


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the source of axe-core, from the npm registry."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("no npm to get axe-core with: apt-get install npm")
    folder = tmp_path_factory.mktemp("axe")
    packed = subprocess.run(
        [npm, "pack", "--silent", f"axe-core@{AXE}"], cwd=folder, capture_output=True, text=True
    )
    if packed.returncode:
        pytest.skip(f"npm cannot get axe-core: {packed.stderr.strip()[-200:]}")
    shutil.unpack_archive(folder / f"axe-core-{AXE}.tgz", folder)
    return (folder / "package" / "axe.min.js").read_text(encoding="utf-8")
