"""AriGraph's recall (Algorithm 1): answers about the past, facts, observations, last attempts."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import attrgetter
from typing import Annotated, Literal, NamedTuple

from gym_memory.core.records import Cue, Reason, Reasons, Recall, Task, Triple
from gym_memory.core.settings import Help, Settings
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import current_place
from gym_memory.graph.schema import LOCATIONS, PLAYER
from gym_memory.llm.base import ChatModel
from gym_memory.memory.base import CHARS_PER_TOKEN, check_budget, count_tokens
from gym_memory.memory.encoders import DEFAULT_MODEL, CachedEncoder
from gym_memory.memory.reading import (
    MAX_RUN,
    Page,
    entry_head,
    fact_block,
    fit_episodes,
    without_empty_lines,
)
from gym_memory.memory.recall.semantic import Queries, SemanticIndex
from gym_memory.memory.recall.structural import StructuralIndex, put_unexplored, rank
from gym_memory.memory.roles.base import Explore, RelevantEntities
from gym_memory.memory.stores.episodes import (
    ActionIndex,
    Episode,
    EpisodeStore,
    EpisodicIndex,
    weight,
)

__all__ = ["AriGraphSettings", "Attempt", "Dated", "PastQuestion", "Search", "Sources"]
__all__ += ["achievements", "dated_lines", "fit_attempts", "last_attempts", "read_past_question"]
__all__ += ["recollect"]


@dataclass(frozen=True)
class AriGraphSettings(Settings):
    """Settings of AriGraph; those marked (ours) are not in the paper."""

    width: Annotated[int, Help("Edges that one query of Algorithm 2 retrieves, w.", low=1)] = 6
    depth: Annotated[int, Help("Depth d of Algorithm 2; 1 or 2 in the authors' code.", low=0)] = 2
    episodes: Annotated[int, Help("Observations to recall, k.", low=0)] = 2
    recent: Annotated[
        int,
        Help("Latest observations that are never recalled: the agent's history has them.", low=0),
    ] = 5
    attempts: Annotated[
        int,
        Help("Last actions to show without gaps, with the first line of the result (ours).", low=0),
    ] = 20
    dated: Annotated[bool, Help("Answer questions about the past with dated facts (ours).")] = True
    recall: Annotated[
        Literal["structural", "semantic"],
        Help("Search for facts: without an encoder (ours), or the paper's Algorithm 2."),
    ] = "structural"
    encoder: Annotated[str, Help("Encoder of ``semantic``; see gym_memory.memory.encoders.")] = (
        DEFAULT_MODEL
    )
    threshold: Annotated[
        float | str | None,
        Help(
            "Least similarity of a retrieved edge; None for any, as in the paper; ``auto`` for "
            "what unrelated texts rarely reach with this encoder."
        ),
    ] = None
    episodic: Annotated[bool, Help("Recall observations (the paper's ablation).")] = True
    semantic: Annotated[
        bool,
        Help("Recall facts (the paper's ablation); an episodic search still starts from them."),
    ] = True
    exploration: Annotated[bool, Help("Recall unexplored exits (the paper's ablation).")] = True
    episodic_score: Annotated[
        Literal["paper", "code", "relevance"],
        Help(
            "Equation 1, the score of the authors' code, or the relevance of the recalled facts "
            "instead of their number (ours, for long texts with many facts)."
        ),
    ] = "paper"
    lifetime: Annotated[
        Literal["episode", "trial", "task", "forever"],
        Help(
            "When graph and episodes are cleared: at every episode, at a new task instance, at a "
            "new goal, never. For another trial of an instance, things return to first sight."
        ),
    ] = "episode"
    store: Annotated[
        str | None,
        Help(
            "File or postgresql:// URL that keeps graph and observations, for any number of "
            "processes and a lifetime beyond the episode. An episode starts from the newest state "
            "and adds what it learnt when it ends; one that is cut off adds nothing."
        ),
    ] = None
    llm: Annotated[
        str | ChatModel | None,
        Help("Chat model, or its spec, that plays the roles; None for the rules."),
    ] = None


# ------------------------------------------------------------ the search


_MAX_ANSWER_CHARS = 80
_FACTS_FIRST = 200
"""Tokens for facts alone; of more, up to a quarter of all is kept free for the rest."""


@dataclass(frozen=True)
class Models:
    """Models of a recall, each None without one: encoder, and the roles of a language model."""

    encoder: CachedEncoder | None = None
    threshold: float | None = None
    relevant: RelevantEntities | None = None
    explore: Explore | None = None


class Sources:
    """A graph and its observations with the indexes over them, which fill themselves."""

    def __init__(
        self,
        graph: TemporalGraph,
        store: EpisodeStore,
        settings: AriGraphSettings,
        models: Models,
    ):
        self.graph, self.store, self.settings, self.models = graph, store, settings, models
        self.structure = StructuralIndex(graph)
        self.observations = EpisodicIndex(store)
        self.actions = ActionIndex(store)
        self.meaning = (
            SemanticIndex(graph, models.encoder, settings.width, models.threshold)
            if models.encoder
            else None
        )


class Search:
    """One recall, and the reasons for what it shows.

    ``budget`` is in tokens, ``origin`` the graph's clock at step 0 of the episode.
    """

    def __init__(self, sources: Sources, cue: Cue, budget: int, task: Task, origin: int):
        self.cue, self.budget = cue, check_budget(budget)
        self._sources, self._task, self._origin = sources, task, origin
        self._settings, self._store = sources.settings, sources.store
        self._queries: Queries = ()
        self._similar: dict[Triple, float] = {}
        self._ranked: tuple[str, ...] = ()  # reasons of the structural search
        self._seeds: list[list[Triple]] = []  # facts to search observations with
        self._found: list[Episode] = []
        sources.structure.sync()
        self._named = sources.structure.entities_in(cue.focus)
        self._question = self._read_question()
        self.recall = self._recall()

    def reasons(self) -> Reasons:
        """Give the part of the ranking, or similarity and path; for observations equation 1."""
        meaning = self._sources.meaning
        if meaning is None:
            ranked = self._ranked if self._settings.semantic else ()
            facts = [Reason(part) for part in ranked]
        else:
            paths = meaning.paths(self._queries)
            facts = [
                Reason("similar to what was searched for", round(self._similar[t], 4), paths[t])
                if t in self._similar
                else Reason("unexplored exit")
                for t in self.recall.triples
            ]
        graph = self._sources.graph
        said = (", ".join(graph.said_by(triple)) for triple in self.recall.triples)
        noted = (
            r._replace(note=f"said by {by}" if by else "")
            for r, by in zip(facts, said, strict=False)
        )
        return Reasons(tuple(noted), tuple(self._episodic_reasons()))

    # ------------------------------------------------------------ the parts in their order

    def _recall(self) -> Recall:
        settings, budget = self._settings, self.budget
        with_episodes = (
            settings.episodic and settings.episodes > 0 and len(self._store) > settings.recent + 1
        )
        past, observed = self._recall_past()
        left = budget - count_tokens(f"{past}\n") if past else budget
        kept = min(left // 4, max(left - _FACTS_FIRST, 0) // 3)  # for attempts and observations
        attempts = last_attempts(self._done(), settings.attempts)
        if not with_episodes:
            lately, _ = fit_attempts(attempts, kept * CHARS_PER_TOKEN)
            kept = count_tokens(f"{lately}\n") if lately else 0
        page = Page((left - kept) * CHARS_PER_TOKEN)
        self._search_facts(page)
        text = "\n".join(filter(None, (page.text(), past)))
        episodes: tuple[str, ...] = ()
        room = budget * CHARS_PER_TOKEN - len(text) - bool(text)
        lately, known = fit_attempts(attempts, room)
        if with_episodes:
            room -= len(lately) + bool(lately)
            self._found = list(islice(self._search_episodes(known), settings.episodes))
            shown, episodes = fit_episodes(self._found, room)
            text = "\n".join(filter(None, (text, shown)))
        text = "\n".join(filter(None, (text, lately)))
        return Recall(text, tuple(page.triples), (*observed, *episodes))

    def _done(self) -> Iterator[Episode]:
        """Yield the steps of this episode, latest first, without the step in view."""
        store, origin = self._store, self._origin
        for id in range(len(store) - 2, -1, -1) if self._settings.episodic else ():
            episode = store[id]
            if episode.t <= origin:
                return
            yield episode._replace(t=episode.t - origin) if origin else episode

    def _read_question(self) -> PastQuestion | None:
        if not self._settings.dated:
            return None
        store, focus = self._store, self.cue.focus
        now = store[-1].t - self._origin if len(store) else 0
        done = self._sources.actions.named(focus, self._named)
        done += achievements(self._sources.graph, focus, self._named)
        done = [t - self._origin for t in done]
        return read_past_question(focus, self._named, now, done)

    def _recall_past(self) -> tuple[str, tuple[str, ...]]:
        """Answer a question about the past in half of the budget; return text and observations."""
        if self._question is None or not self._settings.semantic:
            return "", ()
        left = self.budget * CHARS_PER_TOKEN // 2
        dated = recollect(self._sources.graph, self._question, self._named, self._origin)
        facts = dated_lines(dated, left)
        left -= len(facts) + bool(facts)
        shown, episodes = (
            fit_episodes(self._observed(), left) if self._settings.episodic else ("", ())
        )
        return "\n".join(filter(None, (facts, shown))), episodes

    def _observed(self) -> Iterator[Episode]:
        store, question = self._store, self._question
        for step in dict.fromkeys((*question.steps, *question.done)) if question else ():
            t = step + self._origin
            found = bisect_left(store, t, key=lambda episode: episode.t)
            if found < len(store) and store[found].t == t:
                yield store[found]._replace(t=step)

    def _search_facts(self, page: Page) -> None:
        settings, models = self._settings, self._sources.models
        exploration = settings.exploration and (
            models.explore is None or models.explore(self.cue.focus, self._task)
        )
        if self._sources.meaning is not None:
            self._search_by_meaning(self._sources.meaning, page)
        else:
            self._search_around(page, exploration=exploration)
        if exploration and (self._sources.meaning is not None or not settings.semantic):
            put_unexplored(self._sources.structure, page)

    def _search_around(self, page: Page, *, exploration: bool) -> None:
        cue, sources = self.cue, self._sources
        if sources.models.relevant is not None:
            names = [name for name, _ in sources.models.relevant(cue, sources.structure.known())]
            cue = cue._replace(focus="; ".join([cue.focus, *names]))
        if not self._settings.semantic:  # the ablation: found, but not shown
            page = page.copy()
        here = current_place(sources.graph)
        tried = sources.actions.tried(here, cue.valid_actions) if here else ()
        ranked = rank(
            sources.structure, cue, page, exploration=exploration, tried=fact_block(tried)
        )
        self._ranked = ranked.reasons
        self._seeds = [list(ranked.triples[:count]) for count in ranked.seeds]

    def _search_by_meaning(self, meaning: SemanticIndex, page: Page) -> None:
        cue, structure, models = self.cue, self._sources.structure, self._sources.models
        if models.relevant is not None:
            self._queries = models.relevant(cue, structure.known())
        else:
            texts = [cue.focus, *structure.queries(cue), cue.task]
            self._queries = [(text, self._settings.depth) for text in texts if text]
        self._similar = dict(meaning.search(self._queries))
        self._seeds = [list(self._similar)]
        if self._settings.semantic:
            facts: dict[str, list[Triple]] = {}
            for triple in self._similar:
                facts.setdefault(triple.subject, []).append(triple)
            for block in facts.values():
                page.put_facts(block)

    # ------------------------------------------------------------ EpisodicSearch

    def _search_episodes(self, known: Iterable[str]) -> Iterator[Episode]:
        hidden, store = self._settings.recent + 1, self._store
        newest = range(max(len(store) - hidden, 0), len(store))
        seen = {self.cue.text, *[store[id].text for id in newest], *known}
        seen.update(episode.text for episode in self._observed())
        if self._settings.episodic_score != "paper":
            yield from self._ranked_with_plan(self._seeds[-1], hidden, seen)
            return
        for facts in self._seeds:  # those on the plan first
            for episode in self._sources.observations.search(facts, exclude_last=hidden, but=seen):
                seen.add(episode.text)
                yield episode

    def _ranked_with_plan(
        self, relevant: Sequence[Triple], hidden: int, seen: set[str]
    ) -> Iterator[Episode]:
        store, encoder, meaning = self._store, self._sources.models.encoder, self._sources.meaning
        similarity = None
        if encoder is not None and self.cue.focus:
            texts = [episode.text for episode in store]
            plan = encoder.encode([self.cue.focus])[0]
            similarity = (encoder.encode(texts) @ plan).round(5).tolist()
        end = len(store) - hidden
        if self._settings.episodic_score == "code":
            scores = store.code_scores(relevant, end, similarity)
        else:
            weighed = meaning.relevance(self._queries) if meaning else dict.fromkeys(relevant, 1.0)
            scores = store.relevance_scores(weighed, similarity)
        ranked = sorted((-round(score, 5), -id) for id, score in scores.items() if id < end)
        for id in [-id for _, id in ranked]:
            if scores[id] > 0 and store[id].text not in seen:
                seen.add(store[id].text)
                yield store[id]

    def _episodic_reasons(self) -> Iterator[Reason]:
        settings = self._settings
        if settings.semantic and settings.episodic:
            for episode in self._observed():
                yield Reason(f"step {episode.t}, in question")
        searched = set(self._seeds[-1]) if self._seeds else set()
        for episode in self._found:
            shared = len(searched.intersection(episode.triples))
            score = (
                round(shared * weight(episode), 4) if settings.episodic_score == "paper" else None
            )
            step = episode.t - self._origin
            yield Reason(f"step {step}, states {shared} of the facts searched with", score)


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

# A number in a question that is no part of a name is a step (*at step 12*, *12 moves ago*). Words
# of order (*first*, *before*), or the past tense with a name, ask when something became true. A
# command that it names asks for its result, or for what came after it.

Dated = tuple[int, Triple]
"""A step and a fact that was true, or became true, then."""

_MOST_STEPS = 4

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
