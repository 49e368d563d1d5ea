"""Episodic memory: every observation with the facts that were extracted from it.

An episode is AriGraph's episodic vertex, its facts are the episodic edge E_e. An index follows such
a log, or a graph's, by a position in it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import chain
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar

from gym_memory.core.errors import InvalidArgumentError, StoreError
from gym_memory.core.files import typed
from gym_memory.core.records import Triple
from gym_memory.core.settings import check_int, check_text

__all__ = ["Episode", "EpisodeStore", "Follower", "Log", "Variant", "weight"]

Variant = Literal["paper", "code"]
"""Episodic score: equation 1 of the AriGraph paper, or what its authors' code computes."""

_LAST_STEP = 1 << 53

Item = TypeVar("Item")
Logged = TypeVar("Logged", covariant=True)


class Log(Protocol[Logged]):
    """A sequence that grows at its end; a restore cuts it and then adds other items."""

    def __len__(self) -> int:
        """Count the items."""
        ...

    def __getitem__(self, position: int, /) -> Logged:
        """Return an item: the same object as long as it was not cut off."""
        ...


class Follower(Generic[Item]):
    """A position in a log, up to which an index has taken in the items."""

    __slots__ = ("_last", "_taken")

    def __init__(self) -> None:
        self._taken = 0
        self._last: Item | None = None

    def advance(self, log: Log[Item]) -> tuple[bool, list[Item]]:
        """Move to the end of the log; return whether it was cut before here, and the new items.

        If it was cut, the index must start again, and all items are new.

        >>> follower, log = Follower(), ["a", "b"]
        >>> follower.advance(log), follower.advance([*log, "c"])
        ((False, ['a', 'b']), (False, ['c']))
        >>> follower.advance(["a"])
        (True, ['a'])
        """
        start, end = self._taken, len(log)
        if start == end and (not end or log[end - 1] is self._last):
            return False, []
        cut = start > end or (start > 0 and log[start - 1] is not self._last)
        new = [log[position] for position in range(0 if cut else start, end)]
        self._taken, self._last = end, new[-1] if new else None
        return cut, new


class Episode(NamedTuple):
    """An observation of step ``t``, after ``action``; its ``id`` counts from 0."""

    id: int
    t: int
    text: str
    action: str = ""
    triples: tuple[Triple, ...] = ()


class EpisodeStore:
    """Observations in the order in which they were made.

    >>> store = EpisodeStore()
    >>> apple, fridge = Triple("apple", "is in", "fridge"), Triple("fridge", "is", "open")
    >>> _ = store.add(0, "The open fridge holds an apple.", triples=[apple, fridge])
    >>> _ = store.add(1, "You open the fridge.", "open fridge", [fridge])
    >>> store.episodic_scores([apple, fridge])
    {0: 1.0, 1: 0.0}
    """

    def __init__(self) -> None:
        self._episodes: list[Episode] = []
        self._links: dict[Triple, list[int]] = {}

    def __len__(self) -> int:
        """Return the number of observations, the id of the next one."""
        return len(self._episodes)

    def __bool__(self) -> bool:
        """Return a store is always true, an empty one too."""
        return True

    def __iter__(self) -> Iterator[Episode]:
        """Yield all observations, oldest first."""
        return iter(self._episodes)

    def __getitem__(self, id: int) -> Episode:
        """Return the observation with that id; negative ids count from the newest."""
        return self._episodes[id]

    def add(self, t: int, text: str, action: str = "", triples: Iterable[Triple] = ()) -> Episode:
        """Keep an observation and the facts extracted from it; O(its facts)."""
        episode = Episode(len(self._episodes), t, text, action, tuple(dict.fromkeys(triples)))
        self._append(episode)
        return episode

    def episodes_of(self, triple: Triple) -> tuple[int, ...]:
        """Return the observations that a fact was extracted from, oldest first."""
        return tuple(self._links.get(triple, ()))

    def episodic_scores(
        self,
        recalled: Iterable[Triple],
        *,
        exclude_last: int = 0,
        variant: Variant = "paper",
        similarity: Sequence[float] | None = None,
    ) -> dict[int, float]:
        """Score each observation by the recalled facts.

        ``paper`` (equation 1): ``n / max(N, 1) * log2(max(N, 1))`` with n recalled facts among
        the N facts of the observation, in [0, log2(N)]. ``code``: ``n / max n + similarity / max
        similarity``, up to 2, over all but the newest ``exclude_last``.

        ``similarity`` of the plan has shape ``(len(self),)``; without it only observations that
        share a fact have a score.
        """
        if exclude_last < 0:
            raise InvalidArgumentError(f"expected exclude_last >= 0, got {exclude_last}")
        end = len(self._episodes) - exclude_last
        links = (self._links.get(triple, ()) for triple in dict.fromkeys(recalled))
        counted = Counter(chain.from_iterable(links))
        shared = {id: n for id, n in counted.items() if id < end}
        if variant == "paper":
            if similarity is not None:
                raise InvalidArgumentError(
                    "expected no similarity with variant 'paper': its score knows none "
                    "(use variant='code')"
                )
            return {id: n * weight(self._episodes[id]) for id, n in shared.items()}
        if variant != "code":
            raise InvalidArgumentError(f"expected variant 'paper' or 'code', got {variant!r}")
        most = max(shared.values(), default=0)
        scores = {id: n / most for id, n in shared.items()}
        if similarity is None:
            return scores
        if len(similarity) != len(self._episodes):
            raise InvalidArgumentError(
                f"expected a similarity for each of {len(self._episodes)} observations, "
                f"got {len(similarity)}"
            )
        near = [float(similarity[id]) for id in range(end)]
        nearest = max(near, default=0.0)
        if nearest <= 0:
            return scores
        return {id: scores.get(id, 0.0) + value / nearest for id, value in enumerate(near)}

    def relevance_scores(
        self, relevance: Mapping[Triple, float], similarity: Sequence[float] | None = None
    ) -> dict[int, float]:
        """Score each by ``similarity + r1 + r2 / 2 + r3 / 4 + ...``, its best facts first."""
        shares: dict[int, list[float]] = {}
        for fact, value in relevance.items():
            for id in self._links.get(fact, ()):
                shares.setdefault(id, []).append(value)
        scores = dict(enumerate(map(float, similarity))) if similarity is not None else {}
        for id, values in shares.items():
            values.sort(reverse=True)
            total = sum(value * 0.5**place for place, value in enumerate(values))
            scores[id] = scores.get(id, 0.0) + total
        return scores

    def recall(
        self,
        recalled: Iterable[Triple],
        k: int,
        *,
        exclude_last: int = 0,
        variant: Variant = "paper",
        similarity: Sequence[float] | None = None,
    ) -> list[Episode]:
        """Return the ``k`` best observations with a score > 0; of equal ones the newest first."""
        scores = self.episodic_scores(
            recalled, exclude_last=exclude_last, variant=variant, similarity=similarity
        )
        best = nlargest(k, ((score, id) for id, score in scores.items() if score > 0))
        return [self._episodes[id] for _, id in best]

    def snapshot(self) -> tuple[Episode, ...]:
        """Return the observations; O(observations) at the speed of a copy."""
        return tuple(self._episodes)

    def restore(self, snapshot: tuple[Episode, ...]) -> None:
        """Return to a snapshot of any store; O(observations that differ)."""
        low, high = 0, min(len(snapshot), len(self._episodes))
        while low < high:  # histories share a first part and nothing after it
            middle = (low + high) // 2
            if snapshot[middle] is self._episodes[middle]:
                low = middle + 1
            else:
                high = middle
        while len(self._episodes) > low:
            for triple in self._episodes.pop().triples:
                links = self._links[triple]
                links.pop()
                if not links:
                    del self._links[triple]
        for episode in snapshot[low:]:
            self._append(episode)

    def fork(self) -> EpisodeStore:
        """Return an independent copy; O(observations and links) at the speed of list copies."""
        twin = EpisodeStore()
        twin._episodes = self._episodes.copy()
        twin._links = {triple: links.copy() for triple, links in self._links.items()}
        return twin

    __copy__ = fork

    def state(self) -> dict[str, Any]:
        """Return all observations as JSON-able values; equal histories give equal JSON."""
        facts: dict[Triple, int] = {}
        episodes = [
            [e.t, e.text, e.action, [facts.setdefault(f, len(facts)) for f in e.triples]]
            for e in self._episodes
        ]
        return {"facts": [list(fact) for fact in facts], "episodes": episodes}

    def load_state(self, state: dict[str, Any]) -> None:
        """Become the store that :meth:`state` wrote; raises StoreError and then stays as it was."""
        fresh = EpisodeStore()
        try:
            facts = [typed(Triple, fact) for fact in state["facts"]]
            for t, text, action, numbers in state["episodes"]:
                for part in (text, action):
                    check_text("an episode", part)
                check_int("its step", t, -_LAST_STEP, _LAST_STEP)
                fresh.add(t, text, action, [facts[number] for number in numbers])
        except (LookupError, TypeError, ValueError) as error:
            raise StoreError(f"expected a state of an episode store, got {error!r}") from error
        self._episodes, self._links = fresh._episodes, fresh._links

    def _append(self, episode: Episode) -> None:
        self._episodes.append(episode)
        for triple in episode.triples:
            self._links.setdefault(triple, []).append(episode.id)


def weight(episode: Episode) -> float:
    """Return ``log2(N) / N`` of equation 1 for an observation of N facts; 0 for N = 1."""
    total = max(len(episode.triples), 1)
    return math.log2(total) / total
