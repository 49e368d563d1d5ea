"""Folder of a training: names of its files, its identity, and its learning curve."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gym_memory.core.errors import CheckpointError
from gym_memory.core.files import read_json, write_atomic

__all__ = ["BEST", "CONFIG", "CURVE", "LAST", "TRAINING", "check_config", "write_config"]
__all__ += ["write_curve"]

CONFIG, CURVE = "config.json", "curve.jsonl"
"""Files with the identity of a training, and with a line of JSON per measurement."""
BEST, LAST, TRAINING = "best.safetensors", "last.safetensors", "training.safetensors"
"""Files with the best player on valid games, the last one, and the state to resume from."""


def check_config(folder: Path, wanted: Mapping[str, Any], what: str) -> bool:
    """Return True if the run has begun in a folder, False if no run has."""
    path = folder / CONFIG
    if not path.exists():
        return False
    try:
        found = {**read_json(path)}
    except (OSError, ValueError, TypeError) as error:
        raise CheckpointError(f"expected {str(path)!r} to be that of a {what}: {error}") from error
    different = _differences(found, json.loads(json.dumps(wanted)))
    if different:
        raise CheckpointError(
            f"{str(folder)!r} holds another {what} ({'; '.join(different)}): choose another folder"
        )
    return True


def write_config(folder: Path, config: Mapping[str, Any], what: str) -> None:
    """Begin a run: create its folder and write its identity."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / CONFIG, json.dumps(config, indent=2) + "\n")
    except OSError as error:
        raise CheckpointError(f"cannot keep a {what} in {str(folder)!r}: {error}") from error


def write_curve(folder: Path, curve: Sequence[Mapping[str, Any]]) -> None:
    """Replace the curve."""
    write_atomic(folder / CURVE, "".join(json.dumps(row) + "\n" for row in curve))


def _differences(found: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """Return the differences of two configurations; only the baseline if that differs."""
    different = []
    for key in {**wanted, **found}:
        there, here = found.get(key), wanted.get(key)
        if isinstance(there, dict) and isinstance(here, dict):
            different += _differences(there, here)
        elif there != here:
            different.append(f"{key} is {there!r} there and {here!r} here")
        if key == "baseline" and different:
            break
    return different
