"""Benchmarks and examples, which are no package, as modules."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]


def load(path: str) -> ModuleType:
    """Return a new module from a file, such as ``benchmarks/chaos.py``."""
    spec = importlib.util.spec_from_file_location(
        path.removesuffix(".py").replace("/", "_"), ROOT / path
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
