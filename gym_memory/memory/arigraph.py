"""AriGraph (Anokhin et al.): a semantic graph and the observations linked to it."""

from __future__ import annotations

import copy
import inspect
from operator import length_hint
from typing import Any, ClassVar

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.files import typed
from gym_memory.core.records import Cue, MemoryStats, Outcome, Reasons, Recall, Step, Task, Triple
from gym_memory.core.settings import make_settings
from gym_memory.extract import Extraction, get_extractor
from gym_memory.extract.draft import apply, trusted
from gym_memory.graph import TemporalGraph
from gym_memory.graph.schema import INVENTORY, PLAYER
from gym_memory.graph.temporal import REWIND, rewind
from gym_memory.memory.base import Memory, is_over
from gym_memory.memory.encoders import calibrated_threshold, make_encoder
from gym_memory.memory.recall.search import Models, Search, Sources
from gym_memory.memory.recall.settings import AriGraphSettings
from gym_memory.memory.roles.base import explore, relevant_entities
from gym_memory.memory.roles.llm import (
    LLMExplore,
    LLMExtractor,
    LLMRelevantEntities,
    chat_model,
    role_counts,
)
from gym_memory.memory.stores.episodes import EpisodeStore
from gym_memory.memory.stores.facts import FactStore, Mark, Partition, replay

__all__ = ["AriGraph", "AriGraphSettings"]


class AriGraph(Memory):
    """AriGraph's memory: a temporal graph of facts, and the observations linked to it.

    A recall is Algorithm 1: facts, then the observations that score best by equation 1, then all
    unexplored exits (Algorithm 3), and the last attempts (ours). A focus on the past brings dated
    facts first; see :mod:`gym_memory.memory.recall.search`. ``semantic`` search of facts is
    Algorithm 2; ``structural``, the default, is :mod:`gym_memory.memory.recall.structural`.

    Differences from the paper: without ``llm``, rules play the roles of its language model and
    always show exits. Results are ranked and cut to the budget, without repeated observations.

    Args:
        **settings: The fields of :class:`AriGraphSettings`.
    """

    name: ClassVar[str] = "arigraph"
    settings_class = AriGraphSettings
    __signature__ = inspect.signature(AriGraphSettings)
    graph: TemporalGraph

    def __init__(self, **settings: Any):
        self.settings = chosen = make_settings(AriGraphSettings, settings)
        if chosen.store is not None and chosen.lifetime == "episode":
            raise InvalidArgumentError(
                "expected store together with a lifetime of 'trial', 'task' or 'forever', got "
                "'episode'"
            )
        self._kept_in = FactStore(chosen.store) if chosen.store is not None else None
        self._partition: Partition | None = None
        self._mark = Mark(0, 0, 0)
        self.lifetimes = {"graph": chosen.lifetime, "episodes": chosen.lifetime}
        model = chat_model(chosen.llm)
        self._extractor = LLMExtractor(model) if model else None
        encoder = make_encoder(chosen.encoder) if chosen.recall == "semantic" else None
        threshold = chosen.threshold
        if threshold == "auto":
            threshold = calibrated_threshold(encoder) if encoder else None
        if isinstance(threshold, str):
            raise InvalidArgumentError(
                f"expected threshold as a number, 'auto' or None, got {threshold!r}"
            )
        self._models = Models(
            encoder,
            threshold,
            LLMRelevantEntities(model, relevant_entities) if model else None,
            LLMExplore(model, explore) if model else None,
        )
        self._task = Task("", "")
        self._clear()

    @property
    def threshold(self) -> float | None:
        """Return the least similarity of a retrieved edge."""
        return self._models.threshold

    def begin(self, task: Task, seed: int | None) -> None:
        """Start an episode; clears graph and episodes if their lifetime is over."""
        before, self._task = self._task, task
        last = before.id
        if self._kept_in is not None:
            last = self._fetch(self._kept_in, task)
        elif is_over(self.settings.lifetime, before, task) or not len(self.store):
            self._clear()
        if len(self.store):
            self._origin = _start_over(self.graph, same=task.id == last)
        self._mark = Mark.of(self.graph, self.store)

    def end(self, outcome: Outcome) -> None:
        """Add the facts of the episode to the store, if there is one."""
        if self._partition is not None:
            self._partition.append(self._replay, self._task.id)
            self._partition = None

    def _replay(self, graph: TemporalGraph, store: EpisodeStore, last: str) -> None:
        origin = _start_over(graph, same=self._task.id == last) if len(store) else 0
        replay((self.graph, self.store), self._mark, (graph, store), origin - self._origin)

    def _clear(self) -> None:
        self._origin = self._calls = 0
        self._hold(TemporalGraph(), EpisodeStore())

    def _hold(self, graph: TemporalGraph, store: EpisodeStore) -> None:
        self.graph, self.store = graph, store
        self._sources = Sources(graph, store, self.settings, self._models)
        self._search: Search | None = None

    def _fetch(self, kept_in: FactStore, task: Task) -> str:
        """Load the newest state of the store; return the instance that wrote it."""
        self._clear()
        part = {"trial": task.id, "task": task.goal}.get(self.settings.lifetime, "")
        self._partition = kept_in.partition(task.id.partition("/")[0], part, self._models.encoder)
        graph, store, last = self._partition.copy()
        self._hold(graph, store)
        return last

    def observe(self, step: Step) -> None:
        """Learn the facts of a step and keep its observation."""
        self._search = None
        triples = self._learn(step, self._origin + step.t)
        self.store.add(self._origin + step.t, step.text, step.action, triples)

    def _learn(self, step: Step, t: int) -> list[Triple]:
        return apply(self._extract(step), self.graph, t, episode=len(self.store))

    def _extract(self, step: Step) -> Extraction:
        extractor = self._extractor or get_extractor(self._task.dialect)
        self._calls += 1
        found = extractor.extract(step, self.graph, self._task)
        return trusted(found, self._task.goal) if self.trust == "seen" else found

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Recall facts and observations that matter now, within ``budget`` tokens."""
        self._search = Search(self._sources, cue, budget, self._task, self._origin)
        return self._search.recall

    def reasons(self, cue: Cue, budget: int) -> Reasons:
        """Return the part of the ranking, or similarity and path; equation 1 for observations."""
        last = self._search
        if last is None or (last.cue, last.budget) != (cue, budget):
            last = Search(self._sources, cue, budget, self._task, self._origin)
        return last.reasons()

    def state(self) -> dict[str, Any]:
        """Return graph, episodes, task and clock."""
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
        self._partition = None  # a part of an episode does not enter a store
        self._hold(graph, store)

    def snapshot(self) -> Any:
        """Return the present state; O(changes since the last snapshot) and a copy of references."""
        return (
            self.graph, self.graph.snapshot(), self.store.snapshot(),
            self._task, self._origin, self._calls, self._partition, self._mark,
        )  # fmt: skip

    def restore(self, snapshot: Any) -> None:
        """Return to a snapshot; O(changes) within an episode, a copy of the graph otherwise."""
        graph, version, episodes, self._task, self._origin, self._calls, *rest = snapshot
        self._partition, self._mark = rest
        self._search = None
        try:
            self.graph.restore(version)
        except InvalidArgumentError:  # a snapshot of an earlier episode has another graph
            graph = graph.fork()
            graph.restore(version)
            self._hold(graph, self.store)
        self.store.restore(episodes)

    def fork(self) -> Memory:
        """Return an independent copy; both share what neither changes."""
        twin = copy.copy(self)
        twin._hold(self.graph.fork(), self.store.fork())
        return twin

    def stats(self) -> MemoryStats:
        """Return sizes, and calls of the extraction role."""
        roles = self._extractor, self._models.relevant, self._models.explore
        return MemoryStats(
            facts=length_hint(self.graph.facts()),
            live_facts=len(self.graph),
            episodes=len(self.store),
            extraction_calls=self._calls,
            fallbacks=role_counts(*roles).fallbacks if self._extractor else 0,
        )


def _start_over(graph: TemporalGraph, *, same: bool) -> int:
    """Continue a graph in another episode, of the same instance or not; return its first step."""
    origin = graph.now + 1
    if same:
        rewind(graph, origin)
    else:
        graph.retire_matching(subject=PLAYER, t=origin, by=REWIND)
        graph.retire_matching(object=INVENTORY, t=origin, by=REWIND)
    return origin
