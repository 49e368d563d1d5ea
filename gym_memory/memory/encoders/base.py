"""The encoder protocol: strings in, unit vectors out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["DEFAULT_MODEL", "Encoder", "Vectors", "unit"]

DEFAULT_MODEL = "all-MiniLM-L6-v2"
"""The encoder of the AriGraph paper's kind: 384 numbers a text."""

Vectors = NDArray[np.float32]


class Encoder(Protocol):
    """The encoding role.

    Attributes:
        id: Names the vectors: two encoders with one id give the same vectors.
        dim: Length of a vector.
    """

    id: str
    dim: int

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of ``texts``: float32 of shape (len(texts), dim)."""
        ...


def unit(vectors: Vectors) -> Vectors:
    """Return rows scaled to length one."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.maximum(norms, np.float32(1e-12))
