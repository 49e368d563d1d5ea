"""What a training keeps in its folder beside checkpoints: its configuration and its curve."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gym_memory.core.errors import CheckpointError
from gym_memory.core.files import read_json, write_atomic

__all__ = ["check_config", "write_config", "write_curve"]

_CONFIG, _CURVE = "config.json", "curve.jsonl"


def check_config(
    folder: Path,
    wanted: Mapping[str, Any],
    what: str,
    defaults: Mapping[str, Mapping[str, Any]] | None = None,
) -> bool:
    """Whether a run has begun in a folder; one that has must be the wanted one.

    Args:
        folder: The run's folder.
        wanted: What identifies the run; JSON-able.
        what: What to call it, ``training run``.
        defaults: For parts of the configuration, the values that an older run did not write.

    Raises:
        CheckpointError: The folder holds another run, or its configuration cannot be read.
    """
    path = folder / _CONFIG
    if not path.exists():
        return False
    try:
        found = {**read_json(path)}
        for part, values in (defaults or {}).items():
            found[part] = {**values, **found.get(part, {})}
    except (OSError, ValueError, TypeError) as error:
        raise CheckpointError(f"expected {str(path)!r} to be that of a {what}: {error}") from error
    different = _differences(found, json.loads(json.dumps(wanted)))
    if different:
        raise CheckpointError(
            f"{str(folder)!r} holds another {what} ({'; '.join(different)}): choose another folder"
        )
    return True


def write_config(folder: Path, config: Mapping[str, Any], what: str) -> None:
    """Begin a run: make its folder and note what identifies it.

    Raises:
        CheckpointError: Nothing can be kept there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / _CONFIG, json.dumps(config, indent=2) + "\n")
    except OSError as error:
        raise CheckpointError(f"cannot keep a {what} in {str(folder)!r}: {error}") from error


def write_curve(folder: Path, curve: Sequence[Mapping[str, Any]]) -> None:
    """Replace the curve: a line of JSON a measurement."""
    write_atomic(folder / _CURVE, "".join(json.dumps(row) + "\n" for row in curve))


def _differences(found: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """Where two configurations differ; those of different baselines in that alone."""
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
