"""What is out of place, and where it belongs, by the company that things keep.

A room suits a thing when the sentence embeddings of the thing and of the room's name, its
furniture and its other things are alike. Most things are in their room, so their neighbours tell
most; what seems out of place is counted among its likely neighbours and judged again, which
settles in a few rounds. Scores are standardised room by room, or a room whose name is close to
everything would attract everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.memory.encoders import Encoder

__all__ = ["Misfit", "homes", "likeness", "misfits"]

_NAME, _FURNITURE, _COMPANY, _CROWD = 1.5, 0.6, 1.0, 1.0
_NEAREST = 3
_ROUNDS = 4
_MARGIN = 0.05
_ROOM, _NEIGHBOURS, _COMMON, _SPREAD = 0.4, 0.4, 0.7, 0.07
_EVERYDAY = (
    "cup", "plate", "spoon", "shirt", "shoe", "book", "pen", "lamp", "towel", "soap", "ball", "toy",
    "knife", "bottle", "apple", "bread", "hat", "coat", "pillow", "blanket", "hammer", "plant",
    "phone", "paper", "key", "candle", "pan", "toothbrush", "cushion", "bag",
)  # fmt: skip
"""Things of all kinds: a piece of furniture that is like them all is like nothing much."""
_STRANGERS = 0.2
"""How alike two things are that have nothing to do with each other."""
_TEMPLATES = ("a {}", "used in the {}")

Floats = NDArray[np.float64]


class Misfit(NamedTuple):
    """A thing out of place: where it seems to belong, and by how much more than where it is."""

    thing: str
    room: str
    gain: float


def misfits(
    where: Mapping[str, str],
    furniture: Mapping[str, tuple[str, ...]],
    encoder: Encoder,
    most: int | None = None,
) -> list[Misfit]:
    """Judge which things are not in their room.

    Args:
        where: Thing to the room it is in; "" for a thing that is carried.
        furniture: Room to its furniture; these are the rooms there are.
        encoder: Encodes names; rows of unit length.
        most: Things at most that are out of place; carried ones come on top.

    Returns:
        The misfits, carried things first, then by falling gain.
    """
    things, rooms = sorted(where), sorted(furniture)
    if not things or len(rooms) < 2:
        return []
    vectors = _encode(encoder, "a {}", things)
    likeness = vectors @ vectors.T
    fixed = _NAME * np.mean(
        [vectors @ _encode(encoder, t, rooms).T for t in _TEMPLATES], axis=0
    ) + _FURNITURE * np.stack(
        [_best(vectors @ _encode(encoder, "a {}", furniture[r]).T, 2) for r in rooms], axis=1
    )
    current = np.array([rooms.index(where[t]) if where[t] in rooms else -1 for t in things])
    carried = current < 0
    home, found = current.copy(), np.zeros(len(things), bool)
    rows = np.arange(len(things))
    gain = best = np.zeros(len(things))
    for _ in range(_ROUNDS):
        scores = fixed + np.stack([_company(likeness, home == j) for j in range(len(rooms))], 1)
        scores = (scores - scores.mean(0)) / (scores.std(0) + 1e-9)
        best = scores.argmax(1)
        gain = np.where(carried, 0.0, scores[rows, best] - scores[rows, current])
        order = [i for i in np.argsort(-gain, kind="stable") if gain[i] > _MARGIN][:most]
        found[:] = False
        found[order] = True
        home = np.where(found | carried, best, current)
    chosen = [*np.flatnonzero(carried), *order]
    return [Misfit(things[i], rooms[int(best[i])], float(gain[i])) for i in chosen]


def _encode(encoder: Encoder, template: str, names: list[str] | tuple[str, ...]) -> Floats:
    """Unit rows, rounded so that the batch they came in does not matter."""
    if not names:
        return np.zeros((0, encoder.encode(["a"]).shape[1]))
    return np.round(encoder.encode([template.format(n) for n in names]).astype(float), 5)


def _best(likeness: Floats, k: int) -> Floats:
    """Mean of the k highest of each row; zeros where there are no columns."""
    if not likeness.shape[1]:
        return np.zeros(len(likeness))
    highest: Floats = np.sort(likeness, axis=1)[:, -k:].mean(1)
    return highest


def _company(likeness: Floats, members: NDArray[np.bool_]) -> Floats:
    """How like each thing is to the members of a room, itself excluded."""
    result = np.zeros(len(likeness))
    for i in range(len(likeness)):
        others = members.copy()
        others[i] = False
        row = np.sort(likeness[i, others])
        if len(row):
            result[i] = _COMPANY * row[-_NEAREST:].mean() + _CROWD * row.mean()
    return result


def likeness(
    things: Sequence[str], holders: Mapping[str, str], company: Mapping[str, str], encoder: Encoder
) -> Floats:
    """How well each thing suits each piece of furniture.

    Judged by the names of the furniture and of its room, and by what lies there. From a piece
    that is like everything, most of that is taken off.

    Args:
        things: Names of things.
        holders: Piece of furniture to its room.
        company: Thing to the holder that it lies in or on.
        encoder: Encodes names; rows of unit length.

    Returns:
        One row a thing, one column a holder.
    """
    rows = _encode(encoder, "a {}", tuple(things))
    pieces = _encode(encoder, "a {}", tuple(holders))
    pieces = pieces + _ROOM * _encode(encoder, "a {}", tuple(holders.values()))
    everyday = np.concatenate([rows, _encode(encoder, "a {}", _EVERYDAY)])
    scores: Floats = (rows - _COMMON * everyday.mean(0)) @ pieces.T
    for column, holder in enumerate(holders):
        members = [thing for thing, place in company.items() if place == holder]
        close = rows @ _encode(encoder, "a {}", tuple(members)).T
        for row, thing in enumerate(things):
            others = sorted(close[row, i] for i, member in enumerate(members) if member != thing)
            near = float(np.mean(others[-2:])) if others else _STRANGERS
            scores[row, column] += _NEIGHBOURS * (near - _STRANGERS)
    return scores


def homes(
    things: Sequence[str], holders: Mapping[str, str], company: Mapping[str, str], encoder: Encoder
) -> Floats:
    """How probably each thing belongs in or on each piece of furniture, where it lies apart.

    Args:
        things: Names of things.
        holders: Piece of furniture to its room; at least one.
        company: Thing to the holder that it lies in or on.
        encoder: Encodes names; rows of unit length.

    Returns:
        One row a thing, which sums to 1; one column a holder.
    """
    scores = likeness(things, holders, company, encoder) / _SPREAD
    weights: Floats = np.exp(scores - scores.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True)
