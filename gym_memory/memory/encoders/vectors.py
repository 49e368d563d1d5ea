"""Vectors of texts: the encoder protocol, a growing matrix that can be searched, a cache."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import math
import sqlite3
import threading
import zlib
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from gym_memory.core.errors import InvalidArgumentError, MissingDependencyError
from gym_memory.core.files import cache_dir, encode
from gym_memory.core.optional import require
from gym_memory.core.settings import check_int

__all__ = ["DEFAULT_MODEL", "MOST_KEPT", "UNIT", "Encoder", "Sketches", "VectorCache"]
__all__ += ["VectorIndex", "Vectors", "find_faiss", "unit", "whole"]

DEFAULT_MODEL = "all-MiniLM-L6-v2"
"""Encoder of the AriGraph paper's kind: 384 numbers a text."""

Vectors = NDArray[np.float32]


class Encoder(Protocol):
    """An encoder of texts; two of one ``id`` give the same vectors, of length ``dim``."""

    id: str

    @property
    def dim(self) -> int:
        """Return the length of a vector."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of ``texts``: float32 of shape (len(texts), dim)."""
        ...


def unit(vectors: Vectors) -> Vectors:
    """Return rows scaled to length one."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.maximum(norms, np.float32(1e-12))


_SKETCH_WORDS = 4
"""Words of 64 bits a sketch: the number of different bits fits into a byte, except for 256."""
_BLOCK = 1 << 13
"""Sketches compared at a time, so that they and their distances stay in the processor's cache."""
_SAMPLING_INTERVAL = 32
"""Sampling interval of sketches, to guess how far the nearest ones reach."""


class Sketches:
    """Sketches of vectors of length ``dim`` by row; 32 bytes each.

    A bit is a side of a plane. The planes are orthogonal (Ji et al., Super-bit locality-sensitive
    hashing, NIPS 2012): rows of a Hadamard matrix with shuffled columns, exact for whole numbers.
    """

    def __init__(self, dim: int):
        bits = 64 * _SKETCH_WORDS
        size = 1 << (max(dim, bits) - 1).bit_length()
        noise = np.frombuffer(hashlib.shake_256(b"planes").digest(8 * size), "<u8")
        columns = np.argsort(noise, kind="stable")[:dim, None]
        odd = np.bitwise_count(columns & np.arange(bits)) & 1
        self.planes = 1 - 2 * odd.astype(np.float32)
        """Normals of the planes, 1 or -1, shape (dim, bits)."""
        self._words = np.zeros((16, _SKETCH_WORDS), dtype=np.uint64)

    def put(self, rows: Sequence[int], vectors: NDArray[np.floating]) -> None:
        """Sketch vectors of whole numbers, shape (len(rows), dim), for these rows."""
        while max(rows, default=-1) >= len(self._words):
            self._words = np.concatenate([self._words, np.zeros_like(self._words)])
        self._words[list(rows)] = self._sketch(vectors)

    def move(self, source: int, target: int) -> None:
        """Give one row the sketch of another."""
        self._words[target] = self._words[source]

    def nearest(
        self, vectors: NDArray[np.floating], most: int, count: int
    ) -> list[NDArray[np.int64]]:
        """Return for each vector ``most`` of the first ``count`` rows, ties included, ascending.

        A sample guesses the distance within which they are; only rows within it are kept.
        """
        if most >= count:
            return [np.arange(count)] * len(vectors)
        queries, sketches = self._sketch(vectors), self._words[:count]
        sample = sketches[::_SAMPLING_INTERVAL].copy()
        expected = most // _SAMPLING_INTERVAL
        rank = min(expected + 3 * math.isqrt(expected), len(sample) - 1)  # 3 sigma
        space = np.empty(len(queries) * len(sample), dtype=np.int32)
        cuts = np.partition(_distances(queries, sample, space), rank, axis=1)[:, rank]
        found: dict[int, NDArray[np.int64]] = {}
        while missing := [number for number in range(len(queries)) if number not in found]:
            within = _within(queries[missing], sketches, cuts[missing])
            for number, (rows, differ) in zip(missing, within, strict=True):
                if len(rows) >= most:
                    last = np.searchsorted(np.cumsum(np.bincount(differ)), most)
                    found[number] = rows[differ <= last]
            cuts += 1
        return [found[number] for number in range(len(queries))]

    def _sketch(self, vectors: NDArray[np.floating]) -> NDArray[np.uint64]:
        sides = vectors.astype(np.float32, copy=False) @ self.planes > 0
        return np.packbits(sides, axis=1).view(np.uint64)


@functools.cache
def find_faiss() -> Any:
    """Return the package that compares sketches several times as fast, or None."""
    try:
        return require("faiss", "faiss", "comparing sketches")
    except MissingDependencyError:
        return None


Near = tuple[NDArray[np.int64], NDArray[np.int32]]
"""Rows, ascending, and how many of their bits differ."""


def _within(
    queries: NDArray[np.uint64], sketches: NDArray[np.uint64], cuts: NDArray[np.int32]
) -> list[Near]:
    """Return, for each query, the sketches that differ in at most ``cuts`` bits."""
    parts = []
    # New memory for each block would cost a third more.
    space = np.empty(len(queries) * _BLOCK, dtype=np.int32)
    flags = np.empty(len(queries) * _BLOCK, dtype=np.bool_)
    for start in range(0, len(sketches), _BLOCK):
        differ = _distances(queries, sketches[start : start + _BLOCK], space)
        is_near = flags[: differ.size].reshape(differ.shape)
        at = np.flatnonzero(np.less_equal(differ, cuts[:, None], out=is_near))
        numbers, rows = np.divmod(at, differ.shape[1])
        parts.append((numbers, rows + start, differ.ravel()[at]))
    numbers, rows, near = map(np.concatenate, zip(*parts, strict=True))
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(np.bincount(numbers, minlength=len(queries)))[:-1]
    return list(zip(np.split(rows[order], ends), np.split(near[order], ends), strict=True))


def _distances(
    queries: NDArray[np.uint64], sketches: NDArray[np.uint64], space: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Count the bits that differ, shape (queries, sketches), in the beginning of a flat space."""
    differ = space[: len(queries) * len(sketches)].reshape(len(queries), len(sketches))
    if (faiss := find_faiss()) is not None:
        pointers = (faiss.swig_ptr(a.view(np.uint8)) for a in (queries, sketches))
        faiss.hammings(*pointers, *differ.shape, 8 * _SKETCH_WORDS, faiss.swig_ptr(differ))
        return differ
    words = sketches.T.copy()
    for query, line in zip(queries, differ, strict=True):
        np.bitwise_count(words ^ query[:, None]).sum(axis=0, out=line)
    return differ


UNIT = 2000
"""Length of a unit vector in the whole numbers that are compared: see VectorIndex."""
_CHUNK = 500
_MOST_SCANNED = 1 << 15
"""Rows up to which a search compares them all."""
_MOST_COMPARED = 3 << 10
"""Rows of the nearest sketches that are compared exactly ..."""
_FEW = 4
"""Vectors up to which one product each takes less time than one of matrices."""
_PART = 256
"""... so many at a time, which stay in the processor's cache."""
_TABLE = (
    "CREATE TABLE IF NOT EXISTS vectors (encoder TEXT, text TEXT, vector BLOB, crc INTEGER, "
    "PRIMARY KEY (encoder, text)) WITHOUT ROWID"
)
MOST_KEPT = 200_000
"""Vectors kept in a process; 300 MB of 384 numbers each. The oldest go first."""


class VectorIndex:
    """Unit vectors of length ``dim`` >= 1 by integer id; adding and removing are O(1) amortised.

    Components are rounded to multiples of 1/2000, so sums of float32 stay exact below 2**24, and
    similarities are bitwise reproducible with errors of a few 1e-4. Beyond 32,768 rows only
    the 3,072 rows with the nearest sketches, ties included, are compared exactly.

    >>> index = VectorIndex(2)
    >>> index.add([7, 3], np.array([[1, 0], [0, 1]], dtype=np.float32))
    >>> index.search(np.array([[0.6, 0.8]], dtype=np.float32), k=2)
    [[(3, 0.8), (7, 0.6)]]
    """

    def __init__(self, dim: int):
        check_int("dim", dim, 1)
        self.dim = dim
        self._rows: NDArray[Any] = np.empty((16, dim), dtype=np.float32)
        self._ids: NDArray[np.int64] = np.empty(16, dtype=np.int64)
        self._row_of: dict[int, int] = {}
        self._sketches: Sketches | None = None  # once there were too many rows for a scan

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._row_of)

    @property
    def ids(self) -> NDArray[np.int64]:
        """Return ids in the order of the rows; a view, valid until the next change."""
        return self._ids[: len(self)]

    def add(self, ids: Sequence[int], vectors: Vectors) -> None:
        """Add or replace rows: n ids, and unit vectors, float32 of shape (n, dim)."""
        if vectors.shape != (len(ids), self.dim):
            raise InvalidArgumentError(
                f"expected vectors of shape {(len(ids), self.dim)}, got {vectors.shape}"
            )
        while len(self) + len(ids) > len(self._ids):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
            self._ids = np.concatenate([self._ids, np.empty_like(self._ids)])
        numbers = whole(vectors)
        rows = [self._row_of.setdefault(id, len(self._row_of)) for id in ids]
        self._rows[rows], self._ids[rows] = numbers, ids
        if self._sketches is not None:
            self._sketches.put(rows, numbers)
        elif len(self) > _MOST_SCANNED:
            self._sketches = Sketches(self.dim)
            for start in range(0, len(self), _BLOCK):
                block = range(start, min(start + _BLOCK, len(self)))
                self._sketches.put(block, self._rows[block.start : block.stop])
            rows_so_far, self._rows = self._rows, np.empty(self._rows.shape, dtype=np.int16)
            self._rows[: len(self)] = rows_so_far[: len(self)]  # the rest was never written

    def remove(self, id: int) -> bool:
        """Remove a row: the last one takes its place. Return whether there was one."""
        row = self._row_of.pop(id, None)
        if row is None:
            return False
        last = len(self._row_of)
        if row != last:
            moved = int(self._ids[last])
            self._rows[row], self._ids[row] = self._rows[last], moved
            self._row_of[moved] = row
            if self._sketches is not None:
                self._sketches.move(last, row)
        return True

    def similarities(self, vectors: Vectors) -> Vectors:
        """Return dot products with all rows, shape (number of vectors, number of rows)."""
        return self._products(whole(vectors), self._rows[: len(self)])

    def _products(self, numbers: Vectors, rows: NDArray[Any]) -> Vectors:
        rows = rows.astype(np.float32, copy=False)
        # A matrix product first packs its right side; whole numbers give the same either way.
        if 0 < len(numbers) <= _FEW:
            products: Vectors = np.array([rows @ one for one in numbers])
        else:
            products = np.ascontiguousarray((rows @ numbers.T).T)
        return products / np.float32(UNIT * UNIT)

    def search(
        self, queries: Vectors, k: int, threshold: float | None = None
    ) -> list[list[tuple[int, float]]]:
        """Return the ``k`` best (id, similarity) of each query; ties go to the lower id.

        Args:
            queries: Unit vectors, float32 of shape (q, dim).
            k: Most rows per query, >= 1.
            threshold: Least similarity; None for any.
        """
        if k < 1:
            raise InvalidArgumentError(f"expected k as an int >= 1, got {k!r}")
        if not len(self) or not len(queries):
            return [[] for _ in range(len(queries))]
        if self._sketches is None or len(self) <= _MOST_SCANNED:
            return _best(self.similarities(queries), self.ids, k, threshold)
        vectors = whole(queries)
        nearest = self._sketches.nearest(vectors, max(k, _MOST_COMPARED), len(self))
        similar = np.full((len(vectors), max(map(len, nearest))), -np.inf, dtype=np.float32)
        ids = np.zeros(similar.shape, dtype=np.int64)
        taken = np.empty((_PART, self.dim), dtype=np.int16)  # one buffer for all parts
        rows = np.empty((_PART, self.dim), dtype=np.float32)
        for numbers, near, line, known in zip(vectors, nearest, similar, ids, strict=True):
            known[: len(near)] = self._ids[near]
            for start in range(0, len(near), _PART):
                part = near[start : start + _PART]
                self._rows.take(part, axis=0, out=taken[: len(part)], mode="clip")
                rows[: len(part)] = taken[: len(part)]
                np.dot(rows[: len(part)], numbers, out=line[start : start + len(part)])
        similar /= np.float32(UNIT * UNIT)
        return _best(similar, ids, k, threshold)


def _best(
    similar: Vectors, ids: NDArray[np.int64], k: int, threshold: float | None
) -> list[list[tuple[int, float]]]:
    """Return the best of each line; ``ids`` are those of one line, or of each."""
    count = similar.shape[1]
    if k < count:  # everything that reaches the k-th best, ties included
        least = np.partition(similar, count - k, axis=1)[:, count - k]
    else:
        least = np.full(len(similar), np.finfo(np.float32).min)  # above the padding of missing rows
    if threshold is not None:
        least = np.maximum(least, np.float32(threshold))
    # A tenth of the time that np.nonzero takes in two dimensions.
    which, rows = np.divmod(np.flatnonzero(similar >= least[:, None]), count)
    values, ids = similar[which, rows], np.broadcast_to(ids, similar.shape)[which, rows]
    order = np.lexsort((ids, -values, which))
    shown = values[order].astype(np.float64).round(6)
    found: list[list[tuple[int, float]]] = [[] for _ in range(len(similar))]
    for query, id, value in zip(
        which[order].tolist(), ids[order].tolist(), shown.tolist(), strict=True
    ):
        if len(found[query]) < k:
            found[query].append((id, value))
    return found


def whole(vectors: Vectors) -> Vectors:
    """Round the components of unit vectors to whole numbers, in units of 1 / UNIT."""
    return np.rint(vectors * np.float32(UNIT))


class VectorCache:
    """Vectors of encoded texts: in this process, and in a SQLite file for the next one.

    A file that cannot be used costs time, never an answer; without a path there is none.
    """

    def __init__(self, path: Path | None = None):
        self._path = path
        # A plain dict is slow to find its first key after many deletions at its start.
        self._kept: OrderedDict[tuple[str, str], NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    _shared: ClassVar[dict[Path | None, VectorCache]] = {}

    @classmethod
    def shared(cls, *, disk: bool = True) -> VectorCache:
        """Return the one cache of this process, in the cache folder unless ``disk`` is False."""
        path = cache_dir() / "vectors.sqlite" if disk else None
        return cls._shared.setdefault(path, cls(path))

    def __len__(self) -> int:
        """Return the number of vectors in this process."""
        return len(self._kept)

    def get(self, encoder: str, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the vectors of those ``texts`` that are known under an encoder's id."""
        with self._lock:
            found = {t: v for t in texts if (v := self._kept.get((encoder, t))) is not None}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing and self._path is not None:
            read = self._read(encoder, missing)
            self.keep(encoder, read)
            found.update(read)
        return found

    def put(self, encoder: str, texts: Sequence[str], vectors: Vectors) -> None:
        """Keep vectors, float32 of shape (len(texts), dim)."""
        self.keep(encoder, dict(zip(texts, vectors, strict=True)))
        if self._path is not None:
            blobs = [np.asarray(vector, dtype="<f4").tobytes() for vector in vectors]
            rows = [
                (encoder, text, blob, zlib.crc32(encode(text) + blob))
                for text, blob in zip(texts, blobs, strict=True)
            ]
            with contextlib.suppress(sqlite3.Error, OSError):
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._open() as database:
                    database.execute("BEGIN IMMEDIATE")  # waits for others; a later lock may not
                    database.execute(_TABLE)
                    with contextlib.suppress(sqlite3.OperationalError):  # an older file has none
                        database.execute("ALTER TABLE vectors ADD COLUMN crc INTEGER")
                    database.executemany("REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)

    def keep(self, encoder: str, found: Mapping[str, NDArray[np.float32]]) -> None:
        """Keep vectors in this process only."""
        with self._lock:
            for text, vector in found.items():
                self._kept[encoder, text] = vector
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)

    def _read(self, encoder: str, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        found: dict[str, NDArray[np.float32]] = {}
        if self._path is None or not self._path.is_file():
            return found
        with contextlib.suppress(sqlite3.Error), self._open() as database:
            for start in range(0, len(texts), _CHUNK):
                part = texts[start : start + _CHUNK]
                marks = ",".join("?" * len(part))
                rows = database.execute(
                    "SELECT text, vector, crc FROM vectors "
                    f"WHERE encoder = ? AND text IN ({marks})",
                    (encoder, *part),
                )
                for text, vector, crc in rows:
                    if crc is None or crc == zlib.crc32(encode(text) + vector):
                        found[text] = np.frombuffer(vector, dtype="<f4").astype(np.float32)
        return found

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Open a short connection: nothing stays open over a fork of the process."""
        assert self._path is not None
        database = sqlite3.connect(self._path, timeout=5)
        try:
            with database:
                yield database
        finally:
            database.close()
