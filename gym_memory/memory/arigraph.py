"""AriGraph (Anokhin et al.): a semantic graph and the observations that are tied to it."""

from __future__ import annotations

import copy
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from operator import length_hint
from typing import Any, ClassVar, Literal, get_args

from gym_memory.core.errors import InvalidArgumentError, UnknownNameError
from gym_memory.core.files import typed
from gym_memory.core.records import (
    Cue,
    MemoryStats,
    Outcome,
    Reason,
    Reasons,
    Recall,
    Step,
    Task,
    Triple,
)
from gym_memory.core.settings import check_flag, check_int
from gym_memory.core.tokens import CHARS_PER_TOKEN, count_tokens
from gym_memory.extract import READERS, get_extractor
from gym_memory.extract.base import apply
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import current_place
from gym_memory.graph.schema import INVENTORY, PLAYER
from gym_memory.graph.temporal import REWIND, rewind
from gym_memory.llm.base import ChatModel
from gym_memory.memory.base import Lifetime, Memory, check_budget
from gym_memory.memory.encoders import DEFAULT_MODEL, calibrated_threshold, make_encoder
from gym_memory.memory.recall.attempts import fit_attempts, last_attempts
from gym_memory.memory.recall.deeds import DeedIndex
from gym_memory.memory.recall.episodic import EpisodicIndex
from gym_memory.memory.recall.past import (
    Past,
    dated_lines,
    past_asked_for,
    recollect,
)
from gym_memory.memory.recall.ranking import part_of_each, put_unexplored, rank
from gym_memory.memory.recall.render import NOTHING, Page, fact_block, fit_episodes
from gym_memory.memory.recall.semantic import SemanticIndex
from gym_memory.memory.recall.structural import StructuralIndex
from gym_memory.memory.registry import MEMORIES
from gym_memory.memory.roles import (
    LLMExplore,
    LLMExtractor,
    LLMRelevantEntities,
    chat_model,
    role_counts,
)
from gym_memory.memory.stores.episodes import Episode, EpisodeStore, weight
from gym_memory.memory.stores.facts import FactStore, Partition
from gym_memory.memory.stores.retell import Mark, retell

__all__ = ["AriGraph"]

RecallMode = Literal["structural", "semantic"]
EpisodicScore = Literal["paper", "code", "relevance"]
Queries = Sequence[tuple[str, int]]
"""Search texts of Algorithm 2 with their depths."""
_FACTS_FIRST = 200
"""So many tokens are the facts'; of more, up to a quarter of all is kept free for the rest."""


@MEMORIES.register("arigraph")
class AriGraph(Memory):
    """The paper's memory: semantic facts that are kept up to date, episodes tied to them.

    A step extracts facts from the observation, retires those that it made untrue, adds the rest,
    and adds the observation as an episodic vertex tied to all of its facts. A recall is
    Algorithm 1: facts first, then the ``episodes`` observations that score best by equation 1
    against them, then, unless ``exploration`` is off, all exits that nobody took (Algorithm 3).
    The last ``attempts`` come at the end (ours): who does a thing for the fifth time must know
    of the four before.
    Where the focus asks about the past ("where was the key at step 12?"), dated facts and
    the observation of that step come before the others: see :mod:`gym_memory.memory.recall.past`.

    Facts are searched in one of two ways. ``semantic`` is the paper's Algorithm 2 from the
    entities in view, the policy's focus and the task. ``structural``, the default, needs no
    encoder and takes a tenth of a millisecond: see :mod:`gym_memory.memory.recall.ranking`.

    What differs from the paper: rules play the parts that it gives to a language model, unless
    ``llm`` is given. They are extraction, outdated facts (by default those whose slot of the
    schema is filled anew), what to search for (by default what is in view and what the plan and
    the task name) and whether to show exits (by default always). Results are ranked and cut to
    the budget. An observation that repeats a recent or a better one word for word is left out.

    Args:
        width: Edges that one query of Algorithm 2 retrieves, w >= 1.
        depth: Depth d >= 0 of Algorithm 2; the authors' code uses 1 or 2.
        episodes: Observations to recall, k >= 0.
        recent: Latest observations, besides the present one, that are never recalled, >= 0,
            because the agent's history shows them.
        attempts: Last actions, each with the first line of what it led to, that are told without
            gaps in the part of the budget that is kept for observations, >= 0; the same
            action several times in a row counts once (ours).
        recall: ``structural`` or ``semantic``.
        encoder: Encoder of ``semantic``, see :mod:`gym_memory.memory.encoders`.
        threshold: Least similarity of a retrieved edge; None for any, as in the paper; ``auto``
            for what unrelated texts rarely reach with this very encoder.
        episodic: Whether to recall observations (the paper's ablation).
        semantic: Whether to recall facts (the paper's ablation); the graph is still built, for
            the episodic search starts from it.
        exploration: Whether to recall exits that nobody took (the paper's ablation).
        episodic_score: ``paper`` is equation 1, ``code`` what the authors' code computes;
            ``relevance`` weighs the recalled facts instead of counting them, see
            :meth:`.SemanticIndex.relevance` and :meth:`.EpisodeStore.relevance_scores` (ours,
            for long texts with many facts; to structural recall all facts are equally relevant).
        lifetime: When the graph and the episodes are cleared: at every ``episode``, when the
            task instance changes (``trial``), when the goal changes (``task``), never
            (``forever``). A graph that is kept for another trial of the same instance goes back
            to what was first seen of every thing, for there the world starts over.
        store: A file, or the URL of a server, that keeps graph and observations for good, for
            any number of processes (:class:`gym_memory.memory.stores.facts.FactStore`); with a
            ``lifetime`` beyond the episode. Each environment and, unless ``forever``, each
            instance or goal has a graph of its own. An episode starts from the newest state and
            adds what it learnt when it ends, whoever else has added in between; one that is cut
            off adds nothing. None keeps all in this object.
        reader: Who reads notes, goals and recipes for the rules: ``rules`` themselves, ``spacy`` a
            dependency parser (extra ``parser``), ``both`` the parser where the rules read nothing.
        llm: A chat model that plays those parts, or its spec (see
            :func:`gym_memory.memory.roles.chat_model`); None for the rules.

    Raises:
        InvalidArgumentError: An argument has the wrong value.
        StoreError: The store cannot be used.
        MissingDependencyError: The reader's package is not installed.
        UnknownNameError: ``recall``, ``episodic_score``, ``lifetime`` or ``reader`` is not one of
            the above.
    """

    name: ClassVar[str] = "arigraph"

    def __init__(
        self,
        *,
        width: int = 6,
        depth: int = 2,
        episodes: int = 2,
        recent: int = 5,
        attempts: int = 20,
        recall: str = "structural",
        encoder: str = DEFAULT_MODEL,
        threshold: float | str | None = None,
        episodic: bool = True,
        semantic: bool = True,
        exploration: bool = True,
        episodic_score: str = "paper",
        lifetime: str = "episode",
        store: str | None = None,
        reader: str = "rules",
        llm: str | ChatModel | None = None,
    ):
        for label, number, least in (
            ("width", width, 1), ("depth", depth, 0), ("episodes", episodes, 0),
            ("recent", recent, 0), ("attempts", attempts, 0),
        ):  # fmt: skip
            check_int(label, number, least)
        for label, flag in (
            ("episodic", episodic), ("semantic", semantic), ("exploration", exploration),
        ):  # fmt: skip
            check_flag(label, flag)
        for label, chosen, known in (
            ("recall", recall, get_args(RecallMode)),
            ("episodic_score", episodic_score, get_args(EpisodicScore)),
            ("lifetime", lifetime, ("episode", "trial", "task", "forever")),
            ("reader", reader, READERS.names()),
        ):
            if chosen not in known:
                raise UnknownNameError(label, str(chosen), known)
        self.width, self.depth, self.k, self.recent = width, depth, episodes, recent
        self.attempts = attempts
        self.episodic, self.semantic, self.exploration = episodic, semantic, exploration
        self.episodic_score: Any = episodic_score
        self.lifetime = lifetime
        if store is not None and (lifetime == "episode" or not isinstance(store, str)):
            raise InvalidArgumentError(
                "expected store as a file or a postgresql:// URL, together with a lifetime of "
                f"'trial', 'task' or 'forever', got a {type(store).__name__} and {lifetime!r}"
            )
        self._kept_in = FactStore(store) if store is not None else None
        self._partition: Partition | None = None
        self._mark = Mark(0, 0, 0)
        if reader != "rules":
            READERS.make(reader)  # an extra that is missing is told of now
        self._rules = partial(get_extractor, reader=reader)
        model = chat_model(llm)
        self._extractor = LLMExtractor(model, self._rules) if model else None
        self._relevant = LLMRelevantEntities(model) if model else None
        self._explore = LLMExplore(model) if model else None
        self._encoder = make_encoder(encoder) if recall == "semantic" else None
        self.threshold = self._threshold(threshold)
        self._task = Task("", "")
        self._clear()

    def _threshold(self, threshold: float | str | None) -> float | None:
        if threshold == "auto":
            return calibrated_threshold(self._encoder) if self._encoder else None
        if threshold is None or (
            isinstance(threshold, int | float) and not isinstance(threshold, bool)
        ):
            return threshold
        raise InvalidArgumentError(
            f"expected threshold as a number, 'auto' or None, got {threshold!r}"
        )

    @property
    def lifetimes(self) -> dict[str, Lifetime]:  # type: ignore[override]
        """Both layers live as long as ``lifetime`` says."""
        return {"graph": self.lifetime, "episodes": self.lifetime}  # type: ignore[dict-item]

    # ------------------------------------------------------------ the episode

    def begin(self, task: Task, seed: int | None) -> None:
        """Start an episode; clears graph and episodes where their lifetime is over."""
        before, self._task = self._task, task
        last = before.id
        kept = {
            "episode": False,
            "trial": task.id == last,
            "task": task.goal == before.goal,
            "forever": True,
        }
        if self._kept_in is not None:
            last = self._fetch(self._kept_in, task)
        elif not (kept[self.lifetime] and len(self.store)):
            self._clear()
        if len(self.store):
            self._origin = _start_over(self.graph, same=task.id == last)
        self._mark = Mark.of(self.graph, self.store)

    def end(self, outcome: Outcome) -> None:
        """Add what the episode taught to the store, where there is one."""
        if self._partition is not None:
            self._partition.append(self._retell, self._task.id)
            self._partition = None

    def _retell(self, graph: TemporalGraph, store: EpisodeStore, last: str) -> None:
        """Put this episode at the end of what others have put into the partition meanwhile."""
        origin = _start_over(graph, same=self._task.id == last) if len(store) else 0
        retell((self.graph, self.store), self._mark, (graph, store), origin - self._origin)

    def _clear(self) -> None:
        self.graph, self.store = TemporalGraph(), EpisodeStore()
        self._origin = self._calls = self._tokens = 0
        self._searched: tuple[Queries, tuple[Triple, ...], frozenset[str]] = (), (), frozenset()
        self._index()

    def _fetch(self, kept_in: FactStore, task: Task) -> str:
        """Start from the newest state in the store; returns the instance that wrote it."""
        self._clear()
        part = {"trial": task.id, "task": task.goal}.get(self.lifetime, "")
        self._partition = kept_in.partition(task.id.partition("/")[0], part, self._encoder)
        self.graph, self.store, last = self._partition.copy()
        self._index()
        return last

    def _index(self) -> None:
        """Indexes over the present graph; they fill themselves."""
        self._structure = StructuralIndex(self.graph)
        self._past = EpisodicIndex(self.store)
        self._deeds = DeedIndex(self.store)
        self._meaning = (
            SemanticIndex(self.graph, self._encoder, self.width, self.threshold)
            if self._encoder
            else None
        )

    def observe(self, step: Step) -> None:
        """Learn the facts of a step and keep its observation."""
        triples = self._learn(step, self._origin + step.t)
        self.store.add(self._origin + step.t, step.text, step.action, triples)

    def _learn(self, step: Step, t: int) -> list[Triple]:
        """Update the graph; returns the facts that the observation stated."""
        extractor = self._extractor or self._rules(self._task.dialect)
        found = extractor.extract(step, self.graph, self._task)
        self._calls += 1
        return apply(found, self.graph, t, episode=len(self.store))

    # ------------------------------------------------------------ Algorithm 1

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Facts and observations that matter now, within ``budget`` tokens."""
        with_episodes = self.episodic and self.k > 0 and len(self.store) > self.recent + 1
        past, asked = self._recall_past(cue, budget)
        left = budget - count_tokens(f"{past}\n") if past else budget
        kept = min(left // 4, max(left - _FACTS_FIRST, 0) // 3)  # for attempts and observations
        attempts = last_attempts(self._done(), self.attempts)
        if not with_episodes:
            lately, _ = fit_attempts(attempts, kept * CHARS_PER_TOKEN)
            kept = count_tokens(f"{lately}\n") if lately else 0
        page = Page(left - kept)
        exploration = self.exploration and (
            self._explore is None or self._explore(cue.focus, self._task)
        )
        queries: Queries = ()
        if self._meaning is not None:
            queries = self._queries(cue)
            relevant = [self._search_by_meaning(self._meaning, queries, page)]
        else:
            relevant = self._search_around(cue, page, exploration=exploration)
        if exploration and (self._meaning is not None or not self.semantic):
            put_unexplored(self._structure, page)
        text = "\n".join(filter(None, (page.text(), past)))
        episodes: tuple[str, ...] = ()
        room = budget * CHARS_PER_TOKEN - len(text) - bool(text)
        lately, known = fit_attempts(attempts, room)
        self._searched = queries, tuple(page.triples), known
        if with_episodes:
            room -= len(lately) + bool(lately)
            told, episodes = fit_episodes(self._search_episodes(relevant, cue, queries), room)
            text = "\n".join(filter(None, (text, told)))
        text = "\n".join(filter(None, (text, lately)))
        self._tokens = count_tokens(text)
        return Recall(text, self._searched[1], (*asked, *episodes))

    def _done(self) -> Iterator[Episode]:
        """What was done in this episode, latest first, but for the step in view."""
        store = self.store
        for id in range(len(store) - 2, -1, -1) if self.episodic else ():
            t = store[id].t - self._origin
            if t <= 0:
                return
            yield store[id]._replace(t=t)

    def _recall_past(self, cue: Cue, budget: int) -> tuple[str, tuple[str, ...]]:
        """What the cue's focus asks about the past, in at most half of the budget.

        Returns:
            Dated facts and, after them, the observations of the steps asked for; and these
            observations.
        """
        asked = self._asked(cue) if self.semantic else None
        if asked is None:
            return "", ()
        left = check_budget(budget) * CHARS_PER_TOKEN // 2
        names = self._structure.named(cue.focus)
        facts = dated_lines(recollect(self.graph, asked, names, self._origin), left)
        left -= len(facts) + bool(facts)
        told, episodes = fit_episodes(self._observed(asked), left) if self.episodic else ("", ())
        return "\n".join(filter(None, (facts, told))), episodes

    def _asked(self, cue: Cue) -> Past | None:
        """What the cue's focus asks about the past."""
        now = self.store[-1].t - self._origin if len(self.store) else 0
        done = [t - self._origin for t in self._deeds.named(cue.focus)]
        return past_asked_for(cue.focus, self._structure.named(cue.focus), now, done)

    def _observed(self, asked: Past | None) -> Iterator[Episode]:
        """The observations of the steps, and of the commands, asked for."""
        store = self.store
        for step in dict.fromkeys((*asked.steps, *asked.done)) if asked else ():
            t = step + self._origin
            found = bisect_left(store, t, key=lambda episode: episode.t)
            if found < len(store) and store[found].t == t:
                yield store[found]._replace(t=step)

    def _search_around(self, cue: Cue, page: Page, *, exploration: bool) -> list[list[Triple]]:
        """Structural search; fills the page and returns the facts to search episodes with.

        Those that are about the plan come first, then all; a search by the second goes on where
        one by the first has found too little.
        """
        if self._relevant is not None:
            names = [name for name, _ in self._relevant(cue, self._structure.known())]
            cue = cue._replace(focus="; ".join([cue.focus, *names]))
        if not self.semantic:  # the ablation: found, but not shown
            page = Page(page.left // CHARS_PER_TOKEN)
        here = current_place(self.graph)
        tried = self._deeds.tried(here, cue.valid_actions) if here else NOTHING
        counts = rank(self._structure, cue, page, exploration=exploration, tried=tried)
        return [page.triples[:count] for count in counts]

    def _queries(self, cue: Cue) -> Queries:
        """What Algorithm 2 searches for."""
        if self._relevant is not None:
            return self._relevant(cue, self._structure.known())
        texts = [cue.focus, *self._structure.queries(cue), cue.task]
        return [(text, self.depth) for text in texts if text]

    def _search_by_meaning(
        self, meaning: SemanticIndex, queries: Queries, page: Page
    ) -> list[Triple]:
        """Algorithm 2 for every query; fills the page and returns all facts found."""
        found = [triple for triple, _ in meaning.search(queries)]
        if self.semantic:
            subjects = dict.fromkeys(triple.subject for triple in found)
            facts: dict[str, list[Triple]] = {subject: [] for subject in subjects}
            for triple in found:
                facts[triple.subject].append(triple)
            for block in facts.values():
                page.put(fact_block(block))
        return found

    def _search_episodes(
        self, relevant: Sequence[list[Triple]], cue: Cue, queries: Queries
    ) -> Iterator[Episode]:
        """EpisodicSearch of Algorithm 1: the best ``k`` observations that are not recent."""
        hidden = self.recent + 1
        store = self.store
        newest = range(max(len(store) - hidden, 0), len(store))
        seen = {cue.text, *[store[id].text for id in newest]}
        seen.update(episode.text for episode in self._observed(self._asked(cue)))
        seen |= self._searched[2]  # told in full among the last attempts
        if self.episodic_score == "paper":
            ranked = self._shared_with(relevant, hidden, seen)
        else:
            ranked = self._ranked_with_plan(relevant[-1], cue, queries, hidden, seen)
        return islice(ranked, self.k)

    def _shared_with(
        self, relevant: Sequence[list[Triple]], hidden: int, seen: set[str]
    ) -> Iterator[Episode]:
        """By equation 1, for one list of facts after the other."""
        for facts in relevant:
            for episode in self._past.search(facts, exclude_last=hidden, but=seen):
                seen.add(episode.text)
                yield episode

    def _ranked_with_plan(
        self, relevant: Iterable[Triple], cue: Cue, queries: Queries, hidden: int, seen: set[str]
    ) -> Iterator[Episode]:
        """By shared facts, counted or weighed, plus, with an encoder, similarity to the plan."""
        store, encoder = self.store, self._encoder
        similarity = None
        if encoder is not None and cue.focus:
            texts = [episode.text for episode in store]
            similarity = (encoder.encode(texts) @ encoder.encode([cue.focus])[0]).round(5).tolist()
        if self.episodic_score == "code":
            scores = store.episodic_scores(
                relevant, exclude_last=hidden, variant="code", similarity=similarity
            )
        else:
            weighed = (
                self._meaning.relevance(queries) if self._meaning else dict.fromkeys(relevant, 1.0)
            )
            scores = store.relevance_scores(weighed, similarity)
        end = len(store) - hidden
        ranked = sorted((-round(score, 5), -id) for id, score in scores.items() if id < end)
        for id in [-id for _, id in ranked]:
            if scores[id] > 0 and store[id].text not in seen:
                seen.add(store[id].text)
                yield store[id]

    def reasons(self, cue: Cue, budget: int) -> Reasons:
        """The part of the ranking, or the similarity and the path of Algorithm 2; equation 1."""
        queries: Queries = ()
        relevant: list[list[Triple]] = [[]]
        why: list[Reason] = []
        if self._meaning is None:
            answer = self._structure.answer
            if answer is not None:
                relevant = [answer.page.triples[:count] for count in answer.relevant]
                why = [Reason(part) for part in part_of_each(answer)] if self.semantic else []
        else:
            queries, shown, _ = self._searched  # asked again, a model might answer otherwise
            scores = dict(self._meaning.search(queries))
            paths = self._meaning.paths(queries)
            relevant = [list(scores)]
            why = [
                Reason("similar to what was searched for", round(scores[t], 4), paths[t])
                if t in scores
                else Reason("exit that nobody took")
                for t in shown
            ]
        return Reasons(tuple(why), self._episodic_reasons(relevant, cue, queries))

    def _episodic_reasons(
        self, relevant: Sequence[list[Triple]], cue: Cue, queries: Queries
    ) -> tuple[Reason, ...]:
        if not (self.episodic and self.k and len(self.store) > self.recent + 1):
            return ()
        asked = [
            Reason(f"step {e.t}, asked for by the plan") for e in self._observed(self._asked(cue))
        ] if self.semantic else []  # fmt: skip
        told = set(relevant[-1])
        found = []
        for episode in self._search_episodes(relevant, cue, queries):
            shared = len(told.intersection(episode.triples))
            score = round(shared * weight(episode), 4) if self.episodic_score == "paper" else None
            why = f"step {episode.t - self._origin}, states {shared} of the facts searched with"
            found.append(Reason(why, score))
        return (*asked, *found)

    # ------------------------------------------------------------ state

    def state(self) -> dict[str, Any]:
        """Graph, episodes, task and clock."""
        return {
            "graph": self.graph.state(),
            "episodes": self.store.state(),
            "task": list(self._task),
            "origin": self._origin,
            "calls": self._calls,
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace everything by what :meth:`state` returned."""
        graph, store = TemporalGraph(), EpisodeStore()
        graph.load_state(state["graph"])
        store.load_state(state["episodes"])
        self._task = typed(Task, state["task"])
        self._origin, self._calls = int(state["origin"]), int(state["calls"])
        self.graph, self.store = graph, store
        self._partition = None  # the part of an episode is not added to a store
        self._index()

    def snapshot(self) -> Any:
        """The present state; O(changes since the last snapshot) and a copy of references."""
        return (
            self.graph, self.graph.snapshot(), self.store.snapshot(),
            self._task, self._origin, self._calls, self._partition, self._mark,
        )  # fmt: skip

    def restore(self, snapshot: Any) -> None:
        """Return to a snapshot; O(changes) within an episode, a copy of the graph otherwise."""
        graph, version, episodes, self._task, self._origin, self._calls, *rest = snapshot
        self._partition, self._mark = rest
        try:
            self.graph.restore(version)
        except InvalidArgumentError:  # of an earlier episode: another graph
            self.graph = graph.fork()
            self.graph.restore(version)
            self._index()
        self.store.restore(episodes)

    def fork(self) -> Memory:
        """An independent copy that shares what neither of the two changes."""
        twin = copy.copy(self)
        twin.graph, twin.store = self.graph.fork(), self.store.fork()
        twin._index()
        return twin

    def stats(self) -> MemoryStats:
        """Sizes, tokens of the last recall, and calls of the extraction role."""
        return MemoryStats(
            facts=length_hint(self.graph.facts()),
            live_facts=len(self.graph),
            episodes=len(self.store),
            tokens=self._tokens,
            extraction_calls=self._calls,
            fallbacks=role_counts(self._extractor, self._relevant, self._explore).fallbacks,
        )


def _start_over(graph: TemporalGraph, *, same: bool) -> int:
    """Let a graph go on in another episode, of the same instance or not; gives its first step."""
    origin = graph.now + 1
    if same:
        rewind(graph, origin)
    else:
        graph.retire_matching(subject=PLAYER, t=origin, by=REWIND)
        graph.retire_matching(object=INVENTORY, t=origin, by=REWIND)
    return origin
