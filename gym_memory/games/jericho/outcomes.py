"""Foresight of what two things do together, from what each of them did with others."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from gym_memory.core.text import letter_words
from gym_memory.games.jericho.words import story_text

__all__ = ["Outcomes"]

_ORDINARY = 2
"""Outcomes of one kind, after which another one is foreseen."""
_REPEATED = "\0"
"""Kind of an effect that was seen before, so that one of the things had no part in it."""
_SENTENCE = re.compile(r"[^.!?\n]*")


class Outcomes:
    """Outcomes of a template with two slots.

    Two things that were refused twice each in the same words, *You can't tie the # to that*, are
    not tried together. A lock or a box, which is refused in its own words or has effects, is tried
    with every other.

    Args:
        words: The words of each thing, by its name.
    """

    def __init__(self, words: Mapping[str, frozenset[str]]):
        self._words = words
        self._kinds: defaultdict[tuple[int, str], Counter[str]] = defaultdict(Counter)
        self._effects: set[bytes] = set()

    def foreseen(self, names: Sequence[str]) -> bool:
        """True if both things had one kind of outcome before, in their slots."""
        if len(names) != 2:
            return False
        first, second = (self._kinds[place] for place in enumerate(names))
        return any(min(times, second[kind]) >= _ORDINARY for kind, times in first.items())

    def note(self, names: Sequence[str], text: str, effect: bytes) -> None:
        """Note the answer and the effect of a command, empty if it changed nothing."""
        if len(names) != 2 or (effect and effect not in self._effects):
            self._effects.add(effect)
            return
        kind = _REPEATED if effect else self._refusal(names, text)
        for slot, name in enumerate(names):
            self._kinds[slot, name][kind] += 1

    def _refusal(self, names: Sequence[str], text: str) -> str:
        first, second = (self._words[name] for name in names)
        sentence = _SENTENCE.match(story_text(text))
        words = letter_words(sentence[0]) if sentence else ()
        return " ".join(word for word in words if word not in first and word not in second)
