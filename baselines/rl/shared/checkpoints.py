"""Checkpoints: one safetensors file that holds tensors and, in its header, JSON; never pickle.

::

    best.safetensors      what the policy plays: weights and vocabulary, best on valid games
    last.safetensors      the same, of the end
    training.safetensors  all that going on with the training needs

A file is replaced as a whole, so a reader sees the old one or the new one.
"""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from gym_memory.baselines.rl.shared.learner import Learner, check_device
from gym_memory.core.errors import CheckpointError
from gym_memory.core.files import parse_json, write_atomic
from gym_memory.core.optional import require
from gym_memory.core.settings import make_settings

if TYPE_CHECKING:
    import safetensors
    import safetensors.torch
    import torch
else:
    torch = require("torch", "rl", "the RL baselines")
    safetensors = require("safetensors", "rl", "checkpoints")
    require("safetensors.torch", "rl", "checkpoints")

__all__ = [
    "BEST",
    "LAST",
    "TRAINING",
    "arrays",
    "load_moments",
    "load_player",
    "moments",
    "part",
    "prefixed",
    "read",
    "save_player",
    "write",
]

BEST, LAST, TRAINING = "best.safetensors", "last.safetensors", "training.safetensors"
_FORMAT = "gym-memory learner 1"
L = TypeVar("L", bound=Learner)


def write(path: Path, tensors: dict[str, Any], record: dict[str, Any]) -> None:
    """Replace a checkpoint.

    Args:
        path: The file.
        tensors: Name to torch tensor.
        record: JSON-able values.

    Raises:
        CheckpointError: The file cannot be written there.
    """
    header = {"format": _FORMAT, "record": json.dumps(record)}
    # Tied or sliced tensors share memory, which the format refuses.
    plain = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}
    content = safetensors.torch.save(plain, metadata=header)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, content)
    except OSError as error:
        raise CheckpointError(f"cannot write a checkpoint to {str(path)!r}: {error}") from error


def read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tensors and the record of a checkpoint.

    Raises:
        CheckpointError: There is none, it is torn, or something else wrote it.
    """
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
        return tensors, {**parse_json(header["record"])}
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"expected a whole checkpoint at {str(path)!r}: {error}") from error


def prefixed(name: str, values: dict[str, Any]) -> dict[str, Any]:
    """Tensors, or arrays as such, under ``name.``: one part of a checkpoint."""
    return {f"{name}.{key}": torch.as_tensor(value) for key, value in values.items()}


def part(tensors: dict[str, Any], name: str) -> dict[str, Any]:
    """The inverse of :func:`prefixed`: the tensors of one part."""
    prefix = f"{name}."
    return {k.removeprefix(prefix): t for k, t in tensors.items() if k.startswith(prefix)}


def arrays(tensors: dict[str, Any], name: str) -> dict[str, Any]:
    """Those of one part as arrays."""
    return {key: tensor.numpy() for key, tensor in part(tensors, name).items()}


def moments(optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """What Adam keeps of every parameter: one part of a checkpoint, ``adam``."""
    tensors: dict[str, Any] = {}
    for number, kept in optimizer.state_dict()["state"].items():
        tensors |= prefixed(f"adam.{number}", kept)
    return tensors


def load_moments(optimizer: torch.optim.Optimizer, tensors: dict[str, Any]) -> None:
    """Give an optimizer what :func:`moments` took from it, found among other parts."""
    state: dict[int, dict[str, Any]] = {}
    for name, tensor in part(tensors, "adam").items():
        number, _, key = name.partition(".")
        state.setdefault(int(number), {})[key] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


def save_player(path: Path, learner: Learner, about: dict[str, Any]) -> None:
    """Write what a learner plays with.

    Args:
        path: The file.
        learner: The learner.
        about: What to note with it (environment, memory, scores, ...).
    """
    tensors, record = learner.weights()
    head = {"baseline": learner.name, "settings": dataclasses.asdict(learner.settings)}
    write(path, tensors, {**head, "about": about, "learnt": record})


def load_player(path: str | os.PathLike[str], learner_class: type[L], device: str = "cpu") -> L:
    """A learner that can play, from a file or from the folder of a training run.

    Raises:
        CheckpointError: It cannot be read, or is one of another baseline.
        InvalidArgumentError: There is no such device here.
    """
    file = Path(path) / BEST if Path(path).is_dir() else Path(path)
    tensors, record = read(file)
    if "slots" in record:
        raise CheckpointError(
            f"expected a player, got the state of a training at {str(file)!r}: give the folder, "
            f"or {BEST} or {LAST} in it"
        )
    if record.get("baseline") != learner_class.name:
        raise CheckpointError(
            f"expected a checkpoint of {learner_class.name!r} at {str(file)!r}, "
            f"got one of {record.get('baseline')!r}"
        )
    check_device(device)
    try:
        settings = make_settings(learner_class.settings_class, record["settings"])
        learner = learner_class(settings, device=device)
        learner.load_weights(tensors, record["learnt"])
    except (
        ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError
    ) as error:  # fmt: skip
        raise CheckpointError(
            f"expected a checkpoint of this version of {learner_class.name!r} at {str(file)!r}: "
            f"{error}"
        ) from error
    return learner
