"""Episodic search: the observations that a set of facts belongs to (AriGraph, equation 1).

A long episode repeats itself. Equal observations have equal scores and only the newest is worth
recalling, so the search counts over the different ones. From one search to the next few of the
recalled facts change, so the counts are kept, and only the links of those facts are followed.
"""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterable, Iterator

import numpy as np

from gym_memory.core.records import Triple
from gym_memory.memory.recall.following import Follower
from gym_memory.memory.stores.episodes import Episode, EpisodeStore, weight

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
        self._follower: Follower[Episode] = Follower()
        self._reset()

    def _reset(self) -> None:
        self._number: dict[tuple[str, tuple[Triple, ...]], int] = {}
        self._numbers: list[int] = []  # of each observation: which of the different ones it is
        self._newest: list[int] = []  # of each of those: its last observation
        self._links: dict[Triple, array[int]] = {}
        self._recalled: list[Triple] = []  # what was searched for last ...
        self._counted: dict[Triple, None] = {}  # ... each fact once ...
        self._shared = np.zeros(64, dtype=np.int64)  # ... and how many of them each one states
        self._weights = np.zeros(64)
        self._ages = np.zeros(64)

    def _sync(self) -> None:
        """Take in the observations since the last call; start over if the store went back."""
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
        """Tie one of the different observations to its facts."""
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
        """Count the recalled facts of every observation, starting from the last count."""
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
