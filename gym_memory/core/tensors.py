"""Devices and files of tensors: safetensors with JSON in the header; nothing is pickled."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gym_memory.core.errors import CheckpointError, InvalidArgumentError
from gym_memory.core.files import open_file, parse_json, write_atomic
from gym_memory.core.optional import require

__all__ = ["check_device", "flattened", "load_moments", "nested", "read_tensors", "write_tensors"]

_FORMAT = "gym-memory learner 1"
_PLAIN = "plain"
"""Name of the tensor for all values that are not tensors."""


def check_device(name: str) -> str:
    """Return the name of a device that torch finds here."""
    torch = require("torch", "rl", "tensors")
    gpus = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    found = ["cpu", *["cuda"][: len(gpus)], *gpus]
    if name not in found:
        raise InvalidArgumentError(
            f"expected device as one of {', '.join(found)}, which torch "
            f"{torch.__version__} finds here, got {name!r}"
        )
    return name


def write_tensors(path: Path, tensors: Mapping[str, Any], record: Mapping[str, Any]) -> None:
    """Replace a file by torch tensors and a record of JSON-able values."""
    safetensors = require("safetensors.torch", "rl", "checkpoints")
    # The format refuses tied or sliced tensors, which share memory.
    plain = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
    header = {"format": _FORMAT, "record": json.dumps(record)}
    header["sha256"] = _digest(plain, header["record"])
    content = safetensors.save(plain, metadata=header)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, content)
    except OSError as error:
        raise CheckpointError(f"cannot write a checkpoint to {str(path)!r}: {error}") from error


def read_tensors(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tensors and the record of a file."""
    safetensors = require("safetensors", "rl", "checkpoints")
    try:
        open_file(path).close()  # safetensors would wait for a pipe
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


def flattened(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested values as tensors by path, with all other values as JSON in one tensor.

    Arrays become lists, and keys strings. The JSON is a tensor because a header has at most 100 MB.
    """
    torch = require("torch", "rl", "checkpoints")
    tensors: dict[str, Any] = {}

    def plain(value: Any, path: tuple[str, ...]) -> Any:
        if isinstance(value, Mapping):
            return {str(key): plain(inner, (*path, str(key))) for key, inner in value.items()}
        if isinstance(value, torch.Tensor):
            tensors["/".join(path)] = value
            return None
        return value

    text = json.dumps(plain(state, ()), default=lambda array: array.tolist())
    return {**tensors, _PLAIN: torch.frombuffer(bytearray(text.encode()), dtype=torch.uint8)}


def nested(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Return the nested values from :func:`flattened`."""
    state: dict[str, Any] = parse_json(tensors[_PLAIN].numpy().tobytes())
    for path in tensors.keys() - {_PLAIN}:
        *above, name = path.split("/")
        functools.reduce(dict.__getitem__, above, state)[name] = tensors[path]
    return state


def load_moments(optimizer: Any, moments: dict[str, Any]) -> None:
    """Load the state of a torch Adam from a file, where parameter numbers are text."""
    kept = {int(number): state for number, state in moments.items()}
    optimizer.load_state_dict({**optimizer.state_dict(), "state": kept})
