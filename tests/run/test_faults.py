"""Some faults of benchmarks/faults: nothing acknowledged is lost, every error is one line."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


@pytest.mark.skipif(shutil.which("cc") is None, reason="the shim is compiled by cc")
@pytest.mark.skipif(sys.platform != "linux", reason="the shim is preloaded by Linux' loader")
def test_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    script = Path(__file__).parents[2] / "benchmarks" / "faults" / "run.py"
    words = [sys.executable, str(script), "--every", "40", "--out", str(tmp_path / "faults.json")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=550)
    assert done.returncode == 0, done.stdout + done.stderr
    total = json.loads((tmp_path / "faults.json").read_text())["total"]
    assert total.pop("faults") > 80
    assert total == {"lost": 0, "tracebacks": 0, "complaints": 0}
