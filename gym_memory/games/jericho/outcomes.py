"""Foresight of what two things do together, from what each of them did with others."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from gym_memory.core.text import letter_words
from gym_memory.games.jericho.words import story_text

__all__ = ["Outcomes"]

_ORDINARY = 2
"""Usual outcomes of a thing, after which the next one is foreseen."""
_USUAL = 3
"""Things in either slot with which a refusal says nothing about one of them."""
_SENTENCE = re.compile(r"[^.!?\n]*")


class Outcomes:
    """Outcomes of a template with two slots.

    A refusal is usual if three things in either slot got it: *You can't tie the # to that*. So is
    an effect that the first thing had with another one. Two things that are ordinary in their slots
    are not tried together; one that is special, a lock or a box, is tried with every other.

    Args:
        words: The words of each thing, by its name.
    """

    def __init__(self, words: Mapping[str, frozenset[str]]):
        self._words = words
        self._things: defaultdict[str, tuple[set[str], ...]] = defaultdict(lambda: (set(), set()))
        self._refused: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
        self._repeated: defaultdict[tuple[int, str], int] = defaultdict(int)
        self._effects: set[bytes] = set()

    def foreseen(self, names: Sequence[str]) -> bool:
        """True if two things are ordinary in their slots."""
        return len(names) == 2 and all(map(self._is_ordinary, enumerate(names)))

    def _is_ordinary(self, place: tuple[int, str]) -> bool:
        usual = sum(map(self._is_usual, self._refused[place]))
        return self._repeated[place] + usual >= _ORDINARY

    def _is_usual(self, answer: str) -> bool:
        return all(len(things) >= _USUAL for things in self._things[answer])

    def note(self, names: Sequence[str], text: str, effect: bytes) -> None:
        """Note the answer and the effect of a command, empty if it changed nothing."""
        if len(names) != 2:
            return
        if effect:
            if effect in self._effects:
                for place in enumerate(names):
                    self._repeated[place] += 1
            self._effects.add(effect)
            return
        first, second = (self._words[name] for name in names)
        sentence = _SENTENCE.match(story_text(text))
        words = letter_words(sentence[0]) if sentence else ()
        answer = " ".join(word for word in words if word not in first and word not in second)
        for slot, name in enumerate(names):
            self._refused[slot, name].append(answer)
            self._things[answer][slot].add(name)
