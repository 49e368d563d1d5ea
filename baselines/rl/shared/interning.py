"""Interning: features become numbers, and what is equal is kept, stored and encoded once.

A replay of a text game repeats itself: the same action in the same relations stands in most
observations of an episode. So a bag of features is stored once and named by a number, an
observation is the numbers of its bags, and a batch encodes each distinct bag once.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.settings import check_int

__all__ = ["Batch", "Ints", "Ragged", "Vocabulary"]

Ints = NDArray[np.int64]


class Vocabulary:
    """Features to rows of an embedding table, in the order in which training meets them.

    Row 0 is for features never trained, and stays zero: a word that is new in a test game says
    nothing instead of something arbitrary. Features that find no free row get row 0, too.

    Args:
        size: Rows, the first included, >= 2.
        names: Features that have rows already, in order.
    """

    def __init__(self, size: int, names: Iterable[str] = ()):
        check_int("size", size, 2)
        self.size = size
        self.frozen = False
        self._rows: dict[str, int] = {}
        for name in names:
            self._rows[name] = len(self._rows) + 1
        if len(self._rows) >= size:
            raise InvalidArgumentError(f"expected at most {size - 1} names, got {len(self._rows)}")

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def names(self) -> list[str]:
        """Features with a row, those of rows 1, 2, ... in order."""
        return list(self._rows)

    def rows(self, features: Iterable[str]) -> list[int]:
        """Rows of features; new ones get the next free row, or 0 when ``frozen`` or full."""
        known = self._rows
        found = []
        for feature in features:
            row = known.get(feature)
            if row is None:
                if self.frozen or len(known) + 1 >= self.size:
                    row = 0
                else:
                    row = known[feature] = len(known) + 1
            found.append(row)
        return found


class Batch(NamedTuple):
    """Several lists of numbers, end to end.

    Attributes:
        values: All numbers, int64 of shape (total,).
        offsets: Where each list begins, int64 of shape (n,).
        lengths: How long each list is, int64 of shape (n,).
    """

    values: Ints
    offsets: Ints
    lengths: Ints

    def split(self) -> tuple[Ints, Batch]:
        """The first number of each list, and the lists without it; no list may be empty."""
        is_rest = np.ones(len(self.values), bool)
        is_rest[self.offsets] = False
        offsets = self.offsets - np.arange(len(self.offsets))
        return self.values[self.offsets], Batch(self.values[is_rest], offsets, self.lengths - 1)


class Ragged:
    """Distinct lists of non-negative numbers, each stored once under its own number."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._ids: dict[tuple[int, ...], int] = {}
        self._values = np.zeros(1024, np.int32)
        self._starts = np.zeros(257, np.int64)
        self._used = 0

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, values: tuple[int, ...]) -> int:
        """The number of a list; stores it where it is new."""
        number = self._ids.get(values)
        if number is None:
            number = self._ids[values] = len(self._ids)
            end = self._used + len(values)
            if end > len(self._values):
                self._values = np.resize(self._values, max(end, 2 * len(self._values)))
            if number + 2 > len(self._starts):
                self._starts = np.resize(self._starts, 2 * len(self._starts))
            self._values[self._used : end] = values
            self._starts[number + 1] = self._used = end
        return number

    def gather(self, numbers: Ints) -> Batch:
        """The lists of these numbers, end to end."""
        starts = self._starts[numbers]
        lengths = self._starts[numbers + 1] - starts
        ends = np.cumsum(lengths)
        offsets = ends - lengths
        total = int(ends[-1]) if len(ends) else 0
        where = np.arange(total) + np.repeat(starts - offsets, lengths)
        return Batch(self._values[where].astype(np.int64), offsets, lengths)

    def gather_distinct(self, *columns: Ints) -> tuple[Batch, list[Ints]]:
        """The distinct lists that some columns name, and the columns as numbers of these."""
        used, where = np.unique(np.concatenate(columns), return_inverse=True)
        return self.gather(used), np.split(where, np.cumsum([len(c) for c in columns])[:-1])

    def keep(self, numbers: Ints) -> Ints:
        """Forget all lists but these, which get the numbers 0, 1, ... in the order given.

        Args:
            numbers: Distinct numbers.

        Returns:
            Old number to new number, -1 for what was forgotten.
        """
        kept = self.gather(numbers)
        renamed = np.full(len(self), -1, np.int64)
        renamed[numbers] = np.arange(len(numbers))
        starts = np.concatenate([kept.offsets, [len(kept.values)]])
        self.load_state({"values": kept.values.astype(np.int32), "starts": starts})
        return renamed

    def state(self) -> dict[str, NDArray[Any]]:
        """All lists end to end, and where each begins, the end of the last one included."""
        return {
            "values": self._values[: self._used].copy(),
            "starts": self._starts[: len(self) + 1].copy(),
        }

    def load_state(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Replace everything by what :meth:`state` returned."""
        self._clear()
        flat = arrays["values"].tolist()
        for start, end in itertools.pairwise(arrays["starts"].tolist()):
            self.add(tuple(flat[start:end]))
