"""Words of texts as features: which are common, and what stands around a name."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from gym_memory.baselines.actions import FILLERS
from gym_memory.core.text import clauses, stem

__all__ = ["Context", "Lexicon", "TextLine", "distinct_lines"]

_IN_NAMES = "in names:"
_NAME = "<>"  # stands for a name in a clause
_LONGEST_CLAUSE = 7  # words of a clause that is a feature as a whole
_MOST_CONTEXTS = 100_000  # that are kept


class TextLine(NamedTuple):
    """A line of a text, and the words of its clauses with a blank around each."""

    text: str
    words: str


class Context:
    """Features of the words around a name in a line, and of the line's clauses."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.stems: list[str] = []
        """Stem of the word of each, or empty for a clause."""
        self.matched: list[str] = []
        """Texts where the word matches the verb."""

    def add(self, words: tuple[str, ...], text: str, matched: str) -> None:
        """Add a feature."""
        self.texts.append(text)
        self.stems.append(stem(words[0]) if len(words) == 1 else "")
        self.matched.append(matched)

    def read(self, verb_stem: str | None) -> list[str]:
        """Return the features next to a verb."""
        if verb_stem not in self.stems:
            return self.texts
        both = zip(self.stems, self.texts, self.matched, strict=True)
        return [matched if one == verb_stem else text for one, text, matched in both]


class Lexicon:
    """Counts of the training games in which each word and name occurs.

    A common one occurs in a ``share`` of the games seen, once there are at least ``least``.
    ``state`` comes from an earlier lexicon.
    """

    def __init__(self, share: float, least: int = 5, state: Iterable[list[str]] = ()):
        self.share, self.least = share, least
        self._games: dict[str, dict[str, None]] = {}
        self._count: dict[str, int] = {}
        self._enough = share * least
        # Kept until a word becomes common or rare.
        self._shown: dict[str, bool] = {}
        self._contexts: dict[tuple[str, ...], Context] = {}
        for game, *words in state:
            self.learn(game, words)

    def learn(self, game: str, words: Iterable[str]) -> None:
        """Count each distinct word of a game once."""
        if game not in self._games:
            self._games[game] = {}
            self._enough = self.share * max(len(self._games), self.least)
            self._forget()
        seen, count, enough = self._games[game], self._count, self._enough
        for word in words:
            if word not in seen:
                seen[word] = None
                before = count.get(word, 0)
                now = count[word] = before + 1
                if not before or before < enough <= now or before < enough / 4 <= now:
                    self._forget()

    def learn_names(self, game: str, names: Iterable[str]) -> None:
        """Count each distinct name of a game once, and each word in names."""
        kept = list(names)
        self.learn(game, [*kept, *(_IN_NAMES + word for name in kept for word in name.split())])

    def _forget(self) -> None:
        self._shown.clear()
        self._contexts.clear()

    def common(self, word: str) -> bool:
        """True if a word or name is common."""
        return self._count.get(word, 0) >= self._enough

    def shown(self, word: str) -> bool:
        """True if a word of a text is shown, not hidden as rare, as are most words of names.

        A word that is in no name may be four times as rare as a common one.
        """
        found = self._shown.get(word)
        if found is None:
            enough = self._enough if _IN_NAMES + word in self._count else self._enough / 4
            common = self._count.get(word, 0) >= enough and not word.isdigit()
            found = self._shown[word] = common or word == _NAME
        return found

    def contexts(self, name: str, texts: dict[str, list[TextLine]]) -> tuple[Context, ...]:
        """Return what the lines of some texts, by their source, say around a name."""
        naming, context = f" {name} ", self._context
        return tuple([
            context(name, source, line)
            for source, lines in texts.items()
            for line, words in lines
            if naming in words
        ])  # fmt: skip

    def _context(self, name: str, source: str, line: str) -> Context:
        key = (name, source, line)
        found = self._contexts.get(key)
        if found is None:
            if len(self._contexts) >= _MOST_CONTEXTS:
                self._contexts.clear()
            found = self._contexts[key] = Context()
            for words, side in _around(name, line):
                text = " ".join([word if self.shown(word) else "*" for word in words])
                if side != "says" or "*" not in text:
                    found.add(words, f"{source} {text} {side}", f"{source} = {side}")
        return found

    def state(self) -> list[list[str]]:
        """Return the words of each game, the game first."""
        return [[game, *words] for game, words in self._games.items()]


@lru_cache(maxsize=20_000)
def _line(text: str) -> TextLine:
    return TextLine(text, "".join(clauses(text, FILLERS)))


def distinct_lines(text: str) -> list[TextLine]:
    """Return the distinct lines of a text."""
    return [*map(_line, dict.fromkeys(text.split("\n")))]


@lru_cache(maxsize=20_000)
def _around(name: str, line: str) -> list[tuple[tuple[str, ...], str]]:
    """Return the words around each mention of a name, with their side, and the line's clauses."""
    parts = [clause.replace(f" {name} ", f" {_NAME} ").split() for clause in clauses(line, FILLERS)]
    words = list(itertools.chain.from_iterable(parts))
    found: list[tuple[tuple[str, ...], str]] = []
    for place in [place for place, word in enumerate(words) if word == _NAME]:
        found += [((word,), "before") for word in words[max(place - 2, 0) : place]]
        found += [((word,), "after") for word in words[place + 1 : place + 2]]
    return found + [(tuple(part), "says") for part in parts if 0 < len(part) <= _LONGEST_CLAUSE]
