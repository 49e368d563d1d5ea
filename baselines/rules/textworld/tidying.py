"""Tidy: explore the rooms, infer where each object belongs, and carry it there.

``tidying.toml`` lists the phrases of tasks about tidying.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gym_memory.baselines.rules.base import explore, open_here, step_towards
from gym_memory.baselines.rules.beliefs import Beliefs
from gym_memory.baselines.rules.plan import Aim, Kind, Move
from gym_memory.baselines.rules.textworld.errands import gives_directions
from gym_memory.baselines.rules.textworld.hunting import is_key, read_here
from gym_memory.baselines.rules.textworld.places import homes, likeness, misfits
from gym_memory.core.errors import MissingDependencyError
from gym_memory.graph.schema import LOCATIONS, is_readable
from gym_memory.memory.encoders import make_encoder

__all__ = ["Tidier", "is_about_tidying"]

_IDIOMS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_TIDYING_ORDER, _TIDYING_TASK = (
    re.compile(rf"\b(?:{'|'.join(idioms)})\b", re.IGNORECASE)
    for idioms in (_IDIOMS["orders"], chain.from_iterable(_IDIOMS.values()))
)
_MISPLACED_COUNT = re.compile(
    r"\b(\d+)\b(?= (?:\w+ )?(?:things?|went|are|objects?|items?)\b)", re.IGNORECASE
)
_PRINTED = re.compile(
    r"book|paper|novel|magazine|diary|journal|map|document|manual|manuscript|scroll|sheet"
)
_ROOMS_TO_SURVEY = 3
"""Least number of rooms for a survey, which lets the memory recall the whole house."""
_ROOMS_OF_LARGE_HOUSE = 6
"""Least number of rooms of a house in which trying all places takes too long."""
_THINGS_PER_CROWDED_ROOM = 4
"""Mean number of objects per room that is enough to recognize a misplaced one."""
PRIOR_SHARE = 0.3
"""Prior share of misplaced objects if the task gives no number."""
PRIOR_COUNT = 6
"""Pseudo-count behind the prior share of misplaced things."""
_MIN_CHANCE_UNREQUESTED = 0.1
"""Least probability of a placing if the task does not mention tidying."""
_PLACED_IN_TIME = 0.85
"""Probability of finding the right place of a misplaced object within a few attempts."""
MAX_PLANNED = 5
"""Most placings in one plan."""
MIN_RATIO = 0.4
"""Least probability of a planned placing, as a share of the best one's."""
MIN_RATIO_AT_RISK = 0.6
"""Same share in games where taking an object from its right place loses a point."""

Placings = list[tuple[str, str]]
"""Pairs of an object and the room or furniture where it belongs."""


@dataclass(frozen=True)
class Tidying(Aim):
    """An aim to carry objects to their places, reached when no placing is left."""

    placings: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, placings: Placings) -> Tidying:
        """Build the aim, whose text lists the placings."""
        words = "; ".join(f"{thing} to {target}" for thing, target in placings) or "all done"
        return cls(f"tidy: {words}", Kind.TIDY, placings=tuple(placings))

    @property
    def waits(self) -> bool:
        """True if no placing is left."""
        return not self.placings


class Tidier:
    """An advisor that infers where objects belong and carries them there.

    It plans after exploring, and again when no placing is left. It compares objects with rooms in a
    large, full house, and with furniture in others. Bayes' rule combines similarity with the
    expected share of misplaced objects. Placings with the best ratio of probability to steps come
    first; an object that gained nothing goes to its next best place. Before planning over several
    rooms, the player looks once with an aim that names them all, since some memories search by the
    aim.

    Args:
        encoder: Name of a semantic encoder (see :func:`make_encoder`); built on first use.
        unrequested: Whether to tidy only in tasks that do not mention it; needs the encoder.
    """

    def __init__(self, encoder: str, *, unrequested: bool = False):
        self._encoder, self._unrequested = encoder, unrequested

    def __call__(self, beliefs: Beliefs) -> Iterator[Move]:
        """Yield the next move; nothing if another task is requested."""
        requested = is_about_tidying(beliefs.task.goal)
        if requested == self._unrequested or beliefs.ingredients():
            return
        try:
            yield from self._tidy(beliefs)
        except MissingDependencyError:  # a task that does not mention tidying needs no encoder
            if requested:
                raise

    def _tidy(self, beliefs: Beliefs) -> Iterator[Move]:
        last = beliefs.plan.aim
        surveyed = last.kind is Kind.SURVEY
        if isinstance(last, Tidying):
            plan = list(last.placings)
        else:
            for move in read_here(beliefs) if not surveyed else ():
                if is_message(move.action.partition(" ")[2]):
                    yield move  # its text may name misplaced objects
            aim = Aim("look round", Kind.EXPLORE)
            look = open_here(beliefs, aim) or explore(beliefs, aim)
            if look is not None:
                yield look
            if len(beliefs.distances) >= _ROOMS_TO_SURVEY and not surveyed:
                yield _survey(beliefs)
            plan = self._decide(beliefs)
        right = dict(_placings(beliefs, "belongs"))
        took = beliefs.plan.action.startswith(tuple(f"take {t} " for t in right))
        if took and not is_large(beliefs):
            plan = [entry for entry in plan if beliefs.holds(entry[0])]  # return it first
        plan = [(thing, right.get(thing, target)) for thing, target in plan]
        plan += [entry for entry in right.items() if entry[0] not in dict(plan)]
        plan = [e for e in plan if _is_pending(beliefs, *e) and not is_fixed(beliefs, e[0])]
        action = self._next_action(beliefs, plan)
        if action is None and (plan := self._decide_again(beliefs)):
            action = self._next_action(beliefs, plan)
        if action is None and is_large(beliefs) and not (surveyed or last.waits):
            yield _survey(beliefs)
        known = len(beliefs.distances) > 1 or _placings(beliefs, "was put")
        if action or right or (known and not self._unrequested):  # else leave it to other advisors
            yield Move(action or "look", Tidying.of(plan if action else []))

    def _next_action(self, beliefs: Beliefs, plan: Placings) -> str | None:
        return (
            self._put_action(beliefs, plan) or _take_action(beliefs, plan) or _walk(beliefs, plan)
        )

    def _decide(self, beliefs: Beliefs) -> Placings:
        if not is_large(beliefs) or _placings(beliefs, "was put"):
            return self._decide_again(beliefs)
        rooms = {room: _furniture(beliefs, room) for room in beliefs.distances}
        where = {thing: room for room in rooms for thing in _things(beliefs, room, rooms[room])}
        where.update(dict.fromkeys(beliefs.held(), ""))
        out = misfits(where, rooms, make_encoder(self._encoder), count_in_task(beliefs))
        return [(thing, room) for thing, room, _ in out]

    def _decide_again(self, beliefs: Beliefs) -> Placings:
        rooms = {room: _furniture(beliefs, room) for room in beliefs.distances}
        holders = {piece: room for room, pieces in rooms.items() for piece in pieces}
        locations = {
            t: beliefs.holder(t) for room in rooms for t in _things(beliefs, room, rooms[room])
        }
        locations.update(dict.fromkeys(beliefs.held(), ""))
        known = _TidyOutcomes.of(beliefs)
        things = sorted(t for t in locations if self._is_movable(beliefs, t, known))
        if not things or not holders:
            return []
        chances = self._chances(beliefs, things, holders, locations, known)
        distances = beliefs.distances
        ranked = []
        for thing, target, chance, _ in chances:
            start, room = beliefs.room_of(thing), holders[target]
            steps = 2 + distances.get(start, 0) + rooms_apart(distances, start, room)
            ranked.append((-chance / steps, thing, target, chance))
        ranked.sort()
        best = max((chance for *_, chance in ranked[:1]), default=0.0)
        enough = MIN_RATIO * best
        if known.taken_wrongly:  # a detour is cheaper than a point
            likeliest = max((chance for *_, chance in ranked), default=0.0)
            enough = max(enough, MIN_RATIO_AT_RISK * likeliest)
        plan = [(thing, target) for _, thing, target, chance in ranked if chance >= enough]
        return plan[:MAX_PLANNED]

    def _is_movable(self, beliefs: Beliefs, thing: str, known: _TidyOutcomes) -> bool:
        if thing in known.known_home or is_fixed(beliefs, thing):
            return False
        if self._unrequested and (is_key(beliefs, thing) or beliefs.is_mentioned(thing)):
            searched = beliefs.plan.searched or beliefs.plan.aim.kind is Kind.SEARCH
            left_over = searched and not is_key(beliefs, thing)
            if not (known.known_home & known.placed or left_over):
                return False
            if thing not in known.held | known.placed:
                return False
        if beliefs.objects(thing, "says") or beliefs.objects(thing, "opens"):
            return False
        kept_like_a_thing = not self._unrequested and not beliefs.is_place(beliefs.holder(thing))
        return kept_like_a_thing or not is_message(thing)

    def _chances(
        self,
        beliefs: Beliefs,
        things: list[str],
        holders: dict[str, str],
        locations: dict[str, str],
        known: _TidyOutcomes,
    ) -> list[LikelyPlacing]:
        """Return the likeliest untried target of each movable object, with its probability."""
        large = is_large(beliefs)
        if large and not known.known_home:  # no misplaced object is known yet
            return []
        names = list(holders)
        company = {
            t: place
            for t, place in locations.items()
            if t not in known.misplaced - known.known_home
        }
        rows = homes(things, holders, company, make_encoder(self._encoder))
        chances = [dict(zip(names, map(float, row), strict=True)) for row in rows]
        stays = {t: c.pop(locations[t], 0.0) for t, c in zip(things, chances, strict=True)}
        mentioned = {t for t in things if beliefs.subjects("mentions", t)}
        odds = [
            sum(c.values()) / (stays[t] * len(holders))
            for t, c in zip(things, chances, strict=True)
            if t not in known.moved and t not in mentioned and stays[t] > 0
        ]
        share = _misplaced_share(known, odds, count_in_task(beliefs))
        found = []
        for thing, places in zip(things, chances, strict=True):
            if thing in known.moved:  # its first place may have been right
                tried = thing in known.placed and not known.taken_wrongly
                stay = PRIOR_SHARE if tried else 0.0
            elif share == 0.0 or large:
                continue
            else:
                weight = 0.0 if thing in mentioned else stays[thing] * len(holders)
                stay = weight * (1 - share) / share
            left = {name: c for name, c in places.items() if (thing, name) not in known.tried}
            if left:
                found.append(_likeliest(thing, left, stay))
        return self._choose(found, beliefs, known)

    def _choose(
        self, placings: list[LikelyPlacing], beliefs: Beliefs, known: _TidyOutcomes
    ) -> list[LikelyPlacing]:
        """Return the placings that are likely enough, or if there are none, those worth a risk."""
        certain = not self._unrequested or bool(known.known_home & known.placed)
        enough = 0.0 if certain else _MIN_CHANCE_UNREQUESTED
        unlikely = [
            one
            for one in placings
            if one.thing not in known.moved and not is_worth_taking(one.misplaced)
        ]
        likely = [
            one
            for one in placings
            if one not in unlikely and (one.chance >= enough or one.thing in beliefs.held())
        ]
        if likely:
            return likely
        if not known.taken_wrongly:
            return [one for one in unlikely if one.chance >= enough]
        unlikely.sort(key=lambda one: (one.misplaced, one), reverse=True)
        search = certain and not known.misplaced - known.known_home
        search = search and is_worth_searching([one.misplaced for one in unlikely])
        return unlikely[:1] if search else []  # the game is not over: one is misplaced

    def _put_action(self, beliefs: Beliefs, plan: Placings) -> str | None:
        for thing, target in plan:
            if not beliefs.holds(thing):
                continue
            if target == beliefs.here:
                action = self._put_in_room(beliefs, thing)
            else:
                action = beliefs.putting(thing, target) or beliefs.opening(target)
            if action:
                return action
        return None

    def _put_in_room(self, beliefs: Beliefs, thing: str) -> str | None:
        """Return the action that puts an object on the best furniture here, or drops it."""
        puts = {
            action.rpartition(between)[2]: action
            for word, between in (("put", " on "), ("insert", " into "))
            for action in beliefs.options(word)
            if action.startswith(f"{word} {thing}{between}")
        }
        holders = [h for h in puts if h in _furniture(beliefs, beliefs.here)]
        if len(holders) > 1:
            pieces = dict.fromkeys(holders, beliefs.here)
            suits = likeness([thing], pieces, {}, make_encoder(self._encoder))[0]
            return puts[holders[int(suits.argmax())]]
        if puts:
            return puts[(holders or list(puts))[0]]
        return f"drop {thing}" if beliefs.can(f"drop {thing}") else None


class LikelyPlacing(NamedTuple):
    """A target of an object, and the probability that the object belongs there.

    ``misplaced`` is the probability that the object is in a wrong place now.
    """

    thing: str
    target: str
    chance: float
    misplaced: float


def _likeliest(thing: str, chances: dict[str, float], stay: float) -> LikelyPlacing:
    """Return the likeliest target of an object, given the weights of targets and of staying."""
    target = max(chances, key=lambda name: chances[name])
    total = sum(chances.values())
    return LikelyPlacing(thing, target, chances[target] / (total + stay), total / (total + stay))


class _TidyOutcomes(NamedTuple):
    """Outcomes so far: tried placings, and objects with a known home that are placed or held."""

    tried: frozenset[tuple[str, str]]
    known_home: frozenset[str]
    placed: frozenset[str]
    held: frozenset[str]

    @classmethod
    def of(cls, beliefs: Beliefs) -> _TidyOutcomes:
        tried = frozenset(_placings(beliefs, "was put"))
        known_home = frozenset(thing for thing, _ in _placings(beliefs, "belongs"))
        return cls(tried, known_home, frozenset(t for t, _ in tried), frozenset(beliefs.held()))

    @property
    def taken_wrongly(self) -> frozenset[str]:
        """Return the objects that were in their right place, since taking them lost a point."""
        return self.known_home - self.placed

    @property
    def moved(self) -> frozenset[str]:
        return self.placed | self.known_home | self.held

    @property
    def misplaced(self) -> frozenset[str]:
        """Return the objects that were misplaced."""
        return (self.placed | self.held) - self.taken_wrongly


def _misplaced_share(known: _TidyOutcomes, odds: Sequence[float], count: int | None) -> float:
    """Return the expected share of misplaced objects among those not moved yet.

    Args:
        known: Outcomes of tidying so far.
        odds: Likelihood ratio of each object's place, if misplaced against if placed right.
        count: Number of misplaced objects according to the task, or None.
    """
    shares, ratios = np.linspace(0.005, 0.995, 199), np.array(odds, float)
    if count is not None:
        left = count - len(known.misplaced)
        expected = (shares[:, None] * ratios / (shares[:, None] * (ratios - 1) + 1)).sum(1)
        return float(shares[np.abs(expected - left).argmin()]) if left > 0 else 0.0
    misplaced, placed = PRIOR_COUNT * PRIOR_SHARE, PRIOR_COUNT * (1 - PRIOR_SHARE)
    weights = shares**misplaced * (1 - shares) ** placed
    if known.taken_wrongly:
        weights *= shares ** len(known.misplaced) * (1 - shares) ** len(known.taken_wrongly)
    for ratio in ratios:
        weights *= shares * ratio + 1 - shares
        weights /= weights.max()
    return float(shares @ weights / weights.sum())


@lru_cache(maxsize=64)
def is_about_tidying(goal: str) -> bool:
    """True if a task is to put objects where they belong.

    If the task gives directions, only an order counts, since *the messy pantry* may be a room.
    """
    return (_TIDYING_ORDER if gives_directions(goal) else _TIDYING_TASK).search(goal) is not None


def is_worth_taking(misplaced: float) -> bool:
    """True if taking an object that is probably ``misplaced`` gains points on average.

    Taking and placing a misplaced object gain one point each; taking any other loses one.
    """
    return misplaced * (1 + _PLACED_IN_TIME) > 1 - misplaced


def is_worth_searching(misplaced: Sequence[float]) -> bool:
    """True if taking objects until one is misplaced gains points on average.

    ``misplaced`` has the probability of each object, in descending order; one of them is misplaced.
    """
    points, none = 0.0, 1.0  # expected points of the objects after the present one
    for chance in reversed(misplaced):
        none *= 1 - chance
        given = chance / (1 - none) if none < 1 else 0.0
        points = max(0.0, given * (1 + _PLACED_IN_TIME) + (1 - given) * (points - 1))
    return points > 0


def rooms_apart(distances: dict[str, int], start: str, room: str) -> int:
    return 0 if start == room else max(1, abs(distances[room] - distances.get(start, 0)))


def _survey(beliefs: Beliefs) -> Move:
    """Return a look whose aim names all rooms, so that the memory recalls their contents."""
    return Move("look", Aim("survey: " + ", ".join(beliefs.distances), Kind.SURVEY))


def is_large(beliefs: Beliefs) -> bool:
    """True if a house has too many rooms and objects to try all places."""
    rooms = beliefs.distances
    things = sum(len(_things(beliefs, room, _furniture(beliefs, room))) for room in rooms)
    return len(rooms) >= _ROOMS_OF_LARGE_HOUSE and things >= _THINGS_PER_CROWDED_ROOM * len(rooms)


def _take_action(beliefs: Beliefs, plan: Placings) -> str | None:
    for thing, target in plan:
        if beliefs.holds(thing) or target == beliefs.here:
            continue
        action = beliefs.taking(thing)
        if action:
            return action
        opening = beliefs.opening(beliefs.holder(thing))
        if opening and beliefs.room_of(thing) == beliefs.here:
            return opening
    return None


def _walk(beliefs: Beliefs, plan: Placings) -> str | None:
    distances = beliefs.distances
    rooms = [
        (target if beliefs.is_place(target) else beliefs.room_of(target))
        if beliefs.holds(thing)
        else beliefs.room_of(thing)
        for thing, target in plan
    ]
    known = sorted({(distances[r], r) for r in rooms if r in distances and r != beliefs.here})
    return next((step for _, r in known if (step := step_towards(beliefs, r))), None)


def is_message(thing: str) -> bool:
    """True if an object is a message, which unlike a book or paper belongs nowhere."""
    return is_readable(thing) and _PRINTED.search(thing) is None


def _is_pending(beliefs: Beliefs, thing: str, target: str) -> bool:
    return beliefs.holds(thing) or target not in (beliefs.room_of(thing), beliefs.holder(thing))


def is_fixed(beliefs: Beliefs, thing: str) -> bool:
    """True if an object is within reach, but no valid action takes it."""
    if beliefs.holds(thing) or beliefs.room_of(thing) != beliefs.here:
        return False
    if beliefs.openness(beliefs.holder(thing)) in ("closed", "locked"):
        return False
    return beliefs.taking(thing) is None


def count_in_task(beliefs: Beliefs) -> int | None:
    number = _MISPLACED_COUNT.search(beliefs.task.goal)
    return int(number[1]) if number else None


def _placings(beliefs: Beliefs, relation: str) -> list[tuple[str, str]]:
    """Return things and holders of the facts ``thing <relation> in holder`` and ``... on``."""
    return [
        (fact.subject, fact.object)
        for fact in beliefs.graph.live()
        if fact.relation in (f"{relation} in", f"{relation} on")
    ]


def _things(beliefs: Beliefs, room: str, furniture: tuple[str, ...]) -> list[str]:
    return [thing for thing in beliefs.contents(room) if thing not in furniture]


def _furniture(beliefs: Beliefs, room: str) -> tuple[str, ...]:
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
