"""Episodic search: the observations that a set of facts belongs to (AriGraph, equation 1).

A long episode repeats itself. Equal observations have equal scores and only the newest is worth
recalling, so the search counts over the different ones, in one pass over the links of the
recalled facts.
"""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterable, Iterator

import numpy as np

from gym_memory.memory.records.episodes import Episode, EpisodeStore, weight
from gym_memory.types import Triple

__all__ = ["EpisodicIndex"]

_NONE = array("i")
_AGE = 1e-13
"""What an id adds to a score: less than scores differ by, enough to put the newest first."""
_LEAST = 1e-6


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
        self._numbers: list[int] = []  # of each observation: which of the different ones it is
        self._newest: list[int] = []  # of each of those: its last observation
        self._links: dict[Triple, array[int]] = {}
        self._weights = np.zeros(64)
        self._ages = np.zeros(64)

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
                self._link(number, episode)
            self._newest[number] = id
            self._numbers.append(number)
            self._ages[number] = id * _AGE
        self._taken = len(store)

    def _link(self, number: int, episode: Episode) -> None:
        if number == len(self._weights):
            self._weights = np.concatenate([self._weights, np.zeros_like(self._weights)])
            self._ages = np.concatenate([self._ages, np.zeros_like(self._ages)])
        self._weights[number] = weight(episode)
        for triple in episode.triples:
            self._links.setdefault(triple, array("i")).append(number)

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
        count = len(self._newest)
        if end <= 0 or not count:
            return
        links = b"".join([self._links.get(triple, _NONE) for triple in dict.fromkeys(recalled)])
        shared = np.bincount(np.frombuffer(links, dtype=np.intc), minlength=count)
        scores = shared * self._weights[:count] + self._ages[:count]
        for id in range(max(end, 0), len(self.store)):
            scores[self._numbers[id]] = 0.0
        given = set[str]()
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
