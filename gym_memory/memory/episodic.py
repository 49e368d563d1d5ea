"""Episodic search: the observations that a set of facts belongs to (AriGraph, equation 1).

A long episode repeats itself. Equal observations have equal scores and only the newest is worth
recalling, so the search counts over the different ones, in one pass over the links of the
recalled facts.
"""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from gym_memory.memory.episodes import Episode, EpisodeStore, weight
from gym_memory.types import Triple

__all__ = ["EpisodicIndex"]

_FIRST = 24
"""Candidates that are ranked at first; the rest only if these do not suffice."""
_NONE = array("i")


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
        self._newest = array("i")
        self._weights = array("d")
        self._links: dict[Triple, array[int]] = {}

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
                    self._links.setdefault(triple, array("i")).append(number)
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
        end = len(self.store) - exclude_last
        if end <= 0:
            return
        given = set[str]()
        for id in self._ranked(recalled, end):
            episode = self.store[id]
            if episode.text not in given and episode.text not in but:
                given.add(episode.text)
                yield episode

    def _ranked(self, recalled: Iterable[Triple], end: int) -> Iterator[int]:
        """Ids of observations that score above 0, best first, none from ``end`` on."""
        links = b"".join([self._links.get(triple, _NONE) for triple in dict.fromkeys(recalled)])
        shared = np.bincount(np.frombuffer(links, dtype=np.intc), minlength=len(self._newest))
        scores = shared * np.array(self._weights)
        newest = np.array(self._newest)
        candidates = np.flatnonzero((scores > 0) & (newest < end))
        scores, newest = scores[candidates], newest[candidates]
        if len(scores) > _FIRST:
            least = np.partition(scores, len(scores) - _FIRST)[len(scores) - _FIRST]
            first = scores >= least
            yield from _in_order(scores[first], newest[first])
            scores, newest = scores[~first], newest[~first]
        yield from _in_order(scores, newest)


def _in_order(scores: NDArray[np.float64], ids: NDArray[np.intc]) -> Iterator[int]:
    """Ids by descending score, of equal scores the highest id first."""
    return iter(ids[np.lexsort((-ids, -scores))].tolist())
