"""AriGraph's recall (Algorithm 1): answers about the past, facts, observations, last attempts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from gym_memory.core.records import Cue, Reason, Reasons, Recall, Task, Triple
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import current_place
from gym_memory.memory.base import CHARS_PER_TOKEN, check_budget, count_tokens
from gym_memory.memory.encoders import CachedEncoder
from gym_memory.memory.reading import Page, fact_block, fit_episodes
from gym_memory.memory.recall.past import (
    PastQuestion,
    achievements,
    dated_lines,
    fit_attempts,
    is_question,
    last_attempts,
    read_past_question,
    recollect,
)
from gym_memory.memory.recall.semantic import Queries, SemanticIndex
from gym_memory.memory.recall.settings import AriGraphSettings
from gym_memory.memory.recall.structural import StructuralIndex, put_unexplored, rank
from gym_memory.memory.roles.base import Explore, RelevantEntities
from gym_memory.memory.stores.episodes import (
    ActionIndex,
    Episode,
    EpisodeStore,
    EpisodicIndex,
    weight,
)

__all__ = ["Models", "Search", "Sources"]

_FACTS_FIRST = 200
"""Tokens for facts alone; of a larger budget up to a quarter is reserved for the rest."""


@dataclass(frozen=True)
class Models:
    """Models of a recall, each None without one: encoder, and the roles of a language model."""

    encoder: CachedEncoder | None = None
    threshold: float | None = None
    relevant: RelevantEntities | None = None
    explore: Explore | None = None


class Sources:
    """A graph and its observations with the indexes over them, which update themselves."""

    def __init__(
        self, graph: TemporalGraph, store: EpisodeStore, settings: AriGraphSettings, models: Models
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
        """Return the part of the ranking, or similarity and path; for observations equation 1."""
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
        origin = self._origin
        for episode in islice(reversed(self._store), 1, None) if self._settings.episodic else ():
            if episode.t <= origin:
                return
            yield episode._replace(t=episode.t - origin) if origin else episode

    def _read_question(self) -> PastQuestion | None:
        store, focus = self._store, self.cue.focus
        if not (self._settings.dated and is_question(focus)):
            return None
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
