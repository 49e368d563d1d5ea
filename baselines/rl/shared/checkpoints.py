"""Files of a training: checkpoints, its configuration and its curve."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gym_memory.core.errors import CheckpointError
from gym_memory.core.files import parse_json, read_json, write_atomic
from gym_memory.core.optional import require
from gym_memory.core.settings import check_name

__all__ = ["BEST", "LAST", "SHIPPED", "TRAINING", "check_config", "load_moments"]
__all__ += ["locate", "moments", "packed", "part", "prefixed", "read", "unpacked", "write"]
__all__ += ["write_config", "write_curve"]

BEST, LAST, TRAINING = "best.safetensors", "last.safetensors", "training.safetensors"
"""Files with the best player on valid games, the last one, and all that a training resumes from."""
SHIPPED = Path(__file__).parents[1] / "trained"
"""The folder of the players that ship, one file each; benchmarks/agents/trained.py trains them."""
_CONFIG, _CURVE = "config.json", "curve.jsonl"
_FORMAT = "gym-memory learner 1"


# ------------------------------------------------------------ checkpoints


def locate(checkpoint: str | os.PathLike[str], name: str) -> Path:
    """Return the file of a player: itself, the best one in a folder, or ``shipped`` with us."""
    path = Path(checkpoint)
    if str(checkpoint) != "shipped":
        return path / BEST if path.is_dir() else path
    names = sorted(file.stem for file in SHIPPED.glob("*.safetensors"))
    check_name("checkpoint that ships", name, names)
    return SHIPPED / f"{name}.safetensors"


def write(path: Path, tensors: dict[str, Any], record: dict[str, Any]) -> None:
    """Replace a checkpoint by torch tensors and a record of JSON-able values."""
    safetensors = require("safetensors.torch", "rl", "checkpoints")
    # Tied or sliced tensors share memory, which the format refuses.
    plain = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
    header = {"format": _FORMAT, "record": json.dumps(record)}
    header["sha256"] = _digest(plain, header["record"])
    content = safetensors.save(plain, metadata=header)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, content)
    except OSError as error:
        raise CheckpointError(f"cannot write a checkpoint to {str(path)!r}: {error}") from error


def read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tensors and the record of a checkpoint."""
    safetensors = require("safetensors", "rl", "checkpoints")
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (OSError, safetensors.SafetensorError) as error:
        raise CheckpointError(f"expected a checkpoint at {str(path)!r}: {error}") from error
    if header.get("format") != _FORMAT:
        raise CheckpointError(
            f"expected a checkpoint of 'gym-memory train' ({_FORMAT}) at {str(path)!r}, "
            f"got format {header.get('format')!r}"
        )
    try:
        if header.get("sha256", "") not in ("", _digest(tensors, header["record"])):
            raise ValueError("it was changed after it was written (its digest differs)")
        return tensors, {**parse_json(header["record"])}
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"expected a whole checkpoint at {str(path)!r}: {error}") from error


def _digest(tensors: Mapping[str, Any], record: str) -> str:
    """Return the SHA-256 of tensors with their names, types and shapes, and of the record."""
    torch = require("torch", "rl", "checkpoints")
    digest = hashlib.sha256(record.encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        flat = tensor.reshape(-1).clone(memory_format=torch.contiguous_format)
        digest.update(flat.view(torch.uint8).numpy())
    return digest.hexdigest()


def prefixed(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return tensors, or arrays as such, under ``name.``: one part of a checkpoint."""
    torch = require("torch", "rl", "checkpoints")
    return {f"{name}.{key}": torch.as_tensor(value) for key, value in values.items()}


def part(tensors: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the tensors of one part: the inverse of :func:`prefixed`."""
    prefix = f"{name}."
    return {k.removeprefix(prefix): t for k, t in tensors.items() if k.startswith(prefix)}


def packed(record: Any) -> Any:
    """Return values as of JSON, and arrays, as a tensor: a header takes 100 MB at most."""
    torch = require("torch", "rl", "checkpoints")
    text = json.dumps(record, default=lambda array: array.tolist())
    return torch.frombuffer(bytearray(text.encode()), dtype=torch.uint8)


def unpacked(tensor: Any) -> Any:
    """Return the inverse of :func:`packed`."""
    return parse_json(tensor.numpy().tobytes())


def moments(optimizer: Any) -> dict[str, Any]:
    """Return Adam's state of every parameter: one part of a checkpoint, ``adam``."""
    tensors: dict[str, Any] = {}
    for number, kept in optimizer.state_dict()["state"].items():
        tensors |= prefixed(f"adam.{number}", kept)
    return tensors


def load_moments(optimizer: Any, tensors: dict[str, Any]) -> None:
    """Restore an optimizer from the part that :func:`moments` returned."""
    state: dict[int, dict[str, Any]] = {}
    for name, tensor in part(tensors, "adam").items():
        number, _, key = name.partition(".")
        state.setdefault(int(number), {})[key] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


# ------------------------------------------------------------ the folder of a run


def check_config(
    folder: Path, wanted: Mapping[str, Any], what: str, defaults: Mapping[str, Any] | None = None
) -> bool:
    """Return True if the wanted run has begun in a folder, False if none has.

    A run from before a setting of the training existed had its default.
    """
    path = folder / _CONFIG
    if not path.exists():
        return False
    try:
        found = {**read_json(path)}
        if defaults is not None:
            found["training"] = {**defaults, **found.get("training", {})}
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
        write_atomic(folder / _CONFIG, json.dumps(config, indent=2) + "\n")
    except OSError as error:
        raise CheckpointError(f"cannot keep a {what} in {str(folder)!r}: {error}") from error


def write_curve(folder: Path, curve: Sequence[Mapping[str, Any]]) -> None:
    """Replace the curve: a line of JSON a measurement."""
    write_atomic(folder / _CURVE, "".join(json.dumps(row) + "\n" for row in curve))


def _differences(found: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """Return where two configurations differ; those of different baselines in that alone."""
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
