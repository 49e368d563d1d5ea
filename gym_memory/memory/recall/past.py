"""The past as a graph remembers it, for a cue that asks about it.

Two forms of questions are understood: ``... at step 12 ...`` asks for what was true then and what
happened, and a question with *when*, *first*, *last*, *before* or *after* asks when something
became true, with *what* besides of what was in or on the things that it names. Facts that answer
them are dated: ``[step 12] apple: is in fridge; is raw``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from gym_memory.memory.graph import TemporalGraph
from gym_memory.memory.reading import entry_head
from gym_memory.memory.recall.render import fact_block
from gym_memory.schema import LOCATIONS, PLAYER
from gym_memory.types import Triple

__all__ = ["Dated", "asks_about_past", "dated_lines", "recollect", "steps_asked_for"]

Dated = tuple[int, Triple]
"""A step and a fact that was true, or became true, then."""

_AT = re.compile(r"\b(?:at|in|on|during|after|by) step (\d{1,9})\b", re.IGNORECASE)
_WHEN = re.compile(r"\b(?:when|first|last|before|after|earlier|later)\b[^?]*\?", re.IGNORECASE)
_WHAT = re.compile(r"\bwhat\b", re.IGNORECASE)
_MOST_STEPS = 4


def asks_about_past(focus: str) -> bool:
    """Whether a focus asks about the past.

    >>> asks_about_past("Where was the apple at step 12?"), asks_about_past("find the apple")
    (True, False)
    """
    return _AT.search(focus) is not None or _WHEN.search(focus) is not None


def steps_asked_for(focus: str) -> list[int]:
    """The steps that a focus asks about, each once, the first few.

    >>> steps_asked_for("What did you do at step 12?")
    [12]
    """
    return [int(step) for step in dict.fromkeys(_AT.findall(focus))][:_MOST_STEPS]


def recollect(
    graph: TemporalGraph, focus: str, names: Iterable[str], origin: int = 0
) -> list[Dated]:
    """Dated facts that answer what a focus asks about the past.

    Args:
        graph: The graph.
        focus: The question.
        names: Entities that it names.
        origin: The graph's clock at step 0 of the episode.

    Returns:
        For every step that the focus names: what was true then of the named entities, and of
        what they were in or on. For a question of when: where each named thing has been, when
        the agent was in each named place and, where it asks *what*, what was in or on it, the
        first time each. Earliest first.
    """
    named = list(dict.fromkeys(names))
    found: dict[Dated, None] = {}
    for step in list(dict.fromkeys(_AT.findall(focus)))[:_MOST_STEPS]:
        found.update(
            (((int(step), fact), None)) for fact in _then(graph, int(step) + origin, named)
        )
    if _WHEN.search(focus):
        began = _began(graph, named, held=_WHAT.search(focus) is not None)
        found.update(dict.fromkeys((t - origin, fact) for t, fact in began))
    return sorted(found, key=lambda dated: dated[0])


def _then(graph: TemporalGraph, t: int, named: Iterable[str]) -> Iterator[Triple]:
    """What was true of some entities, and of what they were in, at the end of step ``t``."""
    facts: dict[str, list[Triple]] = {}
    for fact in graph.as_of(t):
        if fact.relation == "is" or fact.relation in LOCATIONS:
            facts.setdefault(fact.subject, []).append(fact)
    queue = dict.fromkeys(named)
    shown: set[str] = set()
    while queue:
        name = next(iter(queue))
        del queue[name]
        if name in shown:
            continue
        shown.add(name)
        for fact in facts.get(name, ()):
            yield fact
            if fact.relation in LOCATIONS:
                queue[fact.object] = None


def _began(graph: TemporalGraph, named: Iterable[str], *, held: bool) -> Iterator[Dated]:
    """The first time of every place of some things, and of the agent, or of all, in them."""
    wanted = set(named) - {PLAYER}
    for fact in graph.facts():
        subject, relation, obj = fact.triple
        of_interest = subject in wanted or (obj in wanted and (held or subject == PLAYER))
        if relation in LOCATIONS and of_interest and fact.intervals:
            yield fact.intervals[0][0], fact.triple


def dated_lines(dated: Iterable[Dated], left: int) -> str:
    """Dated facts as text, at most ``left`` characters; the last ones are left out.

    >>> dated_lines([(3, Triple("you", "is in", "hall"))], 80)
    '[step 3] you: is in hall'
    """
    lines = []
    for (t, _), group in groupby(dated, key=lambda dated: (dated[0], dated[1].subject)):
        line = f"{entry_head(t, '')} {fact_block(fact for _, fact in group).text}"
        if len(line) > left:
            break
        lines.append(line)
        left -= len(line) + 1
    return "\n".join(lines)
