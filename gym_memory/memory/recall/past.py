"""Past as text: the last attempts without gaps, and dated facts that answer questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby, islice
from typing import NamedTuple

from gym_memory.core.records import Triple
from gym_memory.core.text import split_reward, with_reward
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import LOCATIONS, PLAYER
from gym_memory.memory.reading import MAX_RUN, entry_head, fact_block, without_empty_lines
from gym_memory.memory.stores.episodes import Episode

__all__ = ["Attempt", "Dated", "PastQuestion", "achievements", "dated_lines", "fit_attempts"]
__all__ += ["is_question", "last_attempts", "read_past_question", "recollect"]

# A number in a question that is no part of a name is a step (*at step 12*, *12 moves ago*). Words
# of order (*first*, *before*), or the past tense with a name, ask when something became true. A
# command that it names asks for its result, or for what came after it.

Dated = tuple[int, Triple]
"""A step and a fact that was true, or became true, then."""

_MAX_ANSWER_CHARS = 80
_MOST_STEPS = 4

_QUESTION = re.compile(
    r"\?|\b(?:where|what|which|who|whose|when|how|whether|you|your|was|were|did|had|been)\b|"
    r"(?:^|[.;:!]\s*)\W*(?:tell|say|name|list|describe|report|repeat|recount|recite|quote|recall|"
    r"remember|remind|state|explain|give|arrange|sort|order|rank|compare)\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\b(?:when|first|last|before|after|earl(?:y|ier|iest)|lat(?:er|est)|sooner|soonest|prior|"
    r"previous(?:ly)?|initially|beforehand|preced\w+|order|sequence|succession|chronolog\w+)\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:was|were|did|had|been|came|went|got|took|taken|once|former(?:ly)?|\w+ed|times?|"
    r"(?:i|you)(?: have)?(?: last)? (?:left|put|set|laid|found))\b",
    re.IGNORECASE,
)
_START = re.compile(r"\b(?:start(?:ed)?|beg[aiu]n|beginning|outset|originally)\b", re.IGNORECASE)
_NEXT = re.compile(r"\b(?:after|next|then|followed)\b", re.IGNORECASE)
_HOW = re.compile(r"\bhow (?:did|was|were|has|have|come)\b|\bwhat made\b", re.IGNORECASE)
_NUMBER = re.compile(
    r"(?P<back>\b(?:back(?:wards?)?(?: by)?|rewind(?: by)?) )?"
    r"\b(?P<n>\d{1,9})(?:st|nd|rd|th)?\b"
    r"(?P<ago>(?: \w+){0,2} (?:ago|back(?:wards?)?|before now|earlier)\b)?",
    re.IGNORECASE,
)
_WHAT = re.compile(r"\bwhat (?:was|were|is|lay|stood) ", re.IGNORECASE)


class PastQuestion(NamedTuple):
    """A question about the past.

    Attributes:
        steps: Steps that it is about, each once, the first few.
        order: True if it asks when things became true.
        done: Steps of the commands that it names, and the next ones if it asks for those.
        inside: True if it asks for the contents of the things that it names.
    """

    steps: tuple[int, ...] = ()
    order: bool = False
    done: tuple[int, ...] = ()
    inside: bool = False


@lru_cache(maxsize=1 << 8)
def is_question(text: str) -> bool:
    """True if a text asks, addresses someone or speaks of the past; a plan is an imperative."""
    return _QUESTION.search(text) is not None


def read_past_question(
    focus: str, names: Iterable[str], now: int, done: Iterable[int] = ()
) -> PastQuestion | None:
    """Return what a question or plan asks about the past; None if nothing.

    ``names`` are in lower case, ``now`` is the present step, ``done`` maps named commands to their
    steps.

    >>> read_past_question("Where was the apple when you had made 12 moves?", ["apple"], 30)
    PastQuestion(steps=(12,), order=True, done=(), inside=False)
    >>> read_past_question("take the apple from drawer 2", ["apple", "drawer 2"], 30)
    """
    if not is_question(focus):
        return None
    named = sorted(set(names) - {PLAYER}, key=lambda name: (-len(name), name))
    bare = focus
    for name in named:  # a number may be part of a name, and so may a word of order
        bare = re.sub(rf"\b{re.escape(name)}\b", "_", bare, flags=re.IGNORECASE)
    numbers = [
        now - int(number["n"]) if number["back"] or number["ago"] else int(number["n"])
        for number in _NUMBER.finditer(bare)
    ]
    steps = tuple(step for step in dict.fromkeys(numbers) if 0 <= step != now)[:_MOST_STEPS]
    start = _START.search(bare)
    if start and not named and not steps and now:
        steps = (0,)
    order = bool(start or _ORDER.search(bare))
    inside = order and _WHAT.search(bare) is not None
    order = order or bool(named and not numbers and _PAST.search(bare))
    after = 1 if _NEXT.search(bare) else 0
    found = dict.fromkeys(t + later for t in done for later in (0, after))
    question = PastQuestion(steps, order, tuple(found)[:_MOST_STEPS], inside)
    return question if any(question) else None


def achievements(graph: TemporalGraph, focus: str, names: Iterable[str]) -> list[int]:
    """Return the steps at which things reached their state, latest first, if a text asks."""
    if not _HOW.search(focus):
        return []
    facts = [graph.fact(t) for name in names for t in graph.outgoing(name) if t.relation == "is"]
    starts = {fact.intervals[-1][0] for fact in facts if fact and fact.intervals}
    return sorted(starts, reverse=True)


def recollect(
    graph: TemporalGraph, past: PastQuestion, names: Iterable[str], origin: int = 0
) -> list[Dated]:
    """Return dated facts that answer a question about the past, earliest first.

    For a step: facts about the named entities, the agent, and what they were in or on. For order:
    the first and last time of a named thing's places, the first of the agent in named places and,
    if asked, of contents. ``origin`` is the graph's clock at step 0 of the episode.
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
    facts: dict[str, list[Triple]] = {}
    for fact in graph.as_of(t):
        if fact.relation == "is" or fact.relation in LOCATIONS:
            facts.setdefault(fact.subject, []).append(fact)
    queue = [*named]
    for name in queue:  # grows while it is read
        for fact in facts.get(name, ()):
            yield fact
            if fact.relation in LOCATIONS and fact.object not in queue:
                queue.append(fact.object)


def _began(graph: TemporalGraph, named: Iterable[str], *, held: bool) -> Iterator[Dated]:
    """Yield the first and last times of the places of things, the first of the agent in them."""
    wanted = set(named) - {PLAYER}
    for fact in graph.facts():
        subject, relation, obj = fact.triple
        of_interest = subject in wanted or (obj in wanted and (held or subject == PLAYER))
        if relation in LOCATIONS and of_interest and fact.intervals:
            yield fact.intervals[0][0], fact.triple
            if subject in wanted:
                yield fact.intervals[-1][0], fact.triple


def dated_lines(dated: Iterable[Dated], left: int) -> str:
    """Render the first dated facts that fit ``left`` characters."""
    lines = []
    for (t, _), group in groupby(dated, key=lambda dated: (dated[0], dated[1].subject)):
        line = f"{entry_head(t, '')} {fact_block(fact for _, fact in group).text}"
        if len(line) > left:
            break
        lines.append(line)
        left -= len(line) + 1
    return "\n".join(lines)


class Attempt(NamedTuple):
    """An action taken once or repeatedly; ``whole`` is its answer if shown in full, else empty."""

    text: str
    whole: str


def last_attempts(episodes: Iterable[Episode], most: int) -> list[Attempt]:
    """Return at most ``most`` attempts; ``episodes`` are the steps, latest first."""
    attempts = []
    for (action, _), run in islice(groupby(episodes, key=_kind), most):
        last, *before = islice(run, MAX_RUN)
        attempts.append(_attempt(last.t, action, 1 + len(before), last.text))
    return attempts


def _kind(episode: Episode) -> tuple[str, float]:
    return episode.action, split_reward(episode.text)[1]


@lru_cache(maxsize=1 << 10)
def _attempt(t: int, action: str, times: int, text: str) -> Attempt:
    shown = without_empty_lines(text)
    bare, reward = split_reward(shown)
    answer = with_reward(bare.partition("\n")[0][:_MAX_ANSWER_CHARS], reward)
    return Attempt(f"{entry_head(t, action, times)}\n{answer}", text if answer == shown else "")


def fit_attempts(attempts: Sequence[Attempt], left: int) -> tuple[str, frozenset[str]]:
    """Render the latest attempts in ``left`` characters; also return the texts shown whole."""
    count = 0
    for attempt in attempts:
        left -= len(attempt.text) + bool(count)
        if left < 0:
            break
        count += 1
    shown = attempts[:count]
    return "\n".join([one.text for one in reversed(shown)]), frozenset(one.whole for one in shown)
