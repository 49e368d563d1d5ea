"""The site builds strictly, fetches nothing, and misses nothing public."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gym_memory.memory import MEMORIES

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the built site; a warning (broken link, missing docstring or page) fails the build."""
    for package in ("mkdocs", "material", "mkdocstrings_handlers.python", "textworld"):
        pytest.importorskip(package, reason="needs the extras docs and textworld")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    pages = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert len(pages) > 90
    fetched = re.compile(
        r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?https?:"
        r"|<link\b[^>]*rel=[\"']?(?:stylesheet|preconnect|icon)[^>]*https?:|url\([\"']?https?:"
    )
    found = [page.name for page in pages if fetched.search(page.read_text(encoding="utf-8"))]
    assert found == []


def test_memory_has_a_page_with_its_recall(site: Path) -> None:
    for name in MEMORIES.names():
        page = (site / "memories" / f"{name}.html").read_text(encoding="utf-8")
        assert "Algorithm" in page
        assert f'src="../replays/{name}.html#16"' in page
        assert (site / "replays" / f"{name}.html").stat().st_size > 400_000
    page = (site / "memories" / "arigraph.html").read_text(encoding="utf-8")
    assert "golden key: opens golden locker; is in inventory" in page


def test_a_missing_docstring_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mkdocs", reason="needs the extra docs")
    monkeypatch.syspath_prepend(ROOT / "docs")
    import pages

    package = tmp_path / "gym_memory"
    package.mkdir()
    (package / "__init__.py").write_text('"""A package."""\n')
    (package / "bare.py").write_text(
        '"""A module."""\n__all__ = ["Base", "Heir", "SIZE"]\nSIZE = 3\n'
        'class Base:\n    """A class."""\n    def told(self):\n        """Told."""\n'
        "    def untold(self): ...\n    def _own(self): ...\n"
        'class Heir(Base):\n    """Another."""\n    def told(self): ...\n'
    )
    found = pages.undocumented({"gym_memory.bare"}, tmp_path)
    assert found == ["gym_memory.bare.Base.untold", "gym_memory.bare.SIZE"]


def test_llms_txt() -> None:
    links = re.findall(r"\]\(([^)]+)\)", (ROOT / "llms.txt").read_text(encoding="utf-8"))
    assert len(links) > 20
    assert [link for link in links if not (ROOT / link).exists()] == []
