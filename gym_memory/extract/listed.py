"""Ends of facts about things that a list of the things here, or in a holder, leaves out.

A game's lists count as complete until things that they leave out are seen again in their place.
"""

from __future__ import annotations

from itertools import islice
from operator import itemgetter

from gym_memory.extract import Pattern
from gym_memory.extract.draft import Draft
from gym_memory.graph import TemporalGraph

__all__ = ["LISTED", "are_partial", "end_unlisted"]

LISTED = "list"
"""Cause of the end of a fact about a thing that a list leaves out."""
_MAX_EVENTS = 2000
_MAX_SHARE_WRONG = 0.5
_PRIOR_OMISSIONS = 3
"""Pseudo-count of omissions that were right, before any is observed."""


def end_unlisted(draft: Draft, holder: str) -> None:
    """End facts about things in a holder, in the way that the text states of others.

    They end only if the text leaves them out, and this game's lists are complete.
    """
    stated = {mention.subject for mention in draft.mentions}
    ways = {mention.relation for mention in draft.mentions if mention.object == holder}
    gone = [
        fact
        for fact in draft.contents(holder)
        if fact.subject not in stated and (fact.relation in ways or holder == draft.room)
    ]
    if gone and not are_partial(draft.graph):
        for fact in gone:
            draft.outdated[Pattern(*fact, LISTED)] = None
            draft.keep_only(fact.subject, stated, by=LISTED)


def are_partial(graph: TemporalGraph) -> bool:
    """True if most things that lists left out turned out to be still in their place."""
    events = tuple(islice(reversed(graph.events), _MAX_EVENTS))
    left_out = tuple(map(itemgetter(2), events)).count(LISTED)
    back = tuple(map(itemgetter(4), events)).count(LISTED)
    return back > (left_out + _PRIOR_OMISSIONS) * _MAX_SHARE_WRONG
