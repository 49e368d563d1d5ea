"""Names as the game's commands use them, found in the list of valid actions.

A text may call a thing otherwise than commands do: *a pair of court shoes* is ``court shoes``, *a
raw meat* may be ``meat`` that is raw or a thing called ``raw meat``, and a *chest* that comes into
view may be the ``rusty chest``. What the valid actions name is what the game calls it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache

from gym_memory.core.records import Triple
from gym_memory.extract.notes.words import STATES
from gym_memory.games.textworld.rules_sentences import Listing, Reading

__all__ = ["called", "names_in", "renamed"]

_BETWEEN = re.compile(r" (?:from|into|in|onto|on|with|to|under|at) ")
_MEASURE = re.compile(r"(?:pair|set|piece|bunch|couple|handful|pile) of (?P<rest>.+)")


@lru_cache(maxsize=256)
def names_in(actions: tuple[str, ...]) -> frozenset[str]:
    """Names that commands take as their arguments, in lower case.

    >>> sorted(names_in(("take Key 1 from red box", "look")))
    ['key 1', 'key 1 from red box', 'red box']
    """
    found: set[str] = set()
    for action in actions:
        rest = action.lower().partition(" ")[2]
        found.update((rest, *_BETWEEN.split(rest)))
    return frozenset(found - {""})


def called(reading: Reading, spoken: Collection[str]) -> dict[str, str]:
    """Names in a reading that the game's commands do not use, and what they use instead.

    Args:
        reading: What a text says.
        spoken: The names in the valid actions; empty where these are unknown.
    """
    states: dict[str, list[str]] = {}
    for (subject, relation, obj), _, _ in reading.mentions:
        states.setdefault(subject, [])
        if relation == "is" and obj in STATES:
            states[subject].append(obj)
    names: dict[str, str] = {}
    for name, worn in states.items():
        whole = " ".join((*worn, name))
        measured = _MEASURE.fullmatch(name)
        if name in spoken:
            continue
        if worn and whole in spoken:
            names[name] = whole
        elif measured is not None and (measured["rest"] in spoken or not spoken):
            names[name] = measured["rest"]
    return names


def renamed(reading: Reading, names: Mapping[str, str]) -> Reading:
    """A reading with other names; a state that became part of a name is no fact."""
    if not names:
        return reading
    get = names.get
    return reading._replace(
        mentions=tuple(
            m._replace(triple=Triple(get(s, s), r, get(o, o)))
            for m in reading.mentions
            for s, r, o in (m.triple,)
            if not (r == "is" and o in STATES and o in get(s, "").split())
        ),
        listings=tuple(
            Listing(get(holder, holder), tuple(get(n, n) for n in inside))
            for holder, inside in reading.listings
        ),
    )
