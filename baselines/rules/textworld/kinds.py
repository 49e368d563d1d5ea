"""Kinds of things and the kinds of places they are kept in: common sense, written down.

``kinds.json`` lists everyday names of things, of the furniture they are kept in or on, and of its
rooms. An encoder carries this over to other names: how far a thing, or a piece of furniture, is of
each kind is a ridge regression on the likeness of its name to those that are listed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.memory.encoders import Encoder

__all__ = ["Kind", "encode", "known_kinds", "suits"]

_WIDTH = 0.5
"""Over how much unlikeness (1 minus the cosine) a name says something of another."""
_RIDGE = 0.3
"""How little a single listed name is trusted."""
_ROOM = 0.3
"""What the name of its room counts beside that of a piece of furniture."""

Floats = NDArray[np.float64]


class Kind(NamedTuple):
    """List rooms, the furniture in them, and the things that are kept in or on it."""

    rooms: tuple[str, ...]
    places: tuple[str, ...]
    things: tuple[str, ...]


@cache
def known_kinds() -> tuple[Kind, ...]:
    """Return the kinds of ``kinds.json``."""
    source = files("gym_memory.baselines.rules.textworld") / "kinds.json"
    listed = json.loads(source.read_text(encoding="utf-8"))
    return tuple(Kind(**{part: tuple(names) for part, names in kind.items()}) for kind in listed)


def suits(things: Sequence[str], holders: Mapping[str, str], encoder: Encoder) -> Floats:
    """Return how well each thing (row) suits each piece of furniture (column), by their kinds.

    0.2 to 1 for what is listed together, about 0 for what has nothing to do with each other, or
    is like nothing that is listed.
    """
    sense = _sense(encoder)
    of_things = sense.things(encode(encoder, "a {}", tuple(things)))
    pieces = encode(encoder, "a {}", tuple(holders))
    rooms = encode(encoder, "a {}", tuple(holders.values()))
    return np.round(of_things @ sense.places(np.hstack([pieces, _ROOM * rooms])).T, 5)


def encode(encoder: Encoder, template: str, names: Sequence[str]) -> Floats:
    """Return unit rows, rounded so that the batch they came in does not matter."""
    if not names:
        return np.zeros((0, encoder.encode(["a"]).shape[1]))
    return np.round(encoder.encode([template.format(n) for n in names]).astype(float), 5)


class _Regression:
    """Map the vector of a name to how far it is of each kind, 0 for as far as any name."""

    def __init__(self, rows: Floats, kinds: Floats):
        self._middle = rows.mean(0)
        self._rows = self._centred(rows)
        ridge = _RIDGE * np.eye(len(rows))
        weights = np.linalg.solve(_kernel(self._rows, self._rows) + ridge, kinds - kinds.mean(0))
        self._weights: Floats = weights

    def __call__(self, rows: Floats) -> Floats:
        """Return one row a name, one column a kind."""
        result: Floats = _kernel(self._centred(rows), self._rows) @ self._weights
        return result

    def _centred(self, rows: Floats) -> Floats:
        rows = rows - self._middle
        centred: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return centred


def _kernel(left: Floats, right: Floats) -> Floats:
    likeness: Floats = np.exp((left @ right.T - 1) / _WIDTH)
    return likeness


class _Sense(NamedTuple):
    things: _Regression
    places: _Regression


_fitted: dict[str, _Sense] = {}


def _sense(encoder: Encoder) -> _Sense:
    """Return both regressions; fitted once a process, the names encoded once a machine."""
    if encoder.id not in _fitted:
        _fitted[encoder.id] = _fit(encoder)
    return _fitted[encoder.id]


def _fit(encoder: Encoder) -> _Sense:
    kinds = known_kinds()
    things, are = _listed([kind.things for kind in kinds])
    places, hold = _listed([kind.places for kind in kinds])
    stand: dict[str, list[str]] = {place: [] for place in places}
    for kind in kinds:
        for place in kind.places:
            stand[place] += kind.rooms
    rooms = np.stack([encode(encoder, "a {}", stand[place]).mean(0) for place in places])
    pieces = np.hstack([encode(encoder, "a {}", places), _ROOM * rooms])
    return _Sense(_Regression(encode(encoder, "a {}", things), are), _Regression(pieces, hold))


def _listed(names: Sequence[Sequence[str]]) -> tuple[list[str], Floats]:
    rows = {name: row for row, name in enumerate(dict.fromkeys(n for part in names for n in part))}
    under = np.zeros((len(rows), len(names)))
    for kind, part in enumerate(names):
        under[[rows[name] for name in part], kind] = 1.0
    return list(rows), under
