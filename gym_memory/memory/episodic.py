"""Episodic search: the observations that a set of facts belongs to (AriGraph, equation 1).

A long episode repeats itself: thousands of steps, a few hundred different observations. Equal
ones have equal scores and only the newest is worth recalling, so the search counts over the
different ones and costs the same at step 10,000 as at step 1,000 in the same house.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from itertools import chain

from gym_memory.memory.episodes import Episode, EpisodeStore, weight
from gym_memory.types import Triple

__all__ = ["EpisodicIndex"]


class EpisodicIndex:
    """Ranks the different observations of a store.

    Args:
        store: The store to follow; may be restored, not replaced.
    """

    def __init__(self, store: EpisodeStore):
        self.store = store
        self._reset()

    def _reset(self) -> None:
        self._taken = 0
        self._last: Episode | None = None
        self._number: dict[tuple[str, tuple[Triple, ...]], int] = {}
        self._newest: list[int] = []
        self._weights: list[float] = []
        self._links: dict[Triple, list[int]] = {}

    def _sync(self) -> None:
        """Take in the observations since the last call; start over if the store went back."""
        store = self.store
        if self._taken and (len(store) < self._taken or store[self._taken - 1] is not self._last):
            self._reset()
        for id in range(self._taken, len(store)):
            episode = self._last = store[id]
            number = self._number.setdefault((episode.text, episode.triples), len(self._newest))
            if number == len(self._newest):
                self._newest.append(id)
                self._weights.append(weight(episode))
                for triple in episode.triples:
                    self._links.setdefault(triple, []).append(number)
            self._newest[number] = id
        self._taken = len(store)

    def search(
        self, recalled: Iterable[Triple], *, exclude_last: int = 0, but: Container[str] = ()
    ) -> Iterator[Episode]:
        """Observations by equation 1, best first, of equal scores the newest first.

        Args:
            recalled: The facts that the semantic search returned; repeated ones count once.
            exclude_last: Newest observations never to give.
            but: Texts never to give. No text is given twice either.
        """
        self._sync()
        links = self._links
        counted = Counter(chain.from_iterable([links.get(t, ()) for t in dict.fromkeys(recalled)]))
        end, newest, weights = len(self.store) - exclude_last, self._newest, self._weights
        queue = [
            (-n * weights[number], -newest[number])
            for number, n in counted.items()
            if weights[number] > 0 and newest[number] < end
        ]
        heapq.heapify(queue)
        given = set[str]()
        while queue:
            episode = self.store[-heapq.heappop(queue)[1]]
            if episode.text not in given and episode.text not in but:
                given.add(episode.text)
                yield episode
