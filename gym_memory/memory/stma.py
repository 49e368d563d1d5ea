"""STMA (Lei et al.): a temporal belief from the latest records, a spatial belief from a graph."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import length_hint
from typing import Annotated, Any, ClassVar

from gym_memory.core.errors import InvalidArgumentError
from gym_memory.core.files import typed
from gym_memory.core.records import Cue, MemoryStats, Recall, Step, Task, Triple
from gym_memory.core.settings import Help, check_text, checked
from gym_memory.core.text import with_reward
from gym_memory.extract.draft import is_whole
from gym_memory.graph import TemporalGraph
from gym_memory.graph.map import current_place, ways_out
from gym_memory.graph.schema import EXIT, LOCATIONS, OPPOSITE, PLAYER, direction_of, way_relation
from gym_memory.llm.base import ChatModel
from gym_memory.memory.base import CHARS_PER_TOKEN, Lifetime, Memory, check_budget
from gym_memory.memory.encoders import make_encoder
from gym_memory.memory.reading import (
    ACTIONS,
    GOALS,
    PLACES,
    READ,
    fact_lines,
    fit_facts,
    listed_fact,
    read_line,
    render_episode,
    sections,
)
from gym_memory.memory.recall.semantic import ATTRIBUTES, EntityIndex
from gym_memory.memory.roles.llm import LLMAggregate, LLMExtractRelations, chat_model, role_counts
from gym_memory.memory.roles.llm_lessons import LLMSummarize
from gym_memory.memory.roles.notes import BeliefNotes, describe, fit_lines, section, stated_facts

__all__ = ["STMA"]

_SPATIAL = "Spatial belief"
_MAX_RECORD_CHARS = 20_000
_MAX_QUERY_CHARS = 4_000
_ACTIONS_SHARE = 8
"""An eighth of the budget is reserved for the latest actions."""
_MOST_TRIES = 3


class STMA(Memory):
    """STMA's spatio-temporal memory: a summary of the past, and a graph of places.

    A step (Algorithm 2, lines 4 to 7) appends the record to the history buffer (Eq. 3), writes the
    temporal belief (Eq. 4), and extracts triples *from that belief* (Eq. 6), which replace outdated
    edges. A recall (lines 8 and 9) retrieves a subgraph (Algorithm 1: the ``entities`` most similar
    to the query and all within ``hops``), which the aggregator describes (Eq. 7).

    Choices where the paper leaves one, or where this differs from it:

    * The query is the mean of the unit vectors of the focus, and of the place, observation and
      inventory; the agent's place is always found.
    * Without ``encoder`` the cosine is that of exact words.
    * Hops follow edges both ways; ``in_edges=False`` is the literal Algorithm 1.
    * Values such as *closed* are attributes, not vertices; explored exits and the second direction
      of a way are omitted.
    * The summariser also gets the last belief and the present record; the rule-based retriever also
      reads what is not spatial.
    * Half of the budget is for goals and what was read, then the spatial belief, then the rest.

    The ablations of Table 2 are ``memory``, ``summarizer``, ``spatial_summarizer``, ``spatial``
    and ``aggregator``; the sixth, the critic, is a part of the agent.
    """

    name: ClassVar[str] = "stma"
    lifetimes: Mapping[str, Lifetime] = {
        "buffer": "episode", "belief": "episode", "graph": "episode",
    }  # fmt: skip
    graph: TemporalGraph

    @checked
    def __init__(
        self,
        *,
        buffer: Annotated[int, Help("Number of records in the history buffer, n.", low=1)] = 25,
        entities: Annotated[
            int, Help("Number of entities that a query retrieves, top-n.", low=1)
        ] = 8,
        hops: Annotated[int, Help("Number of hops from these entities, K.", low=0)] = 3,
        in_edges: Annotated[bool, Help("Follow edges from object to subject, too.")] = True,
        encoder: Annotated[
            str, Help("Encoder of entities and query; empty for the cosine of words.")
        ] = "",
        size: Annotated[int, Help("Tokens of the rule-based temporal belief.", low=64)] = 1000,
        memory: Annotated[bool, Help("False recalls nothing.")] = True,
        summarizer: Annotated[
            bool, Help("False shows the history buffer instead of the temporal belief.")
        ] = True,
        spatial_summarizer: Annotated[
            bool, Help("False extracts relations from the history buffer, not from the belief.")
        ] = True,
        spatial: Annotated[bool, Help("False builds and shows no graph.")] = True,
        aggregator: Annotated[bool, Help("False shows the subgraph as a list of triples.")] = True,
        repeat: Annotated[
            bool, Help("Repeat the temporal belief in the spatial one, as Eq. 7 does.")
        ] = False,
        llm: Annotated[
            str | ChatModel | None,
            Help("Chat model, or its spec, that plays the three roles; None for the rules."),
        ] = None,
    ):
        self.buffer, self.entities, self.hops, self.in_edges = buffer, entities, hops, in_edges
        self.memory, self.summarizer = memory, summarizer
        self.spatial_summarizer = spatial_summarizer
        self.spatial, self.aggregator, self.repeat = spatial, aggregator, repeat
        self._encoder = make_encoder(encoder) if encoder else None
        model = chat_model(llm)
        self._summarize = LLMSummarize.or_rule(model, BeliefNotes(size), "belief")
        self._relate = LLMExtractRelations.or_rule(model, stated_facts)
        self._aggregate = LLMAggregate.or_rule(model, describe)
        self._task = Task("", "")
        self._clear()

    def _clear(self) -> None:
        self.graph = TemporalGraph()
        self._records: deque[Step] = deque(maxlen=self.buffer)
        self._belief = ""
        self._calls = 0
        self._index()

    def _index(self) -> None:
        self._names = EntityIndex(self.graph, self._encoder)

    def begin(self, task: Task, seed: int | None) -> None:
        """Forget the last episode."""
        self._task = task
        self._clear()

    def observe(self, step: Step) -> None:
        """Append the record, summarise, extract relations from the summary, update the graph."""
        step = step._replace(text=step.text[:_MAX_RECORD_CHARS])
        trace = [*self._records, step][-self.buffer :]
        self._records.append(step._replace(valid_actions=()))
        from_belief = self.spatial and self.spatial_summarizer
        if self.memory and (self.summarizer or from_belief):
            self._belief = self._summarize(self._belief, trace, self._task)
        if self.memory and self.spatial:
            account = self._belief
            if not from_belief:
                account = "\n".join(map(render_episode, self._records))
            self._replace(self._relate(account, self._task), max(step.t, self.graph.now))
            self._calls += 1

    def _replace(self, relations: Iterable[Triple], t: int) -> None:
        """Add relations; retire edges of the same slot, in empty things, or of used-up things."""
        graph = self.graph
        for fact in relations:
            if fact in graph or not is_whole(fact):
                continue
            graph.add(fact, t)
            subject, relation, obj = fact
            if relation in LOCATIONS:
                graph.retire(Triple(obj, "is", "empty"), t)
            elif relation == "is" and obj == "empty":
                for inside in graph.incoming(subject):
                    if inside.relation in LOCATIONS:
                        graph.retire(inside, t)
            elif relation == "is" and obj == "consumed":
                for other in graph.outgoing(subject):
                    if other.relation in LOCATIONS:
                        graph.retire(other, t)

    def retrieve(self, cue: Cue, most: int = 1000) -> list[Triple]:
        """Return the subgraph for a cue, nearest first; stop after ``most`` vertices."""
        here = current_place(self.graph) or ""
        texts = [cue.focus, f"{here}\n{cue.text[:_MAX_QUERY_CHARS]}\n{cue.inventory}"]
        found = dict.fromkeys([here] if here else [])
        found.update(dict.fromkeys(self._names.nearest(texts, self.entities)))
        frontier = list(found)[: self.entities]
        vertices = dict.fromkeys(frontier)
        for _ in range(self.hops):
            reached: list[str] = []
            for vertex in frontier:
                for other in self._neighbours(vertex):
                    if other not in vertices:
                        vertices[other] = None
                        reached.append(other)
            if len(vertices) >= most:
                break
            frontier = reached
        if here:
            vertices = {PLAYER: None, **vertices}
        return self._induced(vertices)

    def _neighbours(self, vertex: str) -> Iterable[str]:
        out = (fact[2] for fact in self.graph.outgoing(vertex) if fact[1] not in ATTRIBUTES)
        if not self.in_edges:
            return out
        into = (fact[0] for fact in self.graph.incoming(vertex) if fact[1] not in ATTRIBUTES)
        return chain(out, into)

    def _induced(self, vertices: dict[str, None]) -> list[Triple]:
        kept: dict[Triple, None] = {}
        for vertex in vertices:
            taken = ways_out(self.graph, vertex)
            for fact in self.graph.outgoing(vertex):
                _, relation, obj = fact
                if relation not in ATTRIBUTES:
                    direction = direction_of(relation)
                    implied = direction is not None and (
                        Triple(obj, way_relation(OPPOSITE[direction]), vertex) in kept
                    )
                    if obj in vertices and not implied:
                        kept[fact] = None
                elif relation != EXIT or obj not in taken:
                    kept[fact] = None
        return list(kept)

    def recall(self, cue: Cue, budget: int) -> Recall:
        """Return temporal and spatial belief within ``budget`` tokens."""
        room = check_budget(budget) * CHARS_PER_TOKEN + 1  # the last line has no break
        if not self.memory:
            return Recall()
        share = room // 2 if self.spatial else room
        episodes: tuple[str, ...] = ()
        parts = sections(self._belief if self.summarizer else "")
        if self.summarizer:
            prose = "".join(f"{line}\n" for line in fit_lines(parts[""], share // 2))
            head = prose + section(GOALS, parts[GOALS], (share - len(prose)) // 2)
            head += section(READ, parts[READ], share - len(head))
        else:
            head, episodes = self._history(cue, share)
        left = room - len(head)
        stated = [fact for line in head.split("\n") for fact in read_line(line)]
        spatial, shown = self._space(
            cue, left - left // _ACTIONS_SHARE, () if self.repeat else frozenset(stated)
        )
        left -= len(spatial)
        latest = section(ACTIONS, reversed(parts[ACTIONS]), left // 2 if spatial else left // 4)
        heading, *actions = latest.split("\n")[:-1] or [""]
        acts = "".join(f"{line}\n" for line in (heading, *reversed(actions)) if line)
        rest = section(PLACES, _unsaid(parts[PLACES], shown), left - len(acts))
        text = (head + acts + rest + spatial).rstrip("\n")
        stated += [fact for line in rest.split("\n") for fact in read_line(line)]
        return Recall(text, tuple(dict.fromkeys((*stated, *shown))), episodes)

    def _history(self, cue: Cue, left: int) -> tuple[str, tuple[str, ...]]:
        pieces: list[str] = []
        texts: list[str] = []
        for step in reversed(self._records):
            if not pieces and step.text.strip() == cue.text.strip():
                step = step._replace(text=with_reward("", step.reward))
            piece = render_episode(step).rstrip("\n") + "\n"
            if len(piece) > left:
                break
            pieces.append(piece)
            texts += [step.text] if step.text else []
            left -= len(piece)
        return "".join(reversed(pieces)), tuple(texts)

    def _space(
        self, cue: Cue, left: int, stated: Container[Triple]
    ) -> tuple[str, Sequence[Triple]]:
        left -= len(_SPATIAL) + 3
        if not self.spatial or left <= 0:
            return "", ()
        subgraph = self.retrieve(cue, most=max(left // CHARS_PER_TOKEN, self.entities))
        fresh = [fact for fact in subgraph if fact not in stated]
        _, facts = fit_facts(fresh, left - left % CHARS_PER_TOKEN)
        for _ in range(_MOST_TRIES):
            if not facts:
                return "", ()
            if self.aggregator:
                text = self._aggregate(facts, self._task)
            else:
                text = "\n".join([listed_fact(fact) for fact in facts])
            if len(text) <= left:
                break
            facts = facts[: len(facts) * left // len(text)]
        return f"{_SPATIAL}:\n{text[:left]}\n", facts

    def state(self) -> dict[str, Any]:
        """Return buffer, belief, graph, task and the number of extractions."""
        return {
            "buffer": [list(step) for step in self._records],
            "belief": self._belief,
            "graph": self.graph.state(),
            "task": list(self._task),
            "calls": self._calls,
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Replace everything by what :meth:`state` returned."""
        graph = TemporalGraph()
        graph.load_state(state["graph"])
        records = [typed(Step, record)._replace(valid_actions=()) for record in state["buffer"]]
        self._task = typed(Task, state["task"])
        self._belief, self._calls = check_text("belief", state["belief"]), int(state["calls"])
        self._records = deque(records, maxlen=self.buffer)
        self.graph = graph
        self._index()

    def snapshot(self) -> Any:
        """Return the present state; O(changes since the last snapshot) and a copy of references."""
        return (
            self.graph, self.graph.snapshot(), tuple(self._records),
            self._belief, self._task, self._calls,
        )  # fmt: skip

    def restore(self, snapshot: Any) -> None:
        """Return to a snapshot; O(changes) within an episode, a copy of the graph otherwise."""
        graph, version, records, self._belief, self._task, self._calls = snapshot
        try:
            self.graph.restore(version)
        except InvalidArgumentError:  # a snapshot of an earlier episode has another graph
            self.graph = graph.fork()
            self.graph.restore(version)
            self._index()
        self._records = deque(records, maxlen=self.buffer)

    def fork(self) -> Memory:
        """Return an independent copy; both share what neither changes."""
        twin = self._twin()
        twin.graph = self.graph.fork()
        twin._index()
        return twin

    def stats(self) -> MemoryStats:
        """Return sizes, tokens of the last recall, calls of the relation retriever."""
        return MemoryStats(
            facts=length_hint(self.graph.facts()),
            live_facts=len(self.graph),
            episodes=len(self._records),
            extraction_calls=self._calls,
            fallbacks=role_counts(self._summarize, self._relate, self._aggregate).fallbacks,
        )


def _unsaid(lines: Iterable[str], said: Sequence[Triple]) -> Iterator[str]:
    """Yield lines of notes that are not among the stated facts; a way counts in both directions."""
    known = set(said)
    for fact in said:
        direction = direction_of(fact.relation)
        if direction is not None:
            known.add(Triple(fact.object, way_relation(OPPOSITE[direction]), fact.subject))
    for line in lines:
        facts = read_line(line)
        left = [fact for fact in facts if fact not in known]
        if left or not facts:
            yield from fact_lines(left[0].subject, left) if len(left) < len(facts) else [line]
