"""What a piece of text says, before it is known where and of which thing it speaks.

Text is read sentence by sentence; what one sentence says depends on nothing but its characters,
so it is computed once and kept. Two placeholders stand for what the sentence itself does not
tell: :data:`HERE`, the room that is described, and :data:`IT`, the thing spoken of last.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gym_memory.core.records import Triple
from gym_memory.extract.base import Mention, Pattern
from gym_memory.extract.notes.words import Phrase

__all__ = ["HERE", "IT", "Listing", "Reading", "Rule", "contents", "first_match", "located"]
__all__ += ["sentences", "stated"]

HERE = "<here>"
IT = "<it>"

_SENTENCE = re.compile(r"[^\S\n]*Oh well(?=\s)|[^.!?\n]+[.!?]*[\"']?")
_MAX_SENTENCE_CHARS = 1000


class Listing(NamedTuple):
    """All that is in or on a holder; whatever else was there is gone."""

    holder: str
    names: tuple[str, ...]


class Reading(NamedTuple):
    """What a sentence or a longer text says.

    Attributes:
        mentions: Facts with their spans.
        listings: Complete contents of holders.
        outdated: Facts that the text ends.
        topic: The thing to which a following *it* refers; empty where that stays the same.
        new: Whether the sentence introduces the topic: a piece of furniture seen in the room.
    """

    mentions: tuple[Mention, ...] = ()
    listings: tuple[Listing, ...] = ()
    outdated: tuple[Pattern, ...] = ()
    topic: str = ""
    new: bool = False


Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], Reading]]
"""A form of sentence and what it says."""


def sentences(text: str) -> Iterator[tuple[str, int]]:
    """Sentences with the position of their first character; overlong ones are left out.

    >>> list(sentences("It is dark. Is it?"))
    [('It is dark.', 0), ('Is it?', 12)]
    """
    for found in _SENTENCE.finditer(text):
        whole = found.group()
        sentence = whole.strip()
        if sentence and len(sentence) <= _MAX_SENTENCE_CHARS:
            yield sentence, found.start() + whole.index(sentence[0])


def first_match(rules: tuple[Rule, ...], sentence: str, start: int = 0) -> Reading | None:
    """What the first rule that fits makes of a sentence from ``start`` on; None if none fits."""
    for pattern, build in rules:
        found = pattern.match(sentence, start)
        if found is not None:
            return build(found)
    return None


def stated(subject: str, relation: str, obj: str, found: re.Match[str], group: str) -> Mention:
    """A fact whose evidence is a group of a match."""
    return Mention(Triple(subject, relation, obj), *found.span(group))


def located(phrase: Phrase, relation: str, place: str) -> Iterator[Mention]:
    """Where a thing is, and the states in its name."""
    yield Mention(Triple(phrase.name, relation, place), phrase.start, phrase.end)
    for state in phrase.states:
        yield Mention(Triple(phrase.name, "is", state), phrase.start, phrase.end)


def contents(
    holder: str,
    relation: str,
    things: tuple[Phrase, ...],
    span: tuple[int, int],
    *,
    opened: bool = False,
) -> Reading:
    """A holder with all that it holds; with nothing in it, it is empty.

    Args:
        holder: Its name or a placeholder.
        relation: ``is in`` or ``is on``.
        things: All that is there.
        span: Evidence for what is said of the holder itself.
        opened: Whether it follows that the holder is open.
    """
    mentions = [m for phrase in things for m in located(phrase, relation, holder)]
    states = ("empty",) * (not things) + ("open",) * opened
    mentions += [Mention(Triple(holder, "is", state), *span) for state in states]
    listing = Listing(holder, tuple(phrase.name for phrase in things))
    return Reading(tuple(mentions), (listing,), topic="" if holder == IT else holder)
