"""Compare a memory's map with the engine's, step by step.

* *place*: the share of steps at which the memory's place of the agent is the engine's;
* *exit precision*: of the memory's exits of that place, known ways included, the share that the
  engine confirms;
* *exit recall*: of the engine's exits there that were walked, or whose direction a text at the
  place named, the share in the memory;
* *ways*: of the memory's ways from there that the engine knows, the share with the right
  destination;
* *objects*: of the engine's things there and in hand whose noun a text named, the share that the
  memory knows.

Exits and objects are counted only if the place is right. An engine without places has no score.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gym_memory.core.records import Oracle, Triple
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import (
    DIRECTIONS,
    EXIT,
    INVENTORY,
    LOCATIONS,
    PLAYER,
    direction_in,
    direction_of,
    head_noun,
)

__all__ = ["MEASURES", "MapTruth", "MapWatch"]

MEASURES = ("place", "exit precision", "exit recall", "ways", "objects")
"""Names of the shares, in the order of their counts."""

_SCORING_WORD = re.compile(r"[a-z']+")
_WAYS = re.compile(rf"\b({'|'.join(sorted(DIRECTIONS, key=len, reverse=True))})(?:wards?)?\b")


class MapTruth(NamedTuple):
    """Counts of one or more steps."""

    steps: int = 0
    placed: int = 0
    exits: int = 0
    confirmed: int = 0
    due: int = 0
    found: int = 0
    ways: int = 0
    led: int = 0
    things: int = 0
    known: int = 0

    @property
    def shares(self) -> dict[str, float]:
        """Return the measures by name; NaN where nothing was counted."""
        pairs = zip(MEASURES, self[::2], self[1::2], strict=True)
        return {name: part / whole if whole else math.nan for name, whole, part in pairs}


class MapWatch:
    """A counter over the steps of an episode; :attr:`truth` has the counts so far."""

    def __init__(self) -> None:
        self.truth = MapTruth()
        self._named: dict[str, set[str]] = {}
        self._words: set[str] = set()
        self._at = ""

    def see(self, oracle: Oracle, text: str, action: str, graph: TemporalGraph) -> None:
        """Count a step, given the truth after it, its text and the memory."""
        place = next((_plain(f.object) for f in oracle.facts if f[:2] == (PLAYER, "is in")), "")
        if not place:
            return
        way = direction_in(action)
        if way and self._at and self._at != place:
            self._named.setdefault(self._at, set()).add(way)
        self._at = place
        lower = text.lower()
        self._words |= set(_SCORING_WORD.findall(lower))
        self._named.setdefault(place, set()).update(_WAYS.findall(lower.replace("-", " ")))
        here = graph.value(PLAYER, "location")
        count = MapTruth(steps=1)
        if here is not None and _plain(here.object) == place:
            count = self._compare(oracle.facts, place, graph)
        self.truth = MapTruth(*(a + b for a, b in zip(self.truth, count, strict=True)))

    def _compare(self, facts: Iterable[Triple], place: str, graph: TemporalGraph) -> MapTruth:
        true, held = _exits(facts, place), _exits(graph.live(), place)
        ways = [way for way in held if held[way] and true.get(way)]
        named = self._named[place]
        due = [
            w for w in true if w in named or (w not in DIRECTIONS and _was_named(w, self._words))
        ]
        things = [
            thing for thing in _things_at(facts, place) if _was_named(head_noun(thing), self._words)
        ]
        known = {frozenset(entity.split()) for entity in graph.entities()}
        found = [t for t in things if _is_known(t, known)]
        return MapTruth(
            1, 1, len(held), sum(way in true for way in held),
            len(due), sum(way in held for way in due),
            len(ways), sum(held[way] == true[way] for way in ways), len(things), len(found),
        )  # fmt: skip


def _was_named(name: str, words: set[str]) -> bool:
    """True if a text contained all words of a name."""
    return words.issuperset(_SCORING_WORD.findall(name) or [""])


def _exits(facts: Iterable[Triple], place: str) -> dict[str, str]:
    """Return the exits of a place with their destinations, "" if unknown."""
    exits: dict[str, str] = {}
    for subject, relation, obj in facts:
        if relation == EXIT and _plain(subject) == place:
            exits.setdefault(obj, "")
        way = direction_of(relation)
        if way is not None and _plain(obj) == place:
            exits[way] = _plain(subject)
    return exits


def _things_at(facts: Iterable[Triple], place: str) -> Iterator[str]:
    """Yield the things at a place or carried, with their contents."""
    holders = {f.subject: f.object for f in facts if f.relation in LOCATIONS}
    for thing in sorted(holders.keys() - {PLAYER}):
        holder = holders[thing]
        for _ in holders:
            if holder not in holders:
                break
            holder = holders[holder]
        if holder == INVENTORY or _plain(holder) == place:
            yield thing


def _is_known(thing: str, known: Iterable[frozenset[str]]) -> bool:
    """True if the memory knows a thing with this noun and no contradicting word."""
    words, noun = set(thing.split()), head_noun(thing)
    return any(noun in name and (name <= words or words <= name) for name in known)


def _plain(name: str) -> str:
    return " ".join(word for word in name.lower().split() if word not in ("the", "a", "an"))
