"""Phrases of ScienceWorld's actions and views, compared by their words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from gym_memory.memory.encoders import Encoder, make_encoder

__all__ = ["THE_SAME", "Act", "Meaning", "Thing", "fit"]
__all__ += ["is_among", "likeness", "masked", "parse", "things_in", "words"]

_UNRELATED = 0.3
"""A cosine that unrelated names reach."""


class Meaning:
    """Judge how alike names are.

    Args:
        encoder: Name of a text encoder (:func:`gym_memory.memory.encoders.make_encoder`); empty
            for words alone.
    """

    def __init__(self, encoder: str = ""):
        self._encoder: Encoder | None = make_encoder(encoder) if encoder else None
        self._known: dict[tuple[str, str], float] = {}

    def alike(self, one: str, other: str) -> float:
        """Return the likeness in [0, 1]: shared words, or nearness of meaning if that is more."""
        shared = likeness(one, other)
        if self._encoder is None or shared >= 1.0:
            return shared
        pair = one, other
        if pair not in self._known:
            first, second = self._encoder.encode(pair)
            near = (float(first @ second) - _UNRELATED) / (1 - _UNRELATED)
            self._known[pair] = round(max(0.0, near), 4)
        return max(shared, self._known[pair])


_WORD = re.compile(r"[a-z0-9]+")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_SMALL = frozenset({"a", "an", "the", "of", "in", "on", "is", "with", "to", "called", "which"})
_HERE = re.compile(r" in (?:inventory|hallway|kitchen|bathroom|bedroom|living room|workshop|"
                   r"art studio|greenhouse|outside|foundry)$")  # fmt: skip
_TWO = re.compile(r"^(move|pour|dunk|use|connect) (.+?) (to|into|in|on) (.+)$")
_ONE = re.compile(
    r"^(open|close|activate|deactivate|pick up|put down|focus on|examine|look at|look in|read|"
    r"eat|flush|mix|disconnect|go to) (.+)$"
)
_PIECE = re.compile(r"[(),.:]+")
_ITEM = re.compile(
    r"(?:containing )?(?:an? |the )?(?:substance called )?([a-z][\w ]*?)(?: titled .*)?$"
)
_NO_ITEM = re.compile(
    r"(?:in|on) the .* (?:is|you see)$|.* door is (?:open|closed)$|"
    r"(?:which|that|currently|here|titled) |nothing$|agent$|substance$|air$|.* door$"
)


class Act(NamedTuple):
    """Split an action into a verb, up to two phrases that it is done to, and the word between.

    An action that takes no thing is all verb.
    """

    verb: str
    things: tuple[str, ...] = ()
    link: str = ""

    def __str__(self) -> str:
        return " ".join((self.verb, f" {self.link} ".join(self.things))).strip()


THE_SAME = 0.75
"""Least agreement of a move with what was given up for it to be the same one."""


def is_among(act: Act, acts: Iterable[Act]) -> bool:
    """True if an action is, as good as, one of several."""
    return any(fit(act, one) > THE_SAME for one in acts)


class Thing(NamedTuple):
    """Hold the name of a thing in a view, and the line that names it."""

    name: str
    line: str


@lru_cache(maxsize=1 << 14)
def parse(action: str) -> Act:
    """Return an action's parts; where a thing is counts only if that is another thing.

    >>> parse("use thermometer in inventory on lead")
    Act(verb='use', things=('thermometer', 'lead'), link='on')
    """
    lowered = " ".join(action.lower().split())
    if lowered.startswith("use ") and " on " in lowered:
        first, _, second = lowered[4:].partition(" on ")
        return Act("use", (_HERE.sub("", first), _HERE.sub("", second)), "on")
    if lowered.startswith("pour ") and " in inventory in " in lowered:
        lowered = lowered.replace(" in inventory in ", " into ")
    if lowered.startswith(("pour ", "dunk ")) and " into " not in lowered:
        head, _, second = lowered.rpartition(" in ")
        verb, _, first = head.partition(" ")
        return Act(verb, (_HERE.sub("", first), second), "into")
    two = _TWO.match(lowered)
    if lowered.startswith(("move ", "connect ", "pour ", "dunk ")):
        link = " to " if lowered.startswith(("move ", "connect ")) else " into "
        head, _, second = lowered.rpartition(link)
        verb, _, first = head.partition(" ")
        return Act(verb, (_HERE.sub("", first), _HERE.sub("", second)), link.strip())
    one = _ONE.match(lowered)
    if one is not None and two is None:
        return Act(one[1], (_HERE.sub("", one[2]),))
    return Act(lowered)


@lru_cache(maxsize=1 << 14)
def words(phrase: str) -> frozenset[str]:
    """Return the words of a phrase that carry meaning.

    >>> sorted(words("a turtle egg in the pond"))
    ['egg', 'pond', 'turtle']
    """
    return frozenset(_WORD.findall(phrase.lower())) - _SMALL


@lru_cache(maxsize=1 << 16)
def likeness(one: str, other: str) -> float:
    """Return the shared words of two phrases over all their words, in [0, 1]."""
    first, second = words(one), words(other)
    union = len(first | second)
    return len(first & second) / union if union else float(one == other)


@lru_cache(maxsize=1 << 16)
def fit(one: Act, other: Act) -> float:
    """Return how far two actions are the same one, in [0, 1]; 0 where their verbs differ."""
    if one.verb != other.verb or len(one.things) != len(other.things):
        return 0.0
    if not one.things:
        return 1.0
    alike = [likeness(a, b) for a, b in zip(one.things, other.things, strict=True)]
    return 0.3 + 0.7 * sum(alike) / len(alike)


@lru_cache(maxsize=1 << 14)
def masked(text: str) -> str:
    """Return the first line of an answer with every number alike."""
    return _NUMBER.sub("9", text.strip().partition("\n")[0].lower())


@lru_cache(maxsize=1 << 10)
def things_in(view: str) -> tuple[Thing, ...]:
    """Return the things that a view or an inventory names, in order; doors to rooms left out."""
    found: dict[str, Thing] = {}
    for line in view.lower().split("\n"):
        if "door to the" in line or line.startswith(("this ", "you also", "in your")):
            continue
        for piece in _PIECE.split(line):
            item = _ITEM.match(piece.strip())
            if item is not None and not _NO_ITEM.match(item[1]):
                found.setdefault(item[1], Thing(item[1], line.strip()))
    return tuple(found.values())
