"""Telling what one episode taught to another state of the same partition."""

from __future__ import annotations

from operator import itemgetter
from typing import Any, NamedTuple

from gym_memory.graph import TemporalGraph
from gym_memory.memory.stores.episodes import EpisodeStore

__all__ = ["Mark", "retell"]

State = tuple[TemporalGraph, EpisodeStore]


class Mark(NamedTuple):
    """How much a graph and its observations held at one time."""

    events: int
    mentions: int
    episodes: int

    @classmethod
    def of(cls, graph: TemporalGraph, episodes: EpisodeStore) -> Mark:
        """Return how much they hold now."""
        return cls(len(graph.events), len(graph.mentions()), len(episodes))


def retell(told: State, since: Mark, to: State, later: int) -> None:
    """Repeat everything that happened in ``told`` since a mark in ``to``.

    Where ``to`` is what ``told`` was at the mark, it becomes equal to it. Where others have changed
    it, facts that this episode only saw confirmed are stated anew; those that it saw end, end.

    Args:
        told: Graph and observations that know the episode.
        since: What they held before it.
        to: Graph and observations to tell it to.
        later: Steps by which it happens later there.
    """
    graph, episodes = told
    shift = len(to[1]) - since.episodes
    facts = [fact.triple for fact in graph.facts()]
    happened: list[tuple[int, int, Any]] = [(e[0], 0, e) for e in graph.events[since.events :]]
    for number, source in graph.mentions()[since.mentions :]:
        happened.append((episodes[source.episode].t, 1, (facts[number], source)))
    for t, kind, what in sorted(happened, key=itemgetter(0, 1)):
        if kind:
            fact, source = what
            if fact in graph and fact not in to[0]:
                to[0].add(fact, t + later)
            if to[0].fact(fact) is not None:
                to[0].mention(fact, source._replace(episode=source.episode + shift))
        elif not what[2]:
            to[0].add(what[1], t + later)
        elif what[2] != "schema":  # those follow from what took their slots
            to[0].retire(what[1], t + later, what[2])
    for episode in list(episodes)[since.episodes :]:
        to[1].add(episode.t + later, episode.text, episode.action, episode.triples)
    to[0].tick(graph.now + later)
