"""Text encoders: strings in, unit vectors out, each string encoded once in its life.

Names: ``all-MiniLM-L6-v2`` or another sentence-transformers model or folder; ``onnx`` and
``onnx-int8`` (8 bits), also with ``:<model>``; ``hash``, without weights. No network is used.
``pretrained.py`` has the models on disk, ``minilm.py`` runs the default one, ``vectors.py`` has the
vectors that are kept.
"""

from __future__ import annotations

import functools
import os
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.settings import check_int
from gym_memory.core.text import words
from gym_memory.memory.encoders.pretrained import OnnxEncoder, SentenceEncoder
from gym_memory.memory.encoders.vectors import DEFAULT_MODEL, Encoder, VectorCache, Vectors, unit

__all__ = ["DEFAULT_MODEL", "CachedEncoder", "Encoder", "HashEncoder", "calibrated_threshold"]
__all__ += ["make_encoder", "named_encoder", "unit"]


class HashEncoder:
    """Words and letter trigrams hashed into a vector of length ``dim`` >= 8; needs nothing."""

    def __init__(self, dim: int = 256):
        check_int("dim", dim, 8)
        self.dim = dim
        self.id = f"hash-{dim}"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors; a text without letters or digits gets the first axis."""
        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in zip(out, texts, strict=True):
            for word in words(text):
                self._add(row, word, 1.0)
                for i in range(len(word) - 2):
                    self._add(row, "#" + word[i : i + 3], 0.5)
            if not row.any():
                row[0] = 1.0
        return unit(out)

    def _add(self, row: NDArray[np.float32], feature: str, weight: float) -> None:
        code = zlib.crc32(feature.encode())
        row[(code >> 1) % self.dim] += weight if code & 1 else -weight


class CachedEncoder:
    """An encoder that keeps its vectors in this process, and on disk for the next one."""

    def __init__(self, encoder: Encoder, cache: VectorCache):
        self._encoder, self._cache = encoder, cache
        self.id = encoder.id

    @property
    def dim(self) -> int:
        """Return the length of a vector."""
        return self._encoder.dim

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of ``texts``; each distinct new text is encoded once, in one call."""
        found = self._cache.get(self.id, texts)
        new = [text for text in dict.fromkeys(texts) if text not in found]
        if new:
            vectors = self._encoder.encode(new)
            found.update(zip(new, vectors, strict=True))
            self._cache.put(self.id, new, vectors)
        if not texts:
            return np.zeros((0, self.dim), dtype=np.float32)
        return np.stack([found[text] for text in texts])

    def remember(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Add vectors from another process, float32 of shape (len(texts), dim)."""
        self._cache.keep(self.id, dict(zip(texts, vectors, strict=True)))


def make_encoder(name: str | Encoder) -> CachedEncoder:
    """Return the process's cached encoder of a name (see the module), or wrap an encoder."""
    if isinstance(name, str):
        if not name:
            raise InvalidArgumentError("expected the name of an encoder, got an empty text")
        return named_encoder(name, os.environ.get("GYM_MEMORY_CACHE", ""))
    if not hasattr(name, "encode") or not hasattr(name, "id"):
        raise InvalidArgumentError(
            f"expected an encoder or its name such as 'hash', got {type(name).__name__}"
        )
    return name if isinstance(name, CachedEncoder) else CachedEncoder(name, VectorCache.shared())


@functools.cache
def named_encoder(name: str, _cache: str) -> CachedEncoder:
    """Build an encoder by its name, once for each cache folder."""
    kind, _, model = name.partition(":")
    if name == "hash":
        return CachedEncoder(HashEncoder(), VectorCache.shared(disk=False))
    if kind in ("onnx", "onnx-int8"):
        encoder: Encoder = OnnxEncoder(model or DEFAULT_MODEL, int8=kind == "onnx-int8")
    else:
        encoder = SentenceEncoder(name)
    return CachedEncoder(encoder, VectorCache.shared())


_TOPICS = (
    ("red apple", "red apple, is in, fridge"),
    ("kitchen", "kitchen, has exit, north"),
    ("golden key", "golden key, opens, golden locker"),
    ("stove", "stove, used for, frying"),
    ("sheep", "sheep, eats, grass"),
    ("violin", "violin, was played by, a musician"),
    ("thermometer", "thermometer, measures, temperature"),
    ("passport", "passport, expires in, june"),
    ("harbor", "harbor, is full of, sailing boats"),
    ("dragon", "dragon, guards, the cave"),
    ("toothbrush", "toothbrush, belongs to, bathroom"),
    ("electric circuit", "electric circuit, contains, a light bulb"),
)


def calibrated_threshold(encoder: Encoder) -> float:
    """Return the similarity that 95 % of unrelated texts stay below."""
    names = encoder.encode([name for name, _ in _TOPICS])
    facts = encoder.encode([fact for _, fact in _TOPICS])
    unrelated = (names @ facts.T)[~np.eye(len(_TOPICS), dtype=bool)]
    return round(float(np.quantile(unrelated, 0.95)), 3)
