"""Predict what a template does with things from what it did with others."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence

from gym_memory.core.text import letter_words, without_articles
from gym_memory.games.jericho.words import is_refused_verb, story_text

__all__ = ["Outcomes", "Twins"]

_ORDINARY = 2
"""Equal outcomes after which the next one is foreseen."""
_GENERAL = 3
"""Things per slot, refused in the same words, after which these words apply to any thing."""
_MOST_UNREAD = 2
"""Unreadable first commands after which a template is abandoned."""
_DULL = 3
"""Equal refusals in a row after which a template waits for its next turn."""
_SURE = 6
"""Equal refusals after which two things count as alike."""
_REPEATED = "\0"
"""Kind of an effect seen before, in which one of the two things plays no part."""
_FIRST = re.compile(r"\s*(?:\([^()]*\)\s*)*?\(first ([^()]*)\)", re.IGNORECASE)
"""An action that a story tries before a command, which ends there if it fails."""
_SENTENCE = re.compile(r"(?:\([^()]*\)\s*)*([^.!?\n]*)")
"""First sentence, after the things that the story guessed: *(the lamp)*."""


class Twins:
    """Things of one kind, such as four walls, which answer alike as long as none has an effect.

    Args:
        kinds: What each thing is and how it is described, by its name.
    """

    def __init__(self, kinds: Mapping[str, Hashable]):
        firsts: dict[Hashable, str] = {}
        self._first = {name: firsts.setdefault(kind, name) for name, kind in kinds.items()}
        self._times = Counter[str]()

    def first(self, name: str) -> str:
        """Return the first thing of the same kind; the thing itself if they are unlike."""
        return self._first.get(name, name)

    def stand_in(self, name: str) -> str:
        """Return the thing that answers like this one; the thing itself until that is certain."""
        return self.first(name) if self._times[name] >= _SURE else name

    def compare(self, name: str, *, equal: bool) -> None:
        """Note whether a thing was refused in the same words as the first one."""
        self._times[name] += 1
        if not equal:
            self._first[name] = name


class Outcomes:
    """Outcomes of a template.

    Two things that were refused twice each in the same words, *You can't tie the # to that*, are
    not tried together; once is enough for words that were said of many things. A lock or a box,
    which is refused in its own words or has effects, is tried with every other. A thing that the
    player cannot take is tried once where it must be held: *(first taking the statue)*.

    Args:
        words: The words of each thing, by its name.
        twins: Things that may be alike.
    """

    def __init__(self, words: Mapping[str, frozenset[str]], twins: Twins):
        self._words, self._twins = words, twins
        self._answers: dict[tuple[str, ...], str] = {}
        self._kinds: defaultdict[tuple[int, str], Counter[str]] = defaultdict(Counter)
        self._untaken: set[tuple[int, str]] = set()
        self._refused: defaultdict[tuple[int, str], set[str]] = defaultdict(set)
        self._effects: set[bytes] = set()
        self._tried = self._unread = self._in_a_row = 0
        self._last = ""

    def foreseen(self, names: Sequence[str]) -> bool:
        """True if things like them were tried, or both had the same outcome in their slots."""
        likes = tuple(map(self._twins.stand_in, names))
        if likes != tuple(names) and likes in self._answers:
            return True
        if len(names) != 2:
            return False
        if any(place in self._untaken for place in enumerate(names)):
            return True
        first, second = (self._kinds[place] for place in enumerate(names))
        return any(min(times, second[kind]) >= self._enough(kind) for kind, times in first.items())

    def _enough(self, kind: str) -> int:
        """Return the number of equal outcomes per thing after which the next one is foreseen."""
        things = min(len(self._refused[slot, kind]) for slot in (0, 1))
        return 1 if things >= _GENERAL else _ORDINARY

    @property
    def hopeless(self) -> bool:
        """True if the parser refused the form of the first commands."""
        return self._tried == self._unread == _MOST_UNREAD

    @property
    def dull(self) -> bool:
        """True if the last commands were refused in the same words."""
        return self._in_a_row == _DULL

    def note(self, names: Sequence[str], text: str, effect: bytes) -> None:
        """Note the answer and the effect of a command, empty if it changed nothing."""
        self._tried += 1
        self._unread += is_refused_verb(text)
        kind = "" if effect else self._refusal(names, text)
        self._answers[tuple(names)] = kind
        if len(names) == 1:
            first = self._answers.get((self._twins.first(names[0]),))
            if first is not None:
                self._twins.compare(names[0], equal=kind == first != "")
        again = kind == self._last and not effect and not self.dull
        self._in_a_row, self._last = self._in_a_row + 1 if again else 1, kind
        if effect and effect not in self._effects:
            self._effects.add(effect)
        elif len(names) == 2:
            for slot, name in enumerate(names):
                self._kinds[slot, name][_REPEATED if effect else kind] += 1
                if not effect:
                    self._refused[slot, kind].add(name)
            if not effect:
                self._note_untaken(names, text)

    def _note_untaken(self, names: Sequence[str], text: str) -> None:
        """Note the thing that a refused command tried to take first."""
        aside = _FIRST.match(text)
        if aside is not None:
            said = set(letter_words(aside[1]))
            shared = [len(said & self._words.get(name, {name})) for name in names]
            if shared[0] != shared[1]:
                slot = int(shared[1] > shared[0])
                self._untaken.add((slot, names[slot]))

    def _refusal(self, names: Sequence[str], text: str) -> str:
        own = frozenset[str]().union(*(self._words.get(name, (name,)) for name in names))
        sentence = _SENTENCE.match(story_text(text))
        words = letter_words(without_articles(sentence[1].lower())) if sentence else ()
        return " ".join(word for word in words if word not in own)
