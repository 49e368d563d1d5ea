"""What all tests share: the fake house, registered; a way to run code in a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_env import register_fake
from hypothesis import settings

register_fake()
# The same examples in every run, wherever it is; no time limit on a busy machine.
settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
settings.load_profile("repeatable")

Python = Callable[..., str]


@pytest.fixture(scope="session")
def python() -> Python:
    """``python(code, *args, hashseed=0)`` runs code in a new interpreter; gives its stdout."""

    def run(code: str, *args: str, hashseed: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-c", code, *args],
            env={
                **os.environ,
                "PYTHONHASHSEED": str(hashseed),
                "PYTHONPATH": str(Path(__file__).parent),
            },
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
