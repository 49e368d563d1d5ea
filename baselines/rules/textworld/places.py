"""What is out of place, and where it belongs, by kind and by the company that things keep.

A room suits a thing by the kinds kept in its furniture, and by the likeness of names (sentence
embeddings). What seems out of place is counted among its likely neighbours and judged again for a
few rounds. Scores are standardised room by room, for some names are close to everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.baselines.rules.textworld.kinds import encode, suits
from gym_memory.memory.encoders import Encoder

__all__ = ["Misfit", "homes", "likeness", "misfits"]

_NAME, _FURNITURE, _COMPANY, _CROWD, _OF_KIND = 1.5, 0.6, 1.0, 1.0, 1.0
_NEAREST = 3
_ROUNDS = 4
_MARGIN = 0.05
_ROOM, _NEIGHBOURS, _COMMON, _KINDS, _SPREAD = 0.4, 0.4, 0.7, 2.0, 0.1
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
    """Hold a thing out of place, where it seems to belong, and the gain over where it is."""

    thing: str
    room: str
    gain: float


def misfits(
    where: Mapping[str, str],
    furniture: Mapping[str, tuple[str, ...]],
    encoder: Encoder,
    most: int | None = None,
) -> list[Misfit]:
    """Return things that are not in their room, carried things first, then by falling gain.

    Args:
        where: Thing to the room it is in; "" for a thing that is carried.
        furniture: Room to its furniture; these are the rooms there are.
        encoder: Encodes names; rows of unit length.
        most: Things at most that are out of place; carried ones come on top.
    """
    things, rooms = sorted(where), sorted(furniture)
    if not things or len(rooms) < 2:
        return []
    vectors = encode(encoder, "a {}", things)
    likeness = vectors @ vectors.T
    fixed = _NAME * np.mean(
        [vectors @ encode(encoder, t, rooms).T for t in _TEMPLATES], axis=0
    ) + _FURNITURE * np.stack(
        [_best(vectors @ encode(encoder, "a {}", furniture[r]).T, 2) for r in rooms], axis=1
    )
    fixed = fixed + _OF_KIND * _by_room(things, furniture, encoder)
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


def _by_room(
    things: list[str], furniture: Mapping[str, tuple[str, ...]], encoder: Encoder
) -> Floats:
    """Return how well each thing suits what is in each room, by name; 0 where nothing does."""
    holders = {piece: room for room in sorted(furniture) for piece in furniture[room]}
    best = np.zeros((len(things), len(furniture)))
    if holders:
        suited = suits(things, holders, encoder)
        for column, room in enumerate(sorted(furniture)):
            own = [at for at, piece in enumerate(holders) if holders[piece] == room]
            if own:
                best[:, column] = suited[:, own].max(1)
    return best


def _best(likeness: Floats, k: int) -> Floats:
    """Return the mean of the k highest of each row; zeros where there are no columns."""
    if not likeness.shape[1]:
        return np.zeros(len(likeness))
    highest: Floats = np.sort(likeness, axis=1)[:, -k:].mean(1)
    return highest


def _company(likeness: Floats, members: NDArray[np.bool_]) -> Floats:
    """Return how like each thing is to the members of a room, itself excluded."""
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
    """Return how well each thing (row) suits each piece of furniture (column).

    Judged by kind, by the names of the furniture and of its room (``holders``), and by what is
    there (``company``). From a piece that is like everything, most of that is taken off.
    """
    rows = encode(encoder, "a {}", tuple(things))
    pieces = encode(encoder, "a {}", tuple(holders))
    pieces = pieces + _ROOM * encode(encoder, "a {}", tuple(holders.values()))
    everyday = np.concatenate([rows, encode(encoder, "a {}", _EVERYDAY)])
    scores: Floats = (rows - _COMMON * everyday.mean(0)) @ pieces.T
    scores = scores + _KINDS * suits(things, holders, encoder)
    for column, holder in enumerate(holders):
        members = [thing for thing, place in company.items() if place == holder]
        close = rows @ encode(encoder, "a {}", tuple(members)).T
        for row, thing in enumerate(things):
            others = sorted(close[row, i] for i, member in enumerate(members) if member != thing)
            near = float(np.mean(others[-2:])) if others else _STRANGERS
            scores[row, column] += _NEIGHBOURS * (near - _STRANGERS)
    return scores


def homes(
    things: Sequence[str], holders: Mapping[str, str], company: Mapping[str, str], encoder: Encoder
) -> Floats:
    """Return how probably each thing belongs in or on each piece, where it is apart; rows sum to 1.

    The arguments are those of :func:`likeness`, with at least one holder.
    """
    scores = likeness(things, holders, company, encoder) / _SPREAD
    weights: Floats = np.exp(scores - scores.max(1, keepdims=True))
    return weights / weights.sum(1, keepdims=True)
