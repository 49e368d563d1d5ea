"""The past as a graph remembers it, for a cue that asks about it.

A question is understood by what it names, not by its wording. A number in it that is no part of a
name and not the present step is a step (*at step 12*, *your 12th move*), counted back from the
present where it says so (*12 moves ago*), and asks for what was true then and what happened. A
question that speaks of order (*first*, *before*, *sooner*), or that speaks of the past and names
two things, asks when something became true, with *what was* besides of what was in or on the
things that it names. A command in it that was given asks what came of it. Facts that answer it
are dated: ``[step 12] apple: is in fridge; is raw``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from gym_memory.core.records import Triple
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import LOCATIONS, PLAYER
from gym_memory.memory.reading import entry_head
from gym_memory.memory.recall.render import fact_block

__all__ = ["Dated", "Past", "dated_lines", "past_asked_for", "recollect"]

Dated = tuple[int, Triple]
"""A step and a fact that was true, or became true, then."""

_QUESTION = re.compile(
    r"\?|\b(?:where|what|which|who|whose|when|how|whether|you|your)\b|"
    r"(?:^|[.;:!]\s*)\W*(?:tell|say|name|list|describe|report|repeat|recount|recite|quote|recall|"
    r"remember|remind|state|explain|give|arrange|sort|order|rank|compare)\b",
    re.IGNORECASE,
)
"""A plan is in the imperative and speaks of no one; a question asks, or speaks to someone."""
_ORDER = re.compile(
    r"\b(?:when|first|last|before|after|earl(?:y|ier|iest)|lat(?:er|est)|sooner|soonest|prior|"
    r"previous(?:ly)?|initially|beforehand|preced\w+|order|sequence|succession|chronolog\w+)\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:was|were|did|had|been|came|went|got|took|once|\w+ed|times?)\b", re.IGNORECASE
)
_NUMBER = re.compile(
    r"(?P<back>\b(?:back(?:wards?)?(?: by)?|rewind(?: by)?) )?"
    r"\b(?P<n>\d{1,9})(?:st|nd|rd|th)?\b"
    r"(?P<ago>(?: \w+){0,2} (?:ago|back(?:wards?)?|before now|earlier)\b)?",
    re.IGNORECASE,
)
_WHAT = re.compile(r"\bwhat (?:was|were|is|lay|stood) ", re.IGNORECASE)
_MOST_STEPS = 4


class Past(NamedTuple):
    """What a question asks about the past.

    Attributes:
        steps: The steps that it asks about, each once, the first few.
        order: Whether it asks when things became true.
        done: The steps of the commands that it names.
        inside: Whether it asks when what was in or on the things that it names.
    """

    steps: tuple[int, ...] = ()
    order: bool = False
    done: tuple[int, ...] = ()
    inside: bool = False


def past_asked_for(
    focus: str, names: Iterable[str], now: int, done: Iterable[int] = ()
) -> Past | None:
    """What a focus asks about the past; None if it does not.

    Args:
        focus: A question, or a plan.
        names: Entities that it names, in lower case.
        now: The present step.
        done: The steps of the commands that it names.

    >>> past_asked_for("Where was the apple when you had made 12 moves?", ["apple"], 30)
    Past(steps=(12,), order=True, done=(), inside=False)
    >>> past_asked_for("take the apple from drawer 2", ["apple", "drawer 2"], 30)
    """
    if not _QUESTION.search(focus):
        return None
    named = sorted(set(names) - {PLAYER}, key=lambda name: (-len(name), name))
    bare = focus
    for name in named:  # a number may be part of a name, and so may a word of order
        bare = re.sub(rf"\b{re.escape(name)}\b", "_", bare, flags=re.IGNORECASE)
    told = [
        now - int(number["n"]) if number["back"] or number["ago"] else int(number["n"])
        for number in _NUMBER.finditer(bare)
    ]
    steps = tuple(step for step in dict.fromkeys(told) if 0 <= step != now)[:_MOST_STEPS]
    order = bool(_ORDER.search(bare) or (len(named) > 1 and _PAST.search(bare)))
    inside = order and _WHAT.search(bare) is not None
    asked = Past(steps, order, tuple(done)[:_MOST_STEPS], inside)
    return asked if any(asked) else None


def recollect(
    graph: TemporalGraph, past: Past, names: Iterable[str], origin: int = 0
) -> list[Dated]:
    """Dated facts that answer what is asked about the past.

    Args:
        graph: The graph.
        past: What is asked.
        names: Entities that the question names.
        origin: The graph's clock at step 0 of the episode.

    Returns:
        For every step asked for: what was true then of the named entities and of the agent, and
        of what they were in or on. For a question of when: where each named thing has been, when
        the agent was in each named place and, where it asks so, what was in or on it, the first
        time each. Earliest first.
    """
    named = list(dict.fromkeys(names))
    found: dict[Dated, None] = {}
    for step in past.steps:
        for whom in (named, [PLAYER]):
            then = _then(graph, step + origin, whom)
            found.update(((step, fact), None) for fact in then)
    if past.order:
        began = _began(graph, named, held=past.inside)
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
