"""Sketches: a few hundred bits a vector, by which the nearest of a million are found in a moment.

A bit says on which side of a random plane through the origin a vector lies (Charikar, Similarity
estimation techniques from rounding algorithms, STOC 2002): two vectors at an angle of a differ in
a share a / pi of their bits. The planes have the directions +-1, so that for vectors of whole
numbers the sides are exact, and follow from a hash, so that they are the same everywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Sketches"]

_WORDS = 8
"""Words of 64 bits a sketch."""
_BITS = 64 * _WORDS
_BLOCK = 1 << 14
"""Sketches compared at a time, so that they stay in the processor's cache."""

Vectors = NDArray[np.floating]


class Sketches:
    """Sketches of vectors of length ``dim`` by row; 64 bytes each."""

    def __init__(self, dim: int):
        bits = np.frombuffer(hashlib.shake_256(b"planes").digest(dim * _BITS // 8), np.uint8)
        signs = np.unpackbits(bits).reshape(dim, _BITS)
        self._planes = signs.astype(np.float32) * 2 - 1
        self._words = np.zeros((_WORDS, 16), dtype=np.uint64)

    def put(self, rows: Sequence[int], vectors: Vectors) -> None:
        """Sketch vectors of whole numbers, shape (len(rows), dim), for these rows."""
        while max(rows, default=-1) >= self._words.shape[1]:
            self._words = np.concatenate([self._words, np.zeros_like(self._words)], axis=1)
        self._words[:, list(rows)] = self._sketch(vectors).T

    def move(self, source: int, target: int) -> None:
        """Give one row the sketch of another."""
        self._words[:, target] = self._words[:, source]

    def nearest(self, vector: Vectors, most: int, count: int) -> NDArray[np.int64]:
        """Return the ``most`` of the first ``count`` rows whose sketches differ least, ascending.

        Rows that differ as little as the last of them are included.
        """
        query = self._sketch(vector[None])[0]
        differ = np.zeros(count, dtype=np.uint16)
        for start in range(0, count, _BLOCK):
            part = differ[start : start + _BLOCK]
            for word, bits in zip(
                query, self._words[:, start : min(start + _BLOCK, count)], strict=True
            ):
                part += np.bitwise_count(bits ^ word)
        if most >= count:
            return np.arange(count)
        return np.flatnonzero(differ <= np.partition(differ, most - 1)[most - 1])

    def _sketch(self, vectors: Vectors) -> NDArray[np.uint64]:
        sides = vectors.astype(np.float32, copy=False) @ self._planes > 0
        return np.packbits(sides, axis=1).view(np.uint64)
