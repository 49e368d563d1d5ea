"""The past: observations, actions and their results, and facts for questions about the past.

A number in a question that is no part of a name is a step (*at step 12*, *12 moves ago*). Words of
order (*first*, *before*), or the past tense with a name, ask when something became true. A
command that it names asks for its result, or for what came after it.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from itertools import groupby, islice
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from gym_memory.core.records import Triple
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import DETERMINERS, LOCATIONS, PLAYER, NameIndex, tried_relation
from gym_memory.memory.reading import MAX_RUN, entry_head
from gym_memory.memory.recall.render import Block, fact_block, without_empty_lines
from gym_memory.memory.stores.episodes import Episode, EpisodeStore, Follower, weight

__all__ = ["ActionIndex", "Attempt", "Dated", "EpisodicIndex", "PastQuestion", "dated_lines"]
__all__ += ["achievements", "fit_attempts", "last_attempts", "read_past_question", "recollect"]

Dated = tuple[int, Triple]
"""A step and a fact that was true, or became true, then."""

_MAX_ANSWER_CHARS = 80
_MOST_TRIED = 12
_MOST_STEPS = 4
_NONE = array("i")
_AGE = 1e-13
"""What an id adds to a score: less than scores differ by, enough to put the newest first."""
_LEAST = 1e-6

_QUESTION = re.compile(
    r"\?|\b(?:where|what|which|who|whose|when|how|whether|you|your|was|were|did|had|been)\b|"
    r"(?:^|[.;:!]\s*)\W*(?:tell|say|name|list|describe|report|repeat|recount|recite|quote|recall|"
    r"remember|remind|state|explain|give|arrange|sort|order|rank|compare)\b",
    re.IGNORECASE,
)
"""A plan is in the imperative; a question asks, speaks to someone or of what was."""
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
_EVENT = re.compile(
    r"\bwhat(?:['’]d)? (?:did (?:i|it|you) (?:find|get|say|see)|(?:came|happened)\b)|"
    r"\bwhen (?:i|you)\b",
    re.IGNORECASE,
)
_DONE_BY = re.compile(r"\bi(?:['’]ve|['’]d| have| had)? (\w+)")
_IRREGULAR = {
    "ate": "eat", "drank": "drink", "found": "find", "gave": "give", "got": "get", "lit": "light",
    "said": "say", "threw": "throw", "took": "take", "went": "go", "wore": "wear",
}  # fmt: skip
_HOW = re.compile(r"\bhow (?:did|was|were|has|have|come)\b|\bwhat made\b", re.IGNORECASE)
_ARTICLE = re.compile(rf"\b(?:{'|'.join(sorted(DETERMINERS))}) ", re.IGNORECASE)
_NUMBER = re.compile(
    r"(?P<back>\b(?:back(?:wards?)?(?: by)?|rewind(?: by)?) )?"
    r"\b(?P<n>\d{1,9})(?:st|nd|rd|th)?\b"
    r"(?P<ago>(?: \w+){0,2} (?:ago|back(?:wards?)?|before now|earlier)\b)?",
    re.IGNORECASE,
)
_WHAT = re.compile(r"\bwhat (?:was|were|is|lay|stood) ", re.IGNORECASE)


class EpisodicIndex:
    """Rank the different observations of a store (AriGraph, equation 1), newest of equals."""

    def __init__(self, store: EpisodeStore):
        self.store = store
        self._follower: Follower[Episode] = Follower()
        self._reset()

    def _reset(self) -> None:
        self._number: dict[tuple[str, tuple[Triple, ...]], int] = {}
        self._numbers: list[int] = []  # of each observation: the number of the different one
        self._newest: list[int] = []  # of each of those: its last observation
        self._links: dict[Triple, array[int]] = {}
        self._recalled: list[Triple] = []  # facts of the last search ...
        self._counted: dict[Triple, None] = {}  # ... each once ...
        self._shared = np.zeros(64, dtype=np.int64)  # ... and how many of them each one states
        self._weights = np.zeros(64)
        self._ages = np.zeros(64)

    def _sync(self) -> None:
        cut, new = self._follower.advance(self.store)
        if cut:
            self._reset()
        for episode in new:
            number = self._number.setdefault((episode.text, episode.triples), len(self._newest))
            if number == len(self._newest):
                self._newest.append(episode.id)
                self._link(number, episode)
            self._newest[number] = episode.id
            self._numbers.append(number)
            self._ages[number] = episode.id * _AGE

    def _link(self, number: int, episode: Episode) -> None:
        if number == len(self._weights):
            for name in ("_shared", "_weights", "_ages"):
                values = getattr(self, name)
                setattr(self, name, np.concatenate([values, np.zeros_like(values)]))
        self._weights[number] = weight(episode)
        links, counted, shared = self._links, self._counted, 0
        for triple in episode.triples:
            found = links.get(triple)
            if found is None:
                found = links[triple] = array("i")
            found.append(number)
            shared += triple in counted
        self._shared[number] = shared

    def _count(self, recalled: list[Triple]) -> None:
        if recalled == self._recalled:
            return
        before, now = self._counted, dict.fromkeys(recalled)
        self._recalled, self._counted = recalled, now
        count = len(self._newest)
        for one, triples in ((-1, before.keys() - now.keys()), (1, now.keys() - before.keys())):
            if triples:
                links = b"".join([self._links.get(triple, _NONE) for triple in triples])
                found = np.bincount(np.frombuffer(links, dtype=np.intc), minlength=count)
                self._shared[:count] += one * found

    def search(
        self, recalled: Iterable[Triple], *, exclude_last: int = 0, but: Container[str] = ()
    ) -> Iterator[Episode]:
        """Yield observations of different texts, best first, of equal scores the newest first.

        ``exclude_last`` leaves out the newest, ``but`` texts; repeated facts count once.
        """
        self._sync()
        end = len(self.store) - exclude_last
        count = len(self._newest)
        if end <= 0 or not count:
            return
        self._count(list(recalled))
        scores = self._shared[:count] * self._weights[:count] + self._ages[:count]
        scores[self._numbers[end:]] = 0.0
        given: set[str] = set()
        while True:
            best = int(scores.argmax())
            if scores[best] < _LEAST:
                return
            scores[best] = 0.0
            episode = self.store[self._newest[best]]
            text = episode.text
            if text not in given and text not in but:
                given.add(text)
                yield episode


class ActionIndex:
    """Count the actions of a store by the place in which they were taken."""

    def __init__(self, store: EpisodeStore):
        self.store = store
        self._follower: Follower[Episode] = Follower()
        self._reset()

    def _reset(self) -> None:
        self._place = ""
        self._counts: dict[str, dict[str, int]] = {}  # actions in the order of their last try
        self._actions = NameIndex()
        self._last: dict[str, int] = {}
        self._by_word: dict[str, dict[str, None]] = {}

    def _sync(self) -> None:
        cut, new = self._follower.advance(self.store)
        if cut:
            self._reset()
        for episode in new:
            action = episode.action.lower()
            if not action.isalpha():  # "look" and "wait" are words of any question
                bare = _ARTICLE.sub("", action)
                self._actions.learn(bare)
                self._last[bare] = episode.t
                for word in bare.split()[1:]:
                    self._by_word.setdefault(word, {})[bare] = None
            if self._place and action:
                counts = self._counts.setdefault(self._place, {})
                counts[action] = counts.pop(action, 0) + 1
            for subject, relation, obj in episode.triples:
                if subject == PLAYER and relation == "is in":
                    self._place = obj

    def named(self, text: str, things: Iterable[str] = ()) -> list[int]:
        """Return the last steps of the actions of at least two words that a text names.

        *I opened the box* names what was done to ``things``, those named there: the latest with one
        of its verbs or, if it asks what happened, the latest with any.
        """
        self._sync()
        bare = _ARTICLE.sub("", text)
        found = self._actions.find(bare) or self._described(text, set(things) - {PLAYER})
        return [self._last[action] for action in found]

    def _described(self, text: str, things: Collection[str]) -> list[str]:
        verbs = {form for verb in _DONE_BY.findall(text.lower()) for form in _present(verb)}
        if not verbs or not things:
            return []
        rare = min((self._by_word.get(name.split()[-1], {}) for name in things), key=len)
        found = [action for action in rare if all(name in action for name in things)]
        exact = [action for action in found if action.split()[0] in verbs]
        found = exact or (found if _EVENT.search(text) else [])
        return sorted(found, key=self._last.__getitem__, reverse=True)[:_MOST_STEPS]

    def tried(self, place: str, valid_actions: tuple[str, ...]) -> Block:
        """Return valid attempts in a place as facts ``place | tried | action``, newest first."""
        self._sync()
        counts = self._counts.get(place, {})
        valid = {action.lower() for action in valid_actions}
        again = [action for action in reversed(counts) if not valid or action in valid]
        return fact_block(
            Triple(place, tried_relation(counts[action]), action)
            for action in again[:_MOST_TRIED]
            if not action.startswith("go ")
        )


def _present(verb: str) -> tuple[str, ...]:
    """Return what a verb in the past tense may be in the present.

    >>> _present("dropped"), _present("took")
    (('dropped', 'dropp', 'droppe', 'drop'), ('took', 'take'))
    """
    if not verb.endswith("ed"):
        return verb, _IRREGULAR.get(verb, verb)
    return verb, verb[:-2], verb[:-1], verb[:-3]


# ------------------------------------------------------------ last attempts


class Attempt(NamedTuple):
    """An action taken once or repeatedly; ``whole`` is its answer if shown in full, else empty."""

    text: str
    whole: str


def last_attempts(episodes: Iterable[Episode], most: int) -> list[Attempt]:
    """Return at most ``most`` attempts; ``episodes`` are the steps, latest first."""
    attempts = []
    for action, run in islice(groupby(episodes, key=attrgetter("action")), most):
        last, *before = islice(run, MAX_RUN)
        shown = without_empty_lines(last.text)
        answer = shown.partition("\n")[0][:_MAX_ANSWER_CHARS]
        head = entry_head(last.t, action, 1 + len(before))
        attempts.append(Attempt(f"{head}\n{answer}", last.text if answer == shown else ""))
    return attempts


def fit_attempts(attempts: Sequence[Attempt], left: int) -> tuple[str, frozenset[str]]:
    """Render the latest attempts in ``left`` characters; return what they show whole, too."""
    count = 0
    for attempt in attempts:
        left -= len(attempt.text) + bool(count)
        if left < 0:
            break
        count += 1
    shown = attempts[:count]
    return "\n".join([one.text for one in reversed(shown)]), frozenset(one.whole for one in shown)


# ------------------------------------------------------------ questions about the past


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


def read_past_question(
    focus: str, names: Iterable[str], now: int, done: Iterable[int] = ()
) -> PastQuestion | None:
    """Return what a question or plan asks about the past; None if nothing.

    ``names`` are in lower case, ``now`` is the present step, ``done`` those of named commands.

    >>> read_past_question("Where was the apple when you had made 12 moves?", ["apple"], 30)
    PastQuestion(steps=(12,), order=True, done=(), inside=False)
    >>> read_past_question("take the apple from drawer 2", ["apple", "drawer 2"], 30)
    """
    if not _QUESTION.search(focus):
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
    """Return when things came to be as they are, latest first, if a text asks how they did."""
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
