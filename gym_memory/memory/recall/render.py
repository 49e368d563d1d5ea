"""Render facts and observations as text within a token budget, one line an entity."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from gym_memory.core.records import Triple
from gym_memory.memory.base import CHARS_PER_TOKEN, check_budget
from gym_memory.memory.reading import JOINED, NAMED, entry_head, fact_line
from gym_memory.memory.stores.episodes import Episode

__all__ = ["NOTHING", "Block", "Page", "fact_block", "fit_episodes", "fit_facts", "render_episode"]
__all__ += ["render_facts", "without_empty_lines"]

_ENOUGH_MISSES = 4
_WORTH_SHOWING = 40
"""Fewest characters of an observation that are worth showing."""


class Block(NamedTuple):
    """Facts that are shown together, and their text."""

    triples: tuple[Triple, ...]
    text: str


NOTHING = Block((), "")


def render_facts(triples: Iterable[Triple]) -> str:
    """Render facts: one line for neighbours of one subject."""
    return "\n".join(
        [
            fact_line(subject, [f"{relation} {obj}" for _, relation, obj in facts])
            for subject, facts in groupby(triples, key=itemgetter(0))
        ]
    )


def fact_block(triples: Iterable[Triple]) -> Block:
    """Return the block of some facts.

    >>> fact_block([Triple("fridge", "is in", "kitchen"), Triple("fridge", "is", "closed")]).text
    'fridge: is in kitchen; is closed'
    """
    kept = tuple(triples)
    return Block(kept, render_facts(kept))


class Page:
    """Texts and facts chosen so far, and the characters left of a budget in tokens."""

    __slots__ = ("_misses", "_subject", "full", "left", "lines", "triples")

    def __init__(self, budget: int):
        self.left = check_budget(budget) * CHARS_PER_TOKEN + 1  # the last line needs no end
        self.lines: list[str] = []
        self.triples: list[Triple] = []
        self._subject = ""
        self._misses = 0
        self.full = False
        """True if trying further is a waste of time."""

    def become(self, other: Page) -> None:
        """Copy another page."""
        self.left, self._subject = other.left, other._subject
        self._misses, self.full = other._misses, other.full
        self.lines, self.triples = other.lines.copy(), other.triples.copy()

    def copy(self) -> Page:
        """Return an independent copy."""
        twin = Page(0)
        twin.become(self)
        return twin

    def put(self, block: Block) -> bool:
        """Add a block if it fits, on the last line if that has the same subject."""
        triples, text = block
        if not triples:
            return True
        subject = triples[0][0]
        merged = subject == self._subject
        size = len(text) + (len(JOINED) - len(subject) - len(NAMED) if merged else 0) + 1
        if size > self.left:
            self._miss(triples)
            return False
        if merged:
            self.lines[-1] += JOINED + text[len(subject) + len(NAMED) :]
        else:
            self.lines.append(text)
        self._subject = triples[-1][0]
        self.left -= size
        self.triples += triples
        return True

    def _miss(self, triples: tuple[Triple, ...]) -> None:
        """Count a block that did not fit; of the first one, show the facts that do."""
        self._misses += 1
        self.full = self._misses >= _ENOUGH_MISSES
        if self._misses == 1:
            for count in range(len(triples) - 1, 0, -1):
                part = fact_block(triples[:count])
                if len(part.text) < self.left:
                    self.put(part)
                    return

    def text(self) -> str:
        """Return the lines as one text."""
        return "\n".join(self.lines)


def fit_facts(triples: Iterable[Triple], budget: int) -> tuple[str, tuple[Triple, ...]]:
    """Render the first of ``triples`` that fit ``budget`` tokens; return text and facts shown."""
    page = Page(budget)
    for _, group in groupby(triples, key=itemgetter(0)):
        page.put(fact_block(group))
        if page.full:
            break
    return page.text(), tuple(page.triples)


def render_episode(episode: Episode) -> str:
    """Render an observation after its step and action, without empty lines."""
    return _head(episode) + _body(episode)


def fit_episodes(episodes: Iterable[Episode], left: int) -> tuple[str, tuple[str, ...]]:
    """Render the first of ``episodes`` that fit ``left`` characters, as far as they are shown."""
    lines: list[str] = []
    shown: list[str] = []
    for episode in episodes:
        head, body = _head(episode), _body(episode)
        room = left - len(head)
        if room < min(len(body), _WORTH_SHOWING):
            break
        lines.append(head + body[:room])
        shown.append(body[:room])
        left -= len(lines[-1]) + 1
    return "\n".join(lines), tuple(shown)


def _head(episode: Episode) -> str:
    return entry_head(episode.t, episode.action) + "\n"


def _body(episode: Episode) -> str:
    return without_empty_lines(episode.text)


@lru_cache(maxsize=512)
def without_empty_lines(text: str) -> str:
    """Return a text without its empty lines."""
    return "\n".join([line for line in text.splitlines() if line.strip()])
