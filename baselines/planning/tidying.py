"""Tidying: what is out of place, and where it belongs, by the company that things keep.

A room suits a thing when the sentence embeddings of the thing and of the room's name, its
furniture and its other things are alike. Most things are in their room, so their neighbours tell
most; what seems out of place is counted among its likely neighbours and judged again, which
settles in a few rounds. Scores are standardised room by room, or a room whose name is close to
everything would attract everything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gym_memory.baselines.planning.beliefs import Beliefs
from gym_memory.baselines.planning.travel import Move, explore, open_here, step_towards
from gym_memory.memory.encoders import Encoder, make_encoder
from gym_memory.memory.schema import LOCATIONS

__all__ = ["Misfit", "Tidier", "misfits"]

_TASK = re.compile(r"\b(?:tidy|clean up|out of place|misplaced|where (?:it|they) belongs?)\b", re.I)
_COUNT = re.compile(r"\b(\d+) things?\b[^.]*\bout of place\b", re.IGNORECASE)
_SURVEY = "survey: "
_PLAN = re.compile(r"tidy: (.*?)(?: \| last: |$)")
_NAME, _FURNITURE, _COMPANY, _CROWD = 1.5, 0.6, 1.0, 1.0
_NEAREST = 3
_ROUNDS = 4
_MARGIN = 0.05
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


class Tidier:
    """Looks at every room, decides once what goes where, then collects and puts it there.

    Before it decides it pauses with a plan that names all rooms, for a memory that recalls what
    the plan is about. The decision is the published plan, ``tidy: razor to bathroom; ...``, which
    shrinks as it is carried out; a memory steered by it keeps those things in view.

    Args:
        encoder: Name of an encoder of meaning (see :func:`make_encoder`); built on first use.
    """

    def __init__(self, encoder: str):
        self._encoder = encoder

    def __call__(self, beliefs: Beliefs) -> Move | None:
        """The next step; None when the task is not about tidying."""
        if not _TASK.search(beliefs.task.goal):
            return None
        plan = _read_plan(beliefs.plan)
        if plan is None:
            look = open_here(beliefs, "see what is where") or explore(beliefs, "see what is where")
            if look is not None:
                return look
            if not beliefs.plan.startswith(_SURVEY):
                return Move("look", _SURVEY + ", ".join(beliefs.distances()))
            plan = self._decide(beliefs)
        plan = [(t, r) for t, r in plan if beliefs.holds(t) or beliefs.room_of(t) != r]
        action = _put(beliefs, plan) or _take(beliefs, plan) or _go(beliefs, plan)
        return Move(action or "look", _write_plan(plan))

    def _decide(self, beliefs: Beliefs) -> list[tuple[str, str]]:
        rooms = {room: _furniture(beliefs, room) for room in beliefs.distances()}
        where = {}
        for room, pieces in rooms.items():
            for thing in beliefs.contents(room):
                if thing not in pieces:
                    where[thing] = room
        where.update(dict.fromkeys(beliefs.held(), ""))
        told = _COUNT.search(beliefs.task.goal)
        most = int(told[1]) if told else None
        out = misfits(where, rooms, make_encoder(self._encoder), most)
        return [(thing, room) for thing, room, _ in out]


def _write_plan(plan: list[tuple[str, str]]) -> str:
    return "tidy: " + ("; ".join(f"{thing} to {room}" for thing, room in plan) or "all done")


def _read_plan(text: str) -> list[tuple[str, str]] | None:
    found = _PLAN.match(text)
    if found is None:
        return None
    entries = (entry.rpartition(" to ") for entry in found[1].split("; "))
    return [(thing, room) for thing, _, room in entries if thing]


def _put(beliefs: Beliefs, plan: list[tuple[str, str]]) -> str | None:
    for thing, room in plan:
        if room == beliefs.here and beliefs.holds(thing):
            puts = [a for a in beliefs.options("put") if a.startswith(f"put {thing} on ")]
            for action in (*puts, f"drop {thing}"):
                if action in beliefs.actions:
                    return action
    return None


def _take(beliefs: Beliefs, plan: list[tuple[str, str]]) -> str | None:
    for thing, room in plan:
        for action in beliefs.options("take") if room != beliefs.here else ():
            if action == f"take {thing}" or action.startswith(f"take {thing} from "):
                return action
    return None


def _go(beliefs: Beliefs, plan: list[tuple[str, str]]) -> str | None:
    """To the nearest room with something to pick up or to put down."""
    distances = beliefs.distances()
    rooms = [room if beliefs.holds(thing) else beliefs.room_of(thing) for thing, room in plan]
    known = [(distances[r], r) for r in rooms if r in distances and r != beliefs.here]
    return step_towards(beliefs, min(known)[1]) if known else None


def _furniture(beliefs: Beliefs, room: str) -> tuple[str, ...]:
    """Things in a room that open or hold others, or are seen to hold nothing: they stay."""
    return tuple(
        t.subject
        for t in beliefs.graph.incoming(room)
        if t.relation in LOCATIONS
        and (
            beliefs.openness(t.subject)
            or beliefs.is_state(t.subject, "empty")
            or beliefs.contents(t.subject)
        )
    )
