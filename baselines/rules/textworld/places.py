"""Find misplaced objects and their homes, by kinds and by the objects around them.

``kinds.json`` lists everyday objects with their furniture and rooms; an encoder extends it to other
names. A room suits an object if its furniture holds such kinds, or if their names are similar.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.memory.encoders import Encoder

__all__ = ["WEIGHTS", "Misfit", "PlaceKind", "PlaceWeights", "encode", "homes", "known_kinds"]
__all__ += ["likeness", "misfits", "suits"]

Floats = NDArray[np.float64]

_KERNEL_WIDTH = 0.5
"""Width of the kernel between names, in cosine distance."""
_RIDGE = 0.3
"""Ridge penalty of the regression; a larger one gives single names less weight."""
_MAX_CACHED_FITS = 4096
"""Names with cached fits, of some 10 kB each."""


@dataclass(frozen=True)
class PlaceWeights:
    """Weights of the evidence for an object's home, in cosines, and settings of the search."""

    listed_room: float = 0.3
    """Name of the room, relative to the name of a listed piece of furniture."""
    room_name: float = 1.5
    room_furniture: float = 0.6
    """Names of the furniture in a room."""
    room_nearest: float = 1.0
    """Most similar things in a room."""
    room_things: float = 1.0
    room_kinds: float = 1.0
    """Kinds of things that the furniture of a room holds."""
    furniture_room: float = 0.4
    """Name of the room, relative to the name of a piece of furniture."""
    furniture_things: float = 0.4
    furniture_kinds: float = 2.0
    everyday: float = 0.7
    """Share of the mean vector of everyday objects that is subtracted from an object's."""
    rounds: int = 4
    """Rounds of scoring rooms, each with the misplaced objects moved to their best rooms."""
    margin: float = 0.05
    """Least gain in score for a misplaced object, in standard deviations."""


WEIGHTS = PlaceWeights()


class PlaceKind(NamedTuple):
    """A kind of place: rooms, their furniture, and the objects kept in or on it."""

    rooms: tuple[str, ...]
    places: tuple[str, ...]
    things: tuple[str, ...]


@cache
def known_kinds() -> tuple[PlaceKind, ...]:
    """Return the kinds of ``kinds.json``."""
    source = files("gym_memory.baselines.rules.textworld") / "kinds.json"
    listed = json.loads(source.read_text(encoding="utf-8"))
    return tuple(
        PlaceKind(**{part: tuple(names) for part, names in kind.items()}) for kind in listed
    )


def suits(things: Sequence[str], holders: Mapping[str, str], encoder: Encoder) -> Floats:
    """Return how well each object (row) suits each piece of furniture (column) by kind.

    Pairs listed in ``kinds.json`` score 0.2 to 1; others score near 0.
    """
    sense = _kind_model(encoder)
    thing_fits = sense.things(encode(encoder, "a {}", tuple(things)))
    pieces = encode(encoder, "a {}", tuple(holders))
    rooms = encode(encoder, "a {}", tuple(holders.values()))
    return np.round(
        thing_fits @ sense.places(np.hstack([pieces, WEIGHTS.listed_room * rooms])).T, 5
    )


def encode(encoder: Encoder, template: str, names: Sequence[str]) -> Floats:
    """Return the unit vectors of names, rounded so that batching does not change them."""
    if not names:
        return np.zeros((0, encoder.encode(["a"]).shape[1]))
    return np.round(encoder.encode([template.format(n) for n in names]).astype(float), 5)


class _Regression:
    """A kernel ridge regression from a name's vector to its fit with each kind, centred at 0."""

    def __init__(self, rows: Floats, kinds: Floats):
        self._mean = rows.mean(0)
        self._rows = self._centred(rows)
        ridge = _RIDGE * np.eye(len(rows))
        weights = np.linalg.solve(_kernel(self._rows, self._rows) + ridge, kinds - kinds.mean(0))
        self._weights: Floats = weights
        self._cached_fit = lru_cache(_MAX_CACHED_FITS)(self._fit)

    def __call__(self, rows: Floats) -> Floats:
        """Return fits of shape (names, kinds), cached because the same names come at every step."""
        fits = [self._cached_fit(row.tobytes()) for row in rows]
        return np.reshape(fits, (len(rows), self._weights.shape[1]))

    def _fit(self, row: bytes) -> Floats:
        fit: Floats = _kernel(self._centred(np.frombuffer(row)[None]), self._rows) @ self._weights
        return fit[0]

    def _centred(self, rows: Floats) -> Floats:
        rows = rows - self._mean
        centred: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return centred


def _kernel(left: Floats, right: Floats) -> Floats:
    likeness: Floats = np.exp((left @ right.T - 1) / _KERNEL_WIDTH)
    return likeness


class _KindModel(NamedTuple):
    things: _Regression
    places: _Regression


_models: dict[tuple[str, PlaceWeights], _KindModel] = {}


def _kind_model(encoder: Encoder) -> _KindModel:
    """Return the regressions of things and places, fitted once per process."""
    key = (encoder.id, WEIGHTS)
    if key not in _models:
        _models[key] = _fit(encoder)
    return _models[key]


def _fit(encoder: Encoder) -> _KindModel:
    kinds = known_kinds()
    things, thing_kinds = _memberships([kind.things for kind in kinds])
    places, place_kinds = _memberships([kind.places for kind in kinds])
    rooms_of: dict[str, list[str]] = {place: [] for place in places}
    for kind in kinds:
        for place in kind.places:
            rooms_of[place] += kind.rooms
    rooms = np.stack([encode(encoder, "a {}", rooms_of[place]).mean(0) for place in places])
    pieces = np.hstack([encode(encoder, "a {}", places), WEIGHTS.listed_room * rooms])
    return _KindModel(
        _Regression(encode(encoder, "a {}", things), thing_kinds), _Regression(pieces, place_kinds)
    )


def _memberships(names: Sequence[Sequence[str]]) -> tuple[list[str], Floats]:
    rows = {name: row for row, name in enumerate(dict.fromkeys(n for part in names for n in part))}
    members = np.zeros((len(rows), len(names)))
    for kind, part in enumerate(names):
        members[[rows[name] for name in part], kind] = 1.0
    return list(rows), members


_NEAREST_THINGS = 3
"""Number of most similar objects of a room in its score."""
_TEMPERATURE = 0.1
"""Temperature of the softmax over furniture."""
_EVERYDAY_THINGS = (
    "cup", "plate", "spoon", "shirt", "shoe", "book", "pen", "lamp", "towel", "soap", "ball", "toy",
    "knife", "bottle", "apple", "bread", "hat", "coat", "pillow", "blanket", "hammer", "plant",
    "phone", "paper", "key", "candle", "pan", "toothbrush", "cushion", "bag",
)  # fmt: skip
"""Things of all kinds; similarity to all of them is no evidence for a place."""
_UNRELATED_COSINE = 0.2
"""Usual cosine between the names of two unrelated objects."""
_TEMPLATES = ("a {}", "used in the {}")


class Misfit(NamedTuple):
    """A misplaced object, the room where it probably belongs, and the gain in score."""

    thing: str
    room: str
    gain: float


def misfits(
    where: Mapping[str, str],
    furniture: Mapping[str, tuple[str, ...]],
    encoder: Encoder,
    most: int | None = None,
) -> list[Misfit]:
    """Return objects outside their room: carried ones, then at most ``most`` by decreasing gain.

    ``where`` maps an object to its room, "" for a carried one.
    """
    things, rooms = sorted(where), sorted(furniture)
    if not things or len(rooms) < 2:
        return []
    vectors = encode(encoder, "a {}", things)
    likeness = vectors @ vectors.T
    constant = WEIGHTS.room_name * np.mean(
        [vectors @ encode(encoder, t, rooms).T for t in _TEMPLATES], axis=0
    ) + WEIGHTS.room_furniture * np.stack(
        [_mean_of_best(vectors @ encode(encoder, "a {}", furniture[r]).T, 2) for r in rooms], axis=1
    )
    constant = constant + WEIGHTS.room_kinds * _room_kind_scores(things, furniture, encoder)
    current = np.array([rooms.index(where[t]) if where[t] in rooms else -1 for t in things])
    carried = current < 0
    home, found = current.copy(), np.zeros(len(things), bool)
    rows = np.arange(len(things))
    gain = best = np.zeros(len(things))
    for _ in range(WEIGHTS.rounds):
        scores = constant + np.stack(
            [_company_scores(likeness, home == j) for j in range(len(rooms))], 1
        )
        scores = (scores - scores.mean(0)) / (scores.std(0) + 1e-9)
        best = scores.argmax(1)
        gain = np.where(carried, 0.0, scores[rows, best] - scores[rows, current])
        order = [i for i in np.argsort(-gain, kind="stable") if gain[i] > WEIGHTS.margin][:most]
        found[:] = False
        found[order] = True
        home = np.where(found | carried, best, current)
    chosen = [*np.flatnonzero(carried), *order]
    return [Misfit(things[i], rooms[int(best[i])], float(gain[i])) for i in chosen]


def _room_kind_scores(
    things: list[str], furniture: Mapping[str, tuple[str, ...]], encoder: Encoder
) -> Floats:
    """Return the best score by kind (>= 0) of each object (row) in each room (column)."""
    holders = {piece: room for room in sorted(furniture) for piece in furniture[room]}
    best = np.zeros((len(things), len(furniture)))
    if holders:
        suited = suits(things, holders, encoder)
        for column, room in enumerate(sorted(furniture)):
            own = [at for at, piece in enumerate(holders) if holders[piece] == room]
            if own:
                best[:, column] = suited[:, own].max(1)
    return best


def _mean_of_best(likeness: Floats, k: int) -> Floats:
    """Return the mean of the k highest values of each row; 0 if there are no columns."""
    if not likeness.shape[1]:
        return np.zeros(len(likeness))
    highest: Floats = np.sort(likeness, axis=1)[:, -k:].mean(1)
    return highest


def _company_scores(likeness: Floats, members: NDArray[np.bool_]) -> Floats:
    """Return the similarity of each object to the other members of a room."""
    result = np.zeros(len(likeness))
    for i in range(len(likeness)):
        others = members.copy()
        others[i] = False
        row = np.sort(likeness[i, others])
        if len(row):
            result[i] = (
                WEIGHTS.room_nearest * row[-_NEAREST_THINGS:].mean()
                + WEIGHTS.room_things * row.mean()
            )
    return result


def likeness(
    things: Sequence[str], holders: Mapping[str, str], company: Mapping[str, str], encoder: Encoder
) -> Floats:
    """Return how well each object (row) suits each piece of furniture (column).

    The score depends on kinds, on the names of the furniture and its room (``holders``), and on the
    objects there (``company``). Similarity to everyday objects in general is subtracted.
    """
    rows = encode(encoder, "a {}", tuple(things))
    pieces = encode(encoder, "a {}", tuple(holders))
    pieces = pieces + WEIGHTS.furniture_room * encode(encoder, "a {}", tuple(holders.values()))
    everyday = np.concatenate([rows, encode(encoder, "a {}", _EVERYDAY_THINGS)])
    scores: Floats = (rows - WEIGHTS.everyday * everyday.mean(0)) @ pieces.T
    scores = scores + WEIGHTS.furniture_kinds * suits(things, holders, encoder)
    for column, holder in enumerate(holders):
        members = [thing for thing, place in company.items() if place == holder]
        close = rows @ encode(encoder, "a {}", tuple(members)).T
        for row, thing in enumerate(things):
            others = sorted(close[row, i] for i, member in enumerate(members) if member != thing)
            near = float(np.mean(others[-2:])) if others else _UNRELATED_COSINE
            scores[row, column] += WEIGHTS.furniture_things * (near - _UNRELATED_COSINE)
    return scores


def homes(
    things: Sequence[str], holders: Mapping[str, str], company: Mapping[str, str], encoder: Encoder
) -> Floats:
    """Return the probability that each object, if misplaced, belongs to each piece of furniture.

    Rows sum to 1. The arguments are those of :func:`likeness`, with at least one holder.
    """
    scores = likeness(things, holders, company, encoder) / _TEMPERATURE
    weights: Floats = np.exp(scores - scores.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True)
