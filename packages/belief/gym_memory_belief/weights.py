"""The weights of a belief updater: sizes, arrays, and the file that holds both.

A file is in the safetensors format: the length of a JSON header, the header with notes on the
training, the arrays as float16. It is read and written here, so that playing needs numpy alone.
"""

from __future__ import annotations

import dataclasses
import json
import os
import struct
import zlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.core.errors import CheckpointError
from gym_memory.core.files import write_atomic
from gym_memory.core.settings import Help, Settings
from gym_memory_belief.sight import FLAGS, PAIRS, SEGMENTS

__all__ = ["DEFAULT_WEIGHTS", "Sizes", "Weights", "load_weights", "save_weights", "shapes"]

Floats = NDArray[np.float32]

DEFAULT_WEIGHTS = Path(__file__).with_name("default.safetensors")
"""The weights in the package; see benchmarks/belief."""
COMMAND = "gym-memory memory pretrain"
_FORMAT = "gym-memory belief 1"
_MOST_HEADER = 1 << 20


@dataclasses.dataclass(frozen=True)
class Sizes(Settings):
    """Sizes of an updater."""

    relations: Annotated[int, Help("Latent relations, R.", 1, 1 << 16)] = 8
    rows: Annotated[int, Help("Rows of the table of hashed words.", 1, 1 << 16)] = 2048
    dim: Annotated[int, Help("Length of a word's vector.", 1, 1 << 16)] = 20
    hidden: Annotated[int, Help("Length of a node's and of a pair's vector.", 1, 1 << 16)] = 24
    reach: Annotated[int, Help("Words to either side in a word's context.", 1, 1 << 16)] = 3


def shapes(sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """Return the shape of every array of an updater."""
    r, d, h = sizes.relations, sizes.dim, sizes.hidden
    return {
        "words": (sizes.rows, d),
        "context": ((2 * sizes.reach + 1) * d, d),
        "context_bias": (d,),
        "node": (len(SEGMENTS) * d + len(FLAGS) + 5 * r, h),
        "node_name": (d, h),
        "node_bias": (h,),
        "pair_first": (h, h),
        "pair_second": (h, h),
        "pair_kind": (len(PAIRS), h),
        "pair_after": (d, h),
        "pair_before": (d, h),
        "pair_edge": (r, h),
        "pair_back": (r, h),
        "pair_action": (d, h),
        "pair_bias": (h,),
        "gate": (h, r),
        "gate_bias": (r,),
        "new": (h, r),
        "new_bias": (r,),
    }


class Weights(NamedTuple):
    """Weights of an updater.

    Attributes:
        id: Checksum: equal weights have equal ids.
        sizes: Sizes.
        arrays: Name to array, float32.
        about: Notes on the training.
    """

    id: str
    sizes: Sizes
    arrays: Mapping[str, Floats]
    about: Mapping[str, Any]


def save_weights(
    path: str | os.PathLike[str],
    sizes: Sizes,
    arrays: Mapping[str, Any],
    about: Mapping[str, Any],
) -> None:
    """Write weights, rounded to float16."""
    header: dict[str, Any] = {
        "__metadata__": {
            "format": _FORMAT,
            "sizes": json.dumps(dataclasses.asdict(sizes)),
            "about": json.dumps(about),
        }
    }
    body = b""
    for name, shape in shapes(sizes).items():
        data = np.ascontiguousarray(arrays[name], dtype="<f2").reshape(shape).tobytes()
        header[name] = {
            "dtype": "F16",
            "shape": list(shape),
            "data_offsets": [len(body), len(body) + len(data)],
        }
        body += data
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    try:
        write_atomic(path, struct.pack("<Q", len(head)) + head + body)
    except OSError as error:
        raise CheckpointError(f"cannot write weights to {os.fspath(path)!r}: {error}") from error


def load_weights(path: str = "") -> Weights:
    """Return the weights in a file, by default those in the package.

    Raises:
        CheckpointError: The file does not exist or has other content.
    """
    file = Path(path) if path else DEFAULT_WEIGHTS
    try:
        stamp = file.stat()
    except OSError as error:
        raise _wrong(file, error) from error
    return _load(file, (stamp.st_mtime_ns, stamp.st_size))


@lru_cache(maxsize=8)
def _load(file: Path, stamp: tuple[int, int]) -> Weights:
    try:
        content = file.read_bytes()
        (length,) = struct.unpack_from("<Q", content)
        if length > _MOST_HEADER:
            raise ValueError("no header")
        header = json.loads(content[8 : 8 + length])
        record = header["__metadata__"]
        if record.get("format") != _FORMAT:
            raise ValueError(f"format {record.get('format')!r} instead of {_FORMAT!r}")
        sizes = Sizes(**json.loads(record["sizes"]))
        about = json.loads(record["about"])
        body = content[8 + length :]
        arrays = {}
        for name, shape in shapes(sizes).items():
            entry = header[name]
            if entry["dtype"] != "F16" or tuple(entry["shape"]) != shape:
                raise ValueError(f"{name} of shape {entry['shape']} instead of {list(shape)}")
            data = np.frombuffer(body[slice(*entry["data_offsets"])], dtype="<f2")
            arrays[name] = data.reshape(shape).astype(np.float32)
    except (OSError, struct.error, KeyError, TypeError, ValueError) as error:
        raise _wrong(file, error) from error
    return Weights(f"{zlib.crc32(body):08x}", sizes, arrays, about)


def _wrong(file: Path, error: Exception) -> CheckpointError:
    return CheckpointError(
        f"expected weights of the memory 'belief' at {str(file)!r}: {error}. Make some with: "
        f"{COMMAND} --out FOLDER, then belief?weights=FOLDER/belief.safetensors"
    )
