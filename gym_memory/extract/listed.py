"""Lists of the things here, and which of them are complete.

A game's lists count as complete until they leave out things that show up again where they were.
"""

from __future__ import annotations

from itertools import islice
from operator import itemgetter

from gym_memory.extract.draft import Draft
from gym_memory.graph import TemporalGraph

__all__ = ["LISTED", "are_partial", "end_unlisted"]

LISTED = "list"
"""Reason for the end of a fact that a list leaves out."""
_MOST_EVENTS = 2000
_WRONG_SHARE = 0.5
_PRIOR_RIGHT = 3
"""Lists that are taken to be complete before any was seen."""


def end_unlisted(draft: Draft) -> None:
    """End facts about things that the text leaves out, if this game's lists are complete."""
    stated = {mention.subject for mention in draft.mentions}
    gone = [fact for fact in draft.contents(draft.room) if fact.subject not in stated]
    if gone and not are_partial(draft.graph):
        draft.keep_only(draft.room, stated, by=LISTED)
        for fact in gone:
            draft.keep_only(fact.subject, stated, by=LISTED)


def are_partial(graph: TemporalGraph) -> bool:
    """True if most things that lists left out were still where they had been."""
    events = tuple(islice(reversed(graph.events), _MOST_EVENTS))
    left_out = tuple(map(itemgetter(2), events)).count(LISTED)
    back = tuple(map(itemgetter(4), events)).count(LISTED)
    return back > (left_out + _PRIOR_RIGHT) * _WRONG_SHARE
