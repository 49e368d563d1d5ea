"""Rendering: facts and observations as text within a token budget.

One line an entity, all of its facts on it, which costs a third fewer tokens than a triple a
line and reads like notes::

    fridge: is in kitchen; is closed
    kitchen: has unexplored exit north
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from gym_memory.memory.base import check_budget
from gym_memory.memory.episodes import Episode
from gym_memory.tokens import CHARS_PER_TOKEN
from gym_memory.types import Triple

__all__ = ["Block", "Page", "fact_block", "fit_episodes", "fit_facts", "render_episode"]
__all__ += ["render_facts"]

_ENOUGH_MISSES = 4
_WORTH_SHOWING = 40
"""Fewest characters of an observation that are worth showing."""


class Block(NamedTuple):
    """Facts about one subject and the line that says them; shown together."""

    triples: tuple[Triple, ...]
    line: str


def fact_block(triples: Sequence[Triple]) -> Block:
    """The block of some facts with one subject.

    >>> fact_block([Triple("fridge", "is in", "kitchen"), Triple("fridge", "is", "closed")]).line
    'fridge: is in kitchen; is closed'
    """
    if not triples:
        return Block((), "")
    facts = "; ".join([f"{relation} {obj}" for _, relation, obj in triples])
    return Block(tuple(triples), f"{triples[0][0]}: {facts}")


class Page:
    """Lines and facts chosen so far, and the characters that are left.

    Args:
        budget: Tokens to fill, >= 0.
    """

    __slots__ = ("_misses", "_subject", "left", "lines", "triples")

    def __init__(self, budget: int):
        self.left = check_budget(budget) * CHARS_PER_TOKEN + 1  # the last line needs no end
        self.lines: list[str] = []
        self.triples: list[Triple] = []
        self._subject = ""
        self._misses = 0

    @property
    def full(self) -> bool:
        """Whether trying further is a waste of time."""
        return self._misses >= _ENOUGH_MISSES

    def put(self, block: Block) -> bool:
        """Add a block if it fits, on the last line where that has the same subject."""
        triples, line = block
        if not triples:
            return True
        subject = triples[0][0]
        size = len(line) + 1
        if subject == self._subject:
            size -= len(subject)
        if size > self.left:
            self._miss(triples)
            return False
        if subject == self._subject:
            self.lines[-1] += ";" + line[len(subject) + 1 :]
        else:
            self.lines.append(line)
            self._subject = subject
        self.left -= size
        self.triples += triples
        return True

    def _miss(self, triples: tuple[Triple, ...]) -> None:
        """Note that a block did not fit; of the first one, show the facts that do."""
        self._misses += 1
        if self._misses == 1:
            for count in range(len(triples) - 1, 0, -1):
                part = fact_block(triples[:count])
                if len(part.line) < self.left:
                    self.put(part)
                    return

    def text(self) -> str:
        """The lines."""
        return "\n".join(self.lines)


def render_facts(triples: Iterable[Triple]) -> str:
    """All of ``triples``, neighbours of one subject on one line.

    >>> print(render_facts([Triple("hall", "is east of", "kitchen"), Triple("key", "is in", "hall")]))
    hall: is east of kitchen
    key: is in hall
    """  # noqa: E501 - a doctest cannot be wrapped
    blocks = (fact_block(list(group)) for _, group in groupby(triples, key=itemgetter(0)))
    return "\n".join(block.line for block in blocks)


def fit_facts(triples: Iterable[Triple], budget: int) -> tuple[str, tuple[Triple, ...]]:
    """Render the first of ``triples`` that fit, neighbours of one subject on one line.

    Returns:
        The text, at most ``budget`` tokens, and the facts in it.
    """
    page = Page(budget)
    for _, group in groupby(triples, key=itemgetter(0)):
        page.put(fact_block(list(group)))
        if page.full:
            break
    return page.text(), tuple(page.triples)


def render_episode(episode: Episode) -> str:
    """One observation after its step and the action that led to it, without empty lines."""
    return _head(episode) + _body(episode)


def fit_episodes(episodes: Iterable[Episode], left: int) -> tuple[str, tuple[str, ...]]:
    """Render the first of ``episodes`` that fit; the one that no longer does is cut.

    Args:
        episodes: Observations, most relevant first.
        left: Characters that may be used.

    Returns:
        The text, at most ``left`` characters, and the observations as far as they are in it.
    """
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
    return f"[step {episode.t}] > {episode.action}\n" if episode.action else f"[step {episode.t}]\n"


def _body(episode: Episode) -> str:
    return "\n".join([line for line in episode.text.splitlines() if line.strip()])
