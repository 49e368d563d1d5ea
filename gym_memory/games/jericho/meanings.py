"""Meanings of names: the objects in the variable where a parser keeps the object of a command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gym_memory.core.text import letter_words
from gym_memory.games.jericho.facts import object_names
from gym_memory.games.jericho.trials import CommandResult
from gym_memory.games.jericho.vocabulary import object_region

__all__ = ["Meanings", "meanings"]

_VARIABLES = 240
_COST = 2
"""Distinct objects that one contradiction of a variable outweighs."""


class Meanings(NamedTuple):
    """Objects that names mean, by number, and what the story calls its objects.

    Attributes:
        objects: Name to number; negative, and of this name alone, if it is not known.
        titles: The story's own names by number.
    """

    objects: Mapping[str, int]
    titles: tuple[str, ...]

    def words(self) -> dict[str, frozenset[str]]:
        """Return for each name the words of all names of the same thing."""
        words: dict[int, set[str]] = {}
        for name, number in self.objects.items():
            title = self.titles[number] if number > 0 else ""
            words.setdefault(number, set(letter_words(title))).update(letter_words(name))
        return {name: frozenset(words[number]) for name, number in self.objects.items()}

    def best(self) -> dict[str, str]:
        """Return for each name the best one of the same thing: the nearest to the story's own."""
        best: dict[int, str] = {}
        for name, number in self.objects.items():
            old = best.setdefault(number, name)
            if self._likeness(name) > self._likeness(old):
                best[number] = name
        return {name: best[number] for name, number in self.objects.items()}

    def carried(self, names: Sequence[str], holders: Sequence[int]) -> list[str]:
        """Return those of the names in an inventory that are with most of its things.

        It also names what is not carried: *a lamp (providing light)*.

        Args:
            names: Names in the inventory.
            holders: Each object's holder by the object's number; 0 for none.
        """
        known = [holders[self.objects[name]] for name in names if self.objects[name] > 0]
        player = Counter(known).most_common(1)[0][0] if known else 0

        def with_player(number: int) -> bool:
            while number > 0 and number != player:
                number = holders[number]
            return number != 0

        return [name for name in names if with_player(self.objects[name])]

    def _likeness(self, name: str) -> tuple[int, int]:
        number, words = self.objects[name], name.split()
        own = letter_words(self.titles[number] if number > 0 else "") or words
        return sum(1 if word in own else -1 for word in words), len(words)


def meanings(story: bytes, examined: Mapping[str, CommandResult]) -> Meanings:
    """Return what names mean, from the memory after each was examined.

    The variable holds an object's number, and not the same one with two descriptions. Of several
    such variables the one that distinguishes most is taken.
    """
    alone = {name: -at for at, name in enumerate(examined, 1)}
    meant = Meanings(alone, object_names(story))
    if not examined:
        return meant
    at = int.from_bytes(story[0x0C:0x0E], "big")
    rows = np.stack([result.memory[at : at + 2 * _VARIABLES] for result in examined.values()])
    values = rows[:, ::2].astype(np.int64) << 8 | rows[:, 1::2]
    known = (values > 0) & (values <= object_region(story).objects)
    texts = [result.text for result in examined.values()]
    best = 0
    for column, knows in zip(values.T.tolist(), known.T.tolist(), strict=True):
        wrong = len(set(zip(column, texts, strict=True))) - len(set(column)) + knows.count(False)
        fit = len(set(column)) - _COST * wrong
        if fit > best:
            best = fit
            objects = {
                n: c if k else alone[n] for n, c, k in zip(examined, column, knows, strict=True)
            }
            meant = meant._replace(objects=objects)
    return meant
